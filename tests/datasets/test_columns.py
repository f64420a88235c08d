"""What is in a dataset: the decisions of games as the AEC environment tells them, one by one."""

from __future__ import annotations

import numpy as np
import pytest
from support.decisions import columns_by_hand, only_dealt, written_down
from support.playthroughs import VARIANTS

from bideuchre_env import datasets, make, records_io
from bideuchre_env.core.observation.layout import layout_of
from bideuchre_env.datasets.columns import DatasetOptions, Steps, columns_of
from bideuchre_env.errors import OptionError, RecordError
from bideuchre_env.rules.variants import RULES

NAMES = ["a", "b", "c", "b"]


def played(tmp_path, variant="cincinnati_v0", games=2, episode="game", reward="win", **options):
    """A file of records, and the episodes of its games written down by hand."""
    episodes, records = [], []
    for seed in range(games):
        told, record = written_down(variant, seed, episode=episode, reward=reward, **options)
        record.agents = NAMES
        episodes += told
        records.append(record)
    path = tmp_path / "games.jsonl"
    records_io.write(path, records, overwrite=True)
    return path, episodes


def arrays(path):
    """Every array of an .npz file."""
    with np.load(path) as file:
        return {name: file[name] for name in file.files}


def assert_same_columns(found, expected):
    for name, values in expected.items():
        assert found[name].shape == values.shape, name
        np.testing.assert_allclose(
            found[name].astype(float), values.astype(float), rtol=1e-6, atol=1e-7, err_msg=name
        )


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize(("episode", "reward"), [("game", "win"), ("hand", "points")])
def test_the_columns_are_the_games_written_down_by_hand(variant, episode, reward, tmp_path):
    path, episodes = played(tmp_path, variant, 1, episode, reward)
    out = tmp_path / "out.npz"
    made = datasets.export(path, out, episode=episode, reward=reward, gamma=0.9)
    found, expected = arrays(out), columns_by_hand(episodes, 0.9)
    assert_same_columns(found, expected)
    assert made == (len(expected["action"]), len(episodes), 1, 0)
    assert [NAMES[seat] for seat in found["seat"]] == found["players"][found["player"]].tolist()


@pytest.mark.parametrize(("episode", "reward"), [("game", "points"), ("hand", "win")])
def test_the_other_ways_to_pay(episode, reward, tmp_path):
    path, episodes = played(tmp_path, "barrie_v0", 2, episode, reward)
    datasets.export([path], tmp_path / "out.npz", episode=episode, reward=reward)
    found = arrays(tmp_path / "out.npz")
    assert_same_columns(found, columns_by_hand(episodes, 1.0))
    assert (np.abs(found["return"]) > 1).any() == (reward == "points")


def test_a_game_that_is_cut_short_is_truncated(tmp_path):
    path, episodes = played(tmp_path, max_hands=2)
    datasets.export(path, tmp_path / "out.npz")
    found = arrays(tmp_path / "out.npz")
    assert_same_columns(found, columns_by_hand(episodes, 1.0))
    assert found["truncated"].sum() == 8
    assert not found["terminated"].any()


def test_what_forced_moves_pay_goes_to_earlier_decisions(tmp_path):
    """A seat's rewards are as many with and without its forced moves."""
    path, episodes = played(tmp_path, "barrie_v0", 2, "hand", "points")
    for decisions in episodes:
        held = {}
        for row in decisions:
            if not row["forced"]:
                held[row["seat"]] = row
            elif row["seat"] in held:
                held[row["seat"]]["reward"] += row["reward"]
                held[row["seat"]]["terminated"] |= row["terminated"]
    free = [[row for row in decisions if not row["forced"]] for decisions in episodes]
    datasets.export(path, tmp_path / "out.npz", episode="hand", forced=False, gamma=0.5)
    found = arrays(tmp_path / "out.npz")
    assert_same_columns(found, columns_by_hand(free, 0.5))
    assert not found["forced"].any()


def test_flat_observations_are_scaled_as_the_environments_are(tmp_path):
    path, episodes = played(tmp_path, "barrie_v0", 1)
    datasets.export(path, tmp_path / "out.npz", observation="flat")
    found, expected = arrays(tmp_path / "out.npz"), columns_by_hand(episodes, 1.0)
    expected["observation"] = layout_of(RULES["barrie_v0"]).scaled(expected["observation"])
    assert found["observation"].dtype == np.float32
    assert_same_columns(found, expected)


