"""Datasets of Minari: an episode for each seat, as Gymnasium's face would have given it."""

from __future__ import annotations

import numpy as np
import pytest
from support.decisions import only_dealt

import bideuchre_env
from bideuchre_env import Rules, datasets, make, records_io, selfplay
from bideuchre_env._files import only_run_in
from bideuchre_env.datasets import minari_file
from bideuchre_env.errors import OptionError, OutputError

minari = pytest.importorskip("minari")
pytest.importorskip("h5py")

ID = "bideuchre/cincinnati/rule-v0"


@pytest.fixture(autouse=True)
def root(tmp_path, monkeypatch):
    """Where Minari keeps its datasets."""
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path / "minari"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "minari"


def played(agents=("rule", "cautious"), games=4):
    """A file of games."""
    selfplay.play("cincinnati_v0", *agents, games=games, seed=2, out="games.jsonl", overwrite=True)
    return "games.jsonl"


def test_it_loads_and_its_environment_comes_back(root):
    made = datasets.export(played(), f"minari:{ID}", player="rule")
    found = minari.load_dataset(ID)
    assert (found.total_episodes, found.total_steps) == (2 * 4, made.decisions)
    env = found.recover_environment().unwrapped
    assert isinstance(env, bideuchre_env.SoloEnv)
    assert (env.episode, env.reward, env.observation) == ("game", "win", "dict")
    kwargs = found.env_spec.kwargs
    assert (kwargs["opponents"], kwargs["partner"]) == ("cautious", "rule")
    assert env.observation_space == found.observation_space
    assert env.action_space == found.action_space
    for episode in found.iterate_episodes():
        masks = episode.observations["action_mask"]
        assert masks[np.arange(len(episode.actions)), episode.actions].all()
        assert not masks[-1].any()
        assert all(map(found.observation_space.contains, steps_of(episode.observations)))
        assert episode.terminations.tolist() == [False] * (len(episode.actions) - 1) + [True]
        assert abs(episode.rewards.sum()) == 1
    assert list(minari.list_local_datasets()) == [ID]
    assert sorted(path.name for path in root.iterdir()) == ["bideuchre"]


def steps_of(observations):
    """Each step's observation."""
    for i in range(len(observations["observation"])):
        yield {name: each[i] for name, each in observations.items()}


@pytest.mark.parametrize("observation", ["dict", "flat"])
def test_an_episode_is_what_the_environment_gives(observation):
    """The seat's own actions in the solo environment, the others played by their agents."""
    options = {"opponents": "rule", "episode": "hand", "observation": observation}
    game, learner = make("cincinnati_v0"), 1
    env = game.solo(seat=learner, **options)
    raw = game.raw_env(episode="hand")
    episodes, records = [], []
    for seed in range(3):
        seen, info = env.reset(seed=seed)
        told, ended = [(seen, info["action_mask"])], False
        actions, rewards = [], []
        while not ended:
            actions.append(int(np.flatnonzero(info["action_mask"])[-1]))
            seen, reward, ended, _, info = env.step(actions[-1])
            rewards.append(reward)
            told.append((seen, info["action_mask"]))
        episodes.append((told, actions, rewards))
        records.append(replayed(raw, seed, learner, actions))
    records_io.write("hands.jsonl", records)
    chosen = {"episode": "hand", "observation": observation, "player": "learner"}
    datasets.export("hands.jsonl", f"minari:{ID}", **chosen)
    found = minari.load_dataset(ID)
    assert found.observation_space == env.observation_space
    assert found.recover_environment().unwrapped.observation == observation
    for episode, (told, actions, rewards) in zip(found, episodes, strict=True):
        assert episode.actions.tolist() == actions
        assert episode.rewards.tolist() == rewards
        kept = episode.observations
        views = kept if observation == "flat" else kept["observation"]
        masks = (episode.infos if observation == "flat" else kept)["action_mask"]
        for view, mask, (seen, legal) in zip(views, masks, told, strict=True):
            expected = seen if observation == "flat" else seen["observation"]
            np.testing.assert_array_equal(view, expected)
            np.testing.assert_array_equal(mask, legal)


