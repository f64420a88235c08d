"""The columns of a dataset agree with the decisions of AEC games."""

from typing import Any

import numpy as np
import pytest
from support.playthroughs import QUICK, VARIANTS, Chooser, over, slow_unless, start

from bideuchre_env import datasets, make, records_io
from bideuchre_env.core.observation.layout import layout_of
from bideuchre_env.envs.aec.bookkeeping import AGENT_NAMES
from bideuchre_env.errors import OptionError, RecordError
from bideuchre_env.learning.encoder import encoder_of
from bideuchre_env.rules.variants import RULES

NAMES = ["a", "b", "c", "b"]


def game_decisions(variant, seed, *, episode, reward, **options):
    """Play a game by `Chooser(seed)`; return its decisions, dicts, by episode, and its record."""
    env = start(variant, seed, reward=reward, **options)
    choose, episodes, hand = Chooser(seed), [], 0
    decisions: list[dict[str, Any]] = []
    last: dict[str, dict[str, Any]] = {}
    while not over(env):
        agent = env.agent_selection
        seen = env.observe(agent)
        action = choose(env)
        dealt = int(env.get_state()["hands_dealt"][0])
        env.step(action)
        mask = seen["action_mask"].astype(bool)
        row = {"observation": seen["observation"], "action_mask": mask, "action": action}
        row |= {"reward": 0.0, "terminated": False, "truncated": False}
        row |= {"seat": AGENT_NAMES.index(agent), "forced": int(mask.sum()) == 1}
        last[agent] = row | {"hand": hand, "decision": len(decisions)}
        decisions.append(last[agent])
        for each in last:
            last[each]["reward"] += env.rewards[each]
        ended = over(env)
        if ended or int(env.get_state()["hands_dealt"][0]) != dealt:
            hand += 1
            if ended or episode == "hand":
                for each in last:
                    cut = env.truncations[each] and episode == "game"
                    last[each]["truncated" if cut else "terminated"] = True
                episodes.append(decisions)
                decisions, last = [], {}
                hand = hand if episode == "game" else 0
    return episodes, env.record


def columns_by_hand(episodes: list[list[dict[str, Any]]], gamma: float) -> dict[str, Any]:
    """The columns of a dataset of these decisions, except names; returns are discounted by seat."""
    rows = []
    for number, decisions in enumerate(episodes):
        returns = [0.0] * 4
        for row in reversed(decisions):
            returns[row["seat"]] = row["reward"] + gamma * returns[row["seat"]]
            row["return"], row["episode"] = returns[row["seat"]], number
        rows += decisions
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}


def only_dealt(seed: int, hands: int = 0) -> Any:
    """The record of a Barrie game that stops right after the deal that follows `hands` hands."""
    env = make("barrie_v0").raw_env()
    env.reset(seed=seed)
    while len(env.record.hands) <= hands:
        legal = env.observe(env.agent_selection)["action_mask"]
        env.step(int(np.flatnonzero(legal)[0]))
    assert env.record.hands[-1]["actions"] == []
    return env.record


def recorded(tmp_path, variant="cincinnati_v0", games=2, episode="game", reward="win", **options):
    """Write a file of records; return its path, and the decisions of its games by episode."""
    episodes, records = [], []
    for seed in range(games):
        decisions, record = game_decisions(variant, seed, episode=episode, reward=reward, **options)
        record.agents = NAMES
        episodes += decisions
        records.append(record)
    path = tmp_path / "games.jsonl"
    records_io.write(path, records, overwrite=True)
    return path, episodes


def arrays(path):
    with np.load(path) as file:
        return {name: file[name] for name in file.files}


def assert_same_columns(columns, expected):
    for name, values in expected.items():
        assert columns[name].shape == values.shape, name
        np.testing.assert_allclose(
            columns[name].astype(float), values.astype(float), rtol=1e-6, atol=1e-7, err_msg=name
        )


EXPORTS = slow_unless(
    [(name, "game", "win") for name in QUICK], [(name, "game", "win") for name in VARIANTS]
)
EXPORTS += [("barrie_v0", "game", "points"), ("club_v0", "hand", "points")]
EXPORTS += [("cincinnati_v0", "hand", "win")]


@pytest.mark.parametrize(("variant", "episode", "reward"), EXPORTS)
def test_the_columns_are_the_decisions_of_the_games(variant, episode, reward, tmp_path):
    path, episodes = recorded(tmp_path, variant, 1, episode, reward)
    out = tmp_path / "out.npz"
    made = datasets.export(path, out, episode=episode, reward=reward, gamma=0.9)
    columns, expected = arrays(out), columns_by_hand(episodes, 0.9)
    assert_same_columns(columns, expected)
    assert made == (len(expected["action"]), len(episodes), 1, 0)
    names = columns["players"][columns["player"]].tolist()
    assert [NAMES[seat] for seat in columns["seat"]] == names


@pytest.mark.parametrize("form", ["flat", "features"])
def test_observations_of_an_unfinished_game_have_the_chosen_form(tmp_path, form):
    path, episodes = recorded(tmp_path, max_hands=2)
    datasets.export(path, tmp_path / "out.npz", observation=form)
    columns, expected = arrays(tmp_path / "out.npz"), columns_by_hand(episodes, 1.0)
    rules = RULES["cincinnati_v0"].replace(max_hands=2)
    if form == "flat":
        expected["observation"] = layout_of(rules).scaled(expected["observation"])
    else:
        masks = np.array(expected["action_mask"], np.int8)
        encoded = encoder_of(rules).encode(np.array(expected["observation"]), masks)
        expected["observation"], expected["action_mask"] = encoded.inputs, encoded.legal == 1
        expected["action"] = encoder_of(rules).renamed(expected["action"], encoded.symmetries)
    assert columns["observation"].dtype == np.float32
    assert_same_columns(columns, expected)
    assert columns["truncated"].sum() == 8
    assert not columns["terminated"].any()