def test_one_player_alone(tmp_path):
    path, episodes = played(tmp_path)
    rows = columns_by_hand(episodes, 1.0)
    datasets.export(path, tmp_path / "out.npz", player="b")
    found = arrays(tmp_path / "out.npz")
    assert_same_columns(found, {name: each[rows["seat"] % 2 == 1] for name, each in rows.items()})
    with pytest.raises(OptionError, match=r"player='d': the players are a, b, c$"):
        datasets.export(path, tmp_path / "none.npz", player="d")
    assert not (tmp_path / "none.npz").exists()


@pytest.mark.parametrize("out", ["out.npz", "out.parquet", "minari:a-v0"])
def test_a_player_of_unfinished_games_alone(out, tmp_path, monkeypatch):
    """No decision of it can be written: nothing is, and an old dataset stays."""
    library = {"z": "numpy", "t": "pyarrow", "0": "minari"}[out[-1]]
    pytest.importorskip(library)
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path / "minari"))
    monkeypatch.chdir(tmp_path)
    path, episodes = played(tmp_path, "barrie_v0", 1)
    left = only_dealt(1)
    left.agents = ["x"] * 4
    records_io.write("more.jsonl", [left])
    made = datasets.export(path, out)
    held = {each: each.read_bytes() for each in tmp_path.rglob("*") if each.is_file()}
    said = r"player='x', forced=True: no such decision in 1 episodes that have ended"
    with pytest.raises(OptionError, match=said):
        datasets.export([path, "more.jsonl"], out, player="x", overwrite=True)
    assert made.decisions == len(episodes[0])
    assert held == {each: each.read_bytes() for each in tmp_path.rglob("*") if each.is_file()}


@pytest.mark.parametrize("given", [5, None, b"games.jsonl", [5]])
def test_what_is_no_path(given, tmp_path):
    with pytest.raises(OptionError, match="expected a path"):
        datasets.export(given, tmp_path / "out.npz")
    if given != [5]:
        with pytest.raises(OptionError, match="expected a path"):
            datasets.export("games.jsonl", given)


def test_records_of_nobody(tmp_path):
    _, record = written_down("six_card_v0", 5, episode="game", reward="win")
    records_io.write(tmp_path / "games.jsonl", [record])
    datasets.export(tmp_path / "games.jsonl", tmp_path / "out.npz")
    found = arrays(tmp_path / "out.npz")
    assert (found["player"] == -1).all()
    assert found["players"].shape == (0,)
    with pytest.raises(OptionError, match="player='b': no player has a name"):
        datasets.export(tmp_path / "games.jsonl", tmp_path / "none.npz", player="b")


