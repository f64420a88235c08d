"""Minari datasets: an episode for each seat, equal to that of the single-agent environment."""

import numpy as np
import pytest
from support.commands import run as cli
from support.playthroughs import Chooser, finish, start

import bideuchre_env
from bideuchre_env import Rules, datasets, make, match, records_io
from bideuchre_env.errors import OptionError

minari = pytest.importorskip("minari")
pytest.importorskip("h5py")

ID = "bideuchre/cincinnati/rule-v0"


@pytest.fixture(autouse=True)
def root(tmp_path, monkeypatch):
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path / "minari"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "minari"


def played(agents=("rule", "cautious"), games=4):
    """Record games of two agents; return the name of the file."""
    match("cincinnati_v0", *agents, games=games, seed=2, records="games.jsonl", overwrite=True)
    return "games.jsonl"


def test_a_dataset_is_loaded_and_its_environment_recovered():
    made = datasets.export(played(), f"minari:{ID}", player="rule")
    dataset = minari.load_dataset(ID)
    assert (dataset.total_episodes, dataset.total_steps) == (2 * 4, made.decisions)
    assert made.episodes == dataset.total_episodes
    env = dataset.recover_environment().unwrapped
    assert isinstance(env, bideuchre_env.SoloEnv)
    assert (env.episode, env.reward, env.observation) == ("game", "win", "dict")
    kwargs = dataset.env_spec.kwargs
    assert (kwargs["opponents"], kwargs["partner"]) == ("cautious", "rule")
    assert env.action_space == dataset.action_space
    for episode in dataset.iterate_episodes():
        assert episode.terminations.tolist() == [False] * (len(episode.actions) - 1) + [True]
        assert abs(episode.rewards.sum()) == 1
    assert list(minari.list_local_datasets()) == [ID]


@pytest.mark.parametrize("observation", ["dict", "flat", "features"])
def test_an_episode_equals_that_of_the_solo_environment(observation):
    options = {"opponents": "rule", "episode": "hand", "observation": observation}
    game, learner = make("cincinnati_v0"), 1
    env = game.solo(seat=learner, **options)
    raw = game.raw_env(episode="hand")
    episodes, records = [], []
    for seed in range(3):
        seen, info = env.reset(seed=seed)
        views, ended = [(seen, info["action_mask"])], False
        actions, numbers, rewards = [], [], []
        while not ended:
            actions.append(int(np.flatnonzero(info["action_mask"])[-1]))
            symmetry = np.array([info.get("symmetry", 0)])  # 0 renames no suit
            numbers += env.features.actions(np.array(actions[-1:]), symmetry).tolist()
            seen, reward, ended, _, info = env.step(actions[-1])
            rewards.append(reward)
            views.append((seen, info["action_mask"]))
        episodes.append((views, actions, rewards))
        records.append(replayed(raw, seed, learner, numbers))
    records_io.write("hands.jsonl", records)
    chosen = {"episode": "hand", "observation": observation, "player": "learner"}
    datasets.export("hands.jsonl", f"minari:{ID}", **chosen)
    dataset, flat = minari.load_dataset(ID), observation != "dict"
    assert dataset.observation_space == env.observation_space
    assert dataset.recover_environment().unwrapped.observation == observation
    for episode, (views, actions, rewards) in zip(dataset, episodes, strict=True):
        assert episode.actions.tolist() == actions
        assert episode.rewards.tolist() == rewards
        steps = episode.observations if flat else episode.observations["observation"]
        masks = (episode.infos if flat else episode.observations)["action_mask"]
        for step, mask, (view, legal) in zip(steps, masks, views, strict=True):
            np.testing.assert_array_equal(step, view if flat else view["observation"])
            np.testing.assert_array_equal(mask, legal)


def replayed(raw, seed, learner, actions):
    """Play an episode: seat `learner` takes `actions`, others play as `rule`; return its record."""
    rule, left = bideuchre_env.agents.make("rule", raw.rules), iter(actions)
    raw.reset(seed=seed)
    while not any(raw.terminations.values()):
        seen = raw.observe(raw.agent_selection)
        its = raw.agent_selection == f"player_{learner}"
        raw.step(next(left) if its else int(rule.act(seen["observation"], seen["action_mask"])))
    record = raw.record
    record.agents = ["learner" if seat == learner else "rule" for seat in range(4)]
    return record