def test_rewards_of_forced_moves_go_to_earlier_decisions(tmp_path):
    path, episodes = recorded(tmp_path, "barrie_v0", 2, "hand", "points")
    for decisions in episodes:
        last = {}
        for row in decisions:
            if not row["forced"]:
                last[row["seat"]] = row
            elif row["seat"] in last:
                last[row["seat"]]["reward"] += row["reward"]
                last[row["seat"]]["terminated"] |= row["terminated"]
    free = [[row for row in decisions if not row["forced"]] for decisions in episodes]
    options = {"episode": "hand", "reward": "points", "forced": False, "gamma": 0.5}
    datasets.export(path, tmp_path / "out.npz", **options)
    columns = arrays(tmp_path / "out.npz")
    assert_same_columns(columns, columns_by_hand(free, 0.5))
    assert not columns["forced"].any()


def test_the_decisions_of_one_player(tmp_path):
    path, episodes = recorded(tmp_path)
    rows = columns_by_hand(episodes, 1.0)
    datasets.export(path, tmp_path / "out.npz", player="b")
    expected = {name: each[rows["seat"] % 2 == 1] for name, each in rows.items()}
    assert_same_columns(arrays(tmp_path / "out.npz"), expected)
    with pytest.raises(OptionError, match=r"player='d': the players are a, b, c$"):
        datasets.export(path, tmp_path / "none.npz", player="d")
    assert not (tmp_path / "none.npz").exists()


def test_records_without_agents_have_no_players(tmp_path):
    _, record = game_decisions("six_card_v0", 5, episode="game", reward="win")
    records_io.write(tmp_path / "games.jsonl", [record])
    datasets.export(tmp_path / "games.jsonl", tmp_path / "out.npz")
    columns = arrays(tmp_path / "out.npz")
    assert (columns["player"] == -1).all()
    assert columns["players"].shape == (0,)
    with pytest.raises(OptionError, match="player='b': no player has a name"):
        datasets.export(tmp_path / "games.jsonl", tmp_path / "none.npz", player="b")


def test_unfinished_games_are_left_out_and_counted(tmp_path):
    path, episodes = recorded(tmp_path)
    env = start("cincinnati_v0", 1)
    for _ in range(3):
        env.step(int(env.observe(env.agent_selection)["action_mask"].argmax()))
    records_io.write(tmp_path / "more.jsonl", [env.record])
    made = datasets.export([path, tmp_path / "more.jsonl", path], tmp_path / "out.npz")
    assert made == (2 * sum(map(len, episodes)), 4, 5, 3)
    with pytest.raises(OptionError, match="all 1 are unfinished: episode='hand'"):
        datasets.export(tmp_path / "more.jsonl", tmp_path / "none.npz")
    assert not (tmp_path / "none.npz").exists()


def test_a_hand_without_a_call_is_no_episode(tmp_path):
    path, records = tmp_path / "games.jsonl", [only_dealt(1, 2), only_dealt(2), only_dealt(3, 3)]
    for order in (records, records[1:] + records[:1]):
        records_io.write(path, order, overwrite=True)
        datasets.export(path, tmp_path / "out.npz", episode="hand", overwrite=True)
        columns = arrays(tmp_path / "out.npz")
        actions = [hand["actions"] for record in order for hand in record.hands]
        assert np.bincount(columns["episode"]).tolist() == [len(each) for each in actions if each]
        assert columns["terminated"].sum() == 4 * 5


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ({"variant": "barrie_v0"}, "barrie_v0 among games of cincinnati_v0"),
        ({"target": 40}, "cincinnati_v0 with other options among games of cincinnati_v0"),
    ],
)
def test_games_of_two_kinds_are_refused(other, message, tmp_path):
    path, _ = recorded(tmp_path, games=1)
    game = {"variant": "cincinnati_v0", "seed": 1, "episode": "game", "reward": "win"}
    records_io.write(tmp_path / "other.jsonl", [game_decisions(**game | other)[1]])
    with pytest.raises(RecordError, match=rf"other.jsonl, game 1: {message}: expected one variant"):
        datasets.export([path, tmp_path / "other.jsonl"], tmp_path / "none.npz")
    assert not (tmp_path / "none.npz").exists()


BAD_OPTIONS = [({"gamma": 1.5}, "gamma=1.5: expected a number from 0 to 1")]
BAD_OPTIONS += [({"episode": "trick"}, "episode='trick': expected one of 'game', 'hand'")]
BAD_OPTIONS += [({"reward": "money"}, "reward='money': expected one of 'win', 'points'")]
BAD_OPTIONS += [({"forced": 1}, "forced=1: expected True or False")]
BAD_OPTIONS += [({"player": 3}, "player=3: expected the name of a player, or None")]
BAD_OPTIONS += [({"seats": 3}, "unexpected keyword argument 'seats' of export")]
BAD_OPTIONS += [({"source": []}, "expected one or more files of game records")]
BAD_OPTIONS += [({"source": 5}, "expected a path"), ({"out": None}, "expected a path")]


@pytest.mark.parametrize(("options", "message"), BAD_OPTIONS)
def test_a_bad_option_is_refused_by_name(options, message, tmp_path):
    arguments = {"source": "games.jsonl", "out": tmp_path / "out.npz"} | options
    with pytest.raises(OptionError, match=message):
        datasets.export(arguments.pop("source"), arguments.pop("out"), **arguments)
    assert list(tmp_path.iterdir()) == []