def test_a_planted_reward_reaches_its_own_seats_earlier_decisions():
    """Seats 0 1 2 3 0 1 2 3, twice; the pay of each step goes to each seat's last decision."""
    layout, n = layout_of(RULES["cincinnati_v0"]), 16
    rng = np.random.default_rng(3)
    rewards = rng.integers(-9, 9, (n, 4)).astype(np.float32)
    ends = np.arange(n) % 8 == 7
    steps = Steps(
        observations=np.zeros((n, layout.size), np.int8),
        masks=np.ones((n, 37), np.int8),
        actions=np.zeros(n, np.int64),
        seats=np.arange(n, dtype=np.int8) % 4,
        players=np.full(n, -1, np.int32),
        rewards=rewards,
        terminated=ends,
        truncated=np.zeros(n, bool),
    )
    found = columns_of(steps, layout, 7, 0.5, True)
    for i in range(n):
        stop = i + 4 if i % 8 < 4 else (i // 8 + 1) * 8
        assert found["reward"][i] == rewards[i:stop, i % 4].sum()
        later = found["return"][i + 4] if i % 8 < 4 else 0
        assert found["return"][i] == found["reward"][i] + 0.5 * later
    assert found["terminated"].tolist() == ([False] * 4 + [True] * 4) * 2
    assert found["episode"].tolist() == [7] * 8 + [8] * 8
    assert found["decision"].tolist() == [*range(8)] * 2


def test_unfinished_games_are_left_out_and_counted(tmp_path):
    path, episodes = played(tmp_path)
    env = make("cincinnati_v0").raw_env()
    env.reset(seed=1)
    for _ in range(3):
        env.step(int(np.flatnonzero(env.observe(env.agent_selection)["action_mask"])[0]))
    records_io.write(tmp_path / "more.jsonl", [env.record])
    whole = datasets.export([path, tmp_path / "more.jsonl", path], tmp_path / "out.npz")
    assert whole == (2 * sum(map(len, episodes)), 4, 5, 3)
    with pytest.raises(OptionError, match=r"none of the 1 games is finished: episode='hand'"):
        datasets.export(tmp_path / "more.jsonl", tmp_path / "none.npz")
    with pytest.raises(OptionError, match=r"none of the 1 games is finished$"):
        datasets.export(tmp_path / "more.jsonl", tmp_path / "none.npz", episode="hand")
    assert not (tmp_path / "none.npz").exists()


def test_a_hand_that_is_only_dealt_has_no_end(tmp_path):
    """Whether others come before it or behind; alone, it is no finished episode."""
    path, records = tmp_path / "games.jsonl", [only_dealt(1, 2), only_dealt(2), only_dealt(3, 3)]
    for order in (records, records[1:] + records[:1]):
        records_io.write(path, order, overwrite=True)
        datasets.export(path, tmp_path / "out.npz", episode="hand", overwrite=True)
        found = arrays(tmp_path / "out.npz")
        actions = [hand["actions"] for record in order for hand in record.hands]
        assert np.bincount(found["episode"]).tolist() == [len(each) for each in actions if each]
        assert found["terminated"].sum() == 4 * 5
    records_io.write(path, records[1:2], overwrite=True)
    for episode in ("hand", "game"):
        with pytest.raises(OptionError, match=r"none of the 1 games is finished"):
            datasets.export(path, tmp_path / "none.npz", episode=episode)


def test_games_of_two_kinds_are_refused(tmp_path):
    path, _ = played(tmp_path)
    for other, said in (
        ({"variant": "barrie_v0"}, "barrie_v0 among games of cincinnati_v0"),
        ({"target": 40}, "cincinnati_v0 with other options among games of cincinnati_v0"),
    ):
        _, record = written_down(
            **{"variant": "cincinnati_v0", "seed": 1, "episode": "game", "reward": "win", **other}
        )
        records_io.write(tmp_path / "other.jsonl", [record], overwrite=True)
        with pytest.raises(RecordError, match=rf"other.jsonl, game 1: {said}: a dataset is of one"):
            datasets.export([path, tmp_path / "other.jsonl"], tmp_path / "none.npz")
        assert not (tmp_path / "none.npz").exists()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"gamma": 1.5}, "gamma=1.5: from 0 to 1"),
        ({"gamma": "1"}, "gamma='1': from 0 to 1"),
        ({"episode": "trick"}, "episode='trick': one of 'game', 'hand'"),
        ({"reward": "money"}, "reward='money': one of 'win', 'points'"),
        ({"forced": 1}, "forced=1: True or False"),
        ({"player": 3}, "player=3: the name of a player, or None"),
        ({"seats": 3}, "unexpected keyword argument 'seats' of export"),
    ],
)
def test_bad_options(options, said, tmp_path):
    with pytest.raises(OptionError, match=said):
        datasets.export("games.jsonl", tmp_path / "out.npz", **options)


def test_options_are_checked_without_a_kernel(monkeypatch):
    """`bideuchre export` with a bad one answers at once."""
    monkeypatch.setattr("bideuchre_env.learning.returns.return_rows", None)
    assert DatasetOptions(gamma=0.5).gamma == 0.5
    with pytest.raises(OptionError, match="gamma=2: from 0 to 1"):
        DatasetOptions(gamma=2)


def test_no_files_and_no_games(tmp_path):
    with pytest.raises(OptionError, match="no files of game records are given"):
        datasets.export([], tmp_path / "out.npz")
    (tmp_path / "empty.jsonl").write_text("")
    with pytest.raises(OptionError, match=r"no game record in .*empty.jsonl"):
        datasets.export(tmp_path / "empty.jsonl", tmp_path / "out.npz")