def replayed(raw, seed, learner, actions):
    """The record of the same hand: these actions in one seat, the rule player's in the others."""
    rule, left = bideuchre_env.agents.make("rule", raw.rules), iter(actions)
    raw.reset(seed=seed)
    while not any(raw.terminations.values()):
        seen = raw.observe(raw.agent_selection)
        its = raw.agent_selection == f"player_{learner}"
        raw.step(next(left) if its else int(rule.act(seen["observation"], seen["action_mask"])))
    record = raw.record
    record.agents = ["learner" if seat == learner else "rule" for seat in range(4)]
    return record


def test_each_episode_ends_in_what_is_seen_of_its_own_hand():
    """Also behind games that were left right after a deal, which has no decision."""
    records = [only_dealt(1, 2), only_dealt(2), only_dealt(3, 3)]
    records_io.write("games.jsonl", records)
    datasets.export("games.jsonl", f"minari:{ID}", episode="hand")
    found = minari.load_dataset(ID)
    assert found.total_episodes == 4 * 5
    layout = make("barrie_v0").vec(1).observation_layout
    for episode in found.iterate_episodes():
        before, last = map(layout.decode, episode.observations["observation"][-2:])
        assert (last["phase"], last["dealer"]) == ("over", before["dealer"])


def test_all_seats_and_names_that_nobody_can_be_made_by():
    env = make("barrie_v0", target=9).raw_env()
    env.reset(seed=0)
    rng = np.random.default_rng(0)
    while not any(env.terminations.values()) and not any(env.truncations.values()):
        legal = env.observe(env.agent_selection)["action_mask"]
        env.step(int(rng.choice(np.flatnonzero(legal))))
    record = env.record
    record.agents = ["me", "you", "him", "her"]
    records_io.write("games.jsonl", [record])
    datasets.export("games.jsonl", "minari:four-v0", reward="points")
    found = minari.load_dataset("four-v0")
    assert found.total_episodes == 4
    assert not {"opponents", "partner"} & found.env_spec.kwargs.keys()
    assert found.recover_environment().unwrapped.rules.target == 9
    assert sum(episode.rewards.sum() for episode in found) == 0
    assert [episode.infos["seat"][0] for episode in found] == [0, 1, 2, 3]


def names_in_seats(names, **options):
    """A dataset of one hand of Barrie's game, these its players by seat."""
    env = make("barrie_v0").raw_env(episode="hand")
    env.reset(seed=0)
    while not any(env.terminations.values()):
        env.step(int(env.observe(env.agent_selection)["action_mask"].argmax()))
    record = env.record
    record.agents = names
    records_io.write("seats.jsonl", [record], overwrite=True)
    datasets.export("seats.jsonl", f"minari:{ID}", episode="hand", overwrite=True, **options)
    return minari.load_dataset(ID)


def test_opponents_that_differ_come_back():
    found = names_in_seats(["cautious", "rule", "random", "rule#2"], player="rule")
    env = found.recover_environment().unwrapped
    assert tuple(found.env_spec.kwargs["opponents"]) == ("random", "cautious")
    env.reset(seed=0)
    assert env.players == {"left": "random", "partner": "rule", "right": "cautious"}


@pytest.mark.parametrize(
    ("names", "opponents", "partner", "missing"),
    [
        (["rule", "mine", "rule", "cautious"], ("random", "cautious"), "rule", "mine"),
        (["rule", "cautious", "mine", "random"], ("cautious", "random"), "random", "mine"),
        (["rule", "cautious", "mine", "cautious"], "cautious", "random", "mine"),
        (["rule", "mine", "yours", "mine"], None, None, "mine, yours"),
    ],
)
def test_random_players_stand_in_for_those_that_nobody_can_make(names, opponents, partner, missing):
    """And the description says so."""
    found = names_in_seats(names)
    kwargs = found.env_spec.kwargs
    given = kwargs.get("opponents")
    assert (tuple(given) if isinstance(given, list) else given) == opponents
    assert kwargs.get("partner") == partner
    told = found.storage.metadata["description"]
    assert told.endswith(f". The environment has random players in place of {missing}")
    found.recover_environment().reset(seed=0)