@pytest.mark.parametrize(
    ("names", "opponents", "partner", "missing"),
    [
        (["rule", "random", "rule#2", "cautious"], ("random", "cautious"), "rule", None),
        (["rule", "mine", "rule", "cautious"], ("random", "cautious"), "rule", "mine"),
        (["rule", "mine", "yours", "mine"], None, None, "mine, yours"),
    ],
)
def test_random_players_stand_in_for_agents_that_cannot_be_made(names, opponents, partner, missing):
    record = finish(start("barrie_v0", 0, episode="hand"), Chooser(0)).record
    record.agents = names
    records_io.write("seats.jsonl", [record])
    datasets.export("seats.jsonl", f"minari:{ID}", episode="hand", player="rule")
    dataset = minari.load_dataset(ID)
    kwargs = dataset.env_spec.kwargs
    players = kwargs.get("opponents")
    assert (tuple(players) if isinstance(players, list) else players) == opponents
    assert kwargs.get("partner") == partner
    stated = f". The environment has random players in place of {missing}"
    assert dataset.storage.metadata["description"].endswith(stated) == (missing is not None)
    dataset.recover_environment().reset(seed=0)
    seats = [seat for seat, name in enumerate(names) if name == "rule"]
    assert [episode.infos["seat"][0] for episode in dataset] == seats


def test_a_dataset_of_custom_rules_has_no_environment_to_recover(capsys):
    rules = Rules(ranks="9", copies=1, partnered=(3, 5), target=4)
    match(make(rules, name="farm"), "rule", "random", games=2, records="games.jsonl")
    made = datasets.export("games.jsonl", "minari:farm-v0")
    dataset = minari.load_dataset("farm-v0")
    assert dataset.total_episodes == made.episodes == 8
    assert cli("export", "games.jsonl", "minari:farm-v0", "--force") == 0
    assert " in 8 episodes, one for each seat, of 2 games" in capsys.readouterr().out
    assert dataset.env_spec is None
    about = dataset.storage.metadata["bideuchre"]
    assert Rules(**about["rules"]) == rules
    assert (about["variant"], about["gamma"], about["forced"]) == ("farm", 1.0, True)
    assert about["layout"][-1]["stop"] == dataset.observation_space["observation"].shape[0]


def test_a_dataset_is_replaced_with_overwrite_alone(root):
    datasets.export(played(), f"minari:{ID}")
    before = minari.load_dataset(ID).total_steps
    with pytest.raises(OptionError, match=f"minari:{ID} exists"):
        datasets.export(played(), f"minari:{ID}")

    def interrupted(games, decisions):
        raise KeyboardInterrupt

    games = played(games=2)
    with pytest.raises(KeyboardInterrupt):
        datasets.export(games, f"minari:{ID}", overwrite=True, progress=interrupted)
    assert minari.load_dataset(ID).total_steps == before
    made = datasets.export(games, f"minari:{ID}", overwrite=True)
    assert minari.load_dataset(ID).total_steps == made.decisions < before
    assert sorted(path.name for path in root.iterdir()) == ["bideuchre"]


BAD = [({"gamma": 0.9}, ID, r"gamma=0.9: expected 1.0"), ({}, "x", "expected an ID as")]
BAD += [({}, "../x-v0", "expected an ID as")]


@pytest.mark.parametrize(("options", "name", "message"), BAD)
def test_a_bad_id_and_gamma_are_refused(options, name, message, root):
    with pytest.raises(OptionError, match=message):
        datasets.export(played(games=2), f"minari:{name}", **options)
    assert not root.exists()


def test_a_run_killed_between_two_moves_loses_no_dataset(root):
    games = played(games=2)
    made = datasets.export(games, f"minari:{ID}")
    staging = root / ".bideuchre"
    (staging / "made" / "other-v0").mkdir(parents=True)
    (root / ID).rename(staging / f"old-{ID.replace('/', '+')}")
    datasets.export(games, "minari:other-v0")
    with pytest.raises(OptionError, match=f"minari:{ID} exists"):
        datasets.export(games, f"minari:{ID}")
    assert minari.load_dataset(ID).total_steps == made.decisions