def test_where_all_can_be_made_none_is_missing():
    assert "random" not in names_in_seats(["rule"] * 4).storage.metadata["description"]


def test_no_returns_so_no_gamma(root):
    with pytest.raises(OptionError, match=r"gamma=0.9: a Minari dataset has rewards and no ret"):
        datasets.export(played(games=2), f"minari:{ID}", gamma=0.9)
    assert not root.exists()


def test_a_game_of_ones_own_has_no_environment_to_recover():
    rules = Rules(ranks="9", copies=1, partnered=(3, 5), target=4)
    selfplay.play(make(rules, name="farm"), "rule", "random", games=2, out="games.jsonl")
    datasets.export("games.jsonl", "minari:farm-v0")
    found = minari.load_dataset("farm-v0")
    assert found.total_episodes == 8
    assert found.env_spec is None
    about = found.storage.metadata["bideuchre"]
    assert Rules(**about["rules"]) == rules
    assert (about["variant"], about["gamma"], about["forced"]) == ("farm", 1.0, True)
    assert about["layout"][-1]["stop"] == found.observation_space["observation"].shape[0]


def test_one_that_is_there_stays_unless_told(root, monkeypatch):
    datasets.export(played(), f"minari:{ID}")
    before = minari.load_dataset(ID).total_steps
    with pytest.raises(OptionError, match=f"minari:{ID} exists"):
        datasets.export(played(), f"minari:{ID}")

    def interrupted(games, decisions):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        datasets.export(played(games=2), f"minari:{ID}", overwrite=True, progress=interrupted)
    assert minari.load_dataset(ID).total_steps == before
    made = datasets.export(played(games=2), f"minari:{ID}", overwrite=True)
    assert minari.load_dataset(ID).total_steps == made.decisions < before
    games, refused = played(), pytest.raises(OptionError, match="another run is writing to")
    with only_run_in(root / ".bideuchre"), refused:
        datasets.export(games, "minari:other-v0")
    assert sorted(path.name for path in root.iterdir()) == ["bideuchre"]


def test_a_disk_without_room_is_told_before_hdf5_ends_the_program(root, monkeypatch):
    games = played()
    usage = minari_file.shutil.disk_usage
    room = minari_file.shutil._ntuple_diskusage(10**6, 10**6, 1000)
    monkeypatch.setattr(minari_file.shutil, "disk_usage", lambda folder: room)
    with pytest.raises(OutputError, match=r"minari:.* could not be written: No space left"):
        datasets.export(games, f"minari:{ID}")
    assert list(root.iterdir()) == []
    monkeypatch.setattr(minari_file.shutil, "disk_usage", usage)
    datasets.export(games, f"minari:{ID}")
    size = sum(path.stat().st_size for path in root.rglob("*.hdf5"))
    found = minari.load_dataset(ID)
    in_rows = found.total_steps * (289 + 37 + 8 + 8 + 2 + 8)
    assert size < 2 * in_rows + minari_file._MOST_OVERHEAD * found.total_episodes


@pytest.mark.parametrize("name", ["", "x", "../x-v0", "a b-v0"])
def test_ids_that_are_none(name):
    with pytest.raises(OptionError, match=r"a dataset of Minari has an ID as minari:bideuchre"):
        datasets.export(played(games=2), f"minari:{name}")


def test_a_run_that_was_killed_loses_no_dataset(root):
    """Also one that was killed between the two moves: the old one comes back with the next run."""
    games = played(games=2)
    made = datasets.export(games, f"minari:{ID}")
    staging = root / ".bideuchre"
    (staging / "made" / "other-v0").mkdir(parents=True)
    (root / ID).rename(staging / f"old-{ID.replace('/', '+')}")
    datasets.export(games, "minari:other-v0")
    assert [path.name for path in staging.iterdir()] == [f"old-{ID.replace('/', '+')}"]
    with pytest.raises(OptionError, match=f"minari:{ID} exists"):
        datasets.export(games, f"minari:{ID}")
    assert minari.load_dataset(ID).total_steps == made.decisions
