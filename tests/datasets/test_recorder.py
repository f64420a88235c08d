"""Self-play straight to disk: what a `vec` plays is what its games' records hold."""

from __future__ import annotations

import numpy as np
import pytest
from support.playthroughs import Chooser, finish

from bideuchre_env import GameRecord, datasets, make, records_io
from bideuchre_env.errors import IllegalActionError, OptionError

ROWS = 5
NAMES = ("a", "b", "a", "b")


def arrays(path):
    """Every array of an .npz file, but the metadata."""
    with np.load(path) as file:
        return {name: file[name] for name in file.files if name != "metadata"}


def choose(rng, masks):
    """Legal actions; the lowest more often than not, so that games are short."""
    lowest = masks.argmax(axis=1)
    drawn = (rng.random(masks.shape) * masks).argmax(axis=1)
    return np.where(rng.random(len(masks)) < 0.3, lowest, drawn)


def self_play(recorded, steps, seed):
    """The actions of every row of a `vec` over some steps, and where episodes ended, (T, n)."""
    rng = np.random.default_rng(seed)
    obs, info = recorded.reset(seed=seed)
    actions, ends = [], []
    for _ in range(steps):
        taken = choose(rng, info["action_mask"])
        obs, _, terminated, truncated, info = recorded.step(taken)
        actions.append(taken)
        ends.append(terminated | truncated)
        (obs if isinstance(obs, np.ndarray) else obs["observation"])[:] = 1  # the caller's to spoil
        taken = taken * 0
    return np.array(actions), np.array(ends)


def records_of(game, actions, ends, seed, **options):
    """The records of the episodes that ended, in the order they began, by the AEC environment."""
    found = []
    for row in range(actions.shape[1]):
        env = game.raw_env(**options)
        env.reset(seed=seed + row)
        began = 0
        for t, action in enumerate(actions[:, row]):
            env.step(int(action))
            if ends[t, row]:
                record = env.record
                record.agents = list(NAMES)
                found.append((began, row, record))
                began = t + 1
                env.reset()
    return [record for _, _, record in sorted(found, key=lambda each: each[:2])]


@pytest.mark.parametrize(
    ("variant", "options"),
    [
        ("cincinnati_v0", {"episode": "game", "reward": "points"}),
        ("barrie_v0", {"episode": "hand", "reward": "points"}),
        ("six_card_v0", {"episode": "game", "reward": "win", "observation": "flat"}),
    ],
)
def test_it_is_the_export_of_the_same_games_records(variant, options, tmp_path, monkeypatch):
    """Also where blocks end in the middle of episodes: one ends after every 16th step."""
    monkeypatch.setattr("bideuchre_env.datasets.recorder.DECISIONS_AT_ONCE", ROWS)
    game = make(variant, target=5, max_hands=4)  # some are won, some are cut short
    vec = game.vec(ROWS, **options)
    with datasets.VecRecorder(vec, tmp_path / "vec.npz", players=NAMES, gamma=0.9) as recorded:
        actions, ends = self_play(recorded, 330, seed=3)
    face = {"episode": options["episode"]}
    records = records_of(game, actions, ends, 3, **face)
    assert len(records) == ends.sum() > ROWS
    records_io.write(tmp_path / "games.jsonl", records)
    out = tmp_path / "records.npz"
    made = datasets.export(tmp_path / "games.jsonl", out, gamma=0.9, **options)
    assert (recorded.decisions, recorded.episodes) == (made.decisions, made.episodes)
    one, other = by_episode(arrays(tmp_path / "vec.npz")), by_episode(arrays(out))
    assert one == other


def by_episode(columns):
    """What each episode holds, whatever its number, in any order."""
    names = [name for name in columns if name not in ("players", "episode")]
    starts = np.flatnonzero(np.diff(columns["episode"])) + 1
    assert np.array_equal(np.unique(columns["episode"]), np.arange(len(starts) + 1))
    parts = (np.split(columns[name], starts) for name in names)
    return sorted(tuple(part.tobytes() for part in episode) for episode in zip(*parts, strict=True))


def test_episodes_broken_off_and_unfinished_are_left_out(tmp_path):
    vec = make("six_card_v0").vec(ROWS, episode="hand")
    recorded = datasets.VecRecorder(vec, tmp_path / "out.npz")
    self_play(recorded, 3, seed=1)
    mask = np.arange(ROWS) < 2
    obs, _ = recorded.reset(mask=mask)
    ended = np.zeros(ROWS, int)
    while not (ended > 0).all():
        obs, _, terminated, _, _ = recorded.step(obs["action_mask"].argmax(axis=1))
        ended += terminated
    recorded.close()
    recorded.close()
    found = arrays(tmp_path / "out.npz")
    assert found["episode"].max() + 1 == ended.sum() == recorded.episodes
    assert (found["decision"][np.r_[True, np.diff(found["episode"]) > 0]] == 0).all()
    assert set(np.bincount(found["episode"])) <= {4, 4 + 24, 4 + 18}  # calls, and all cards


def test_an_error_on_the_way_leaves_the_old_file(tmp_path):
    (tmp_path / "out.npz").write_text("mine")
    vec = make("six_card_v0").vec(2, episode="hand")
    with pytest.raises(OptionError, match="exists"):
        datasets.VecRecorder(vec, tmp_path / "out.npz")

    def work():
        with datasets.VecRecorder(vec, tmp_path / "out.npz", overwrite=True) as recorded:
            self_play(recorded, 100, seed=0)
            recorded.step([99, 99])

    with pytest.raises(IllegalActionError):
        work()
    assert (tmp_path / "out.npz").read_text() == "mine"
    assert [path.name for path in tmp_path.iterdir()] == ["out.npz"]


def test_an_illegal_action_is_not_recorded(tmp_path):
    vec = make("six_card_v0").vec(2, episode="hand")
    with datasets.VecRecorder(vec, tmp_path / "out.npz") as recorded:
        with pytest.raises(IllegalActionError):
            recorded.step([0, 0])
        obs, _ = recorded.reset(seed=0)
        while recorded.vec is vec:
            with pytest.raises(IllegalActionError):
                recorded.step([99, 99])
            obs, _, ended, _, _ = recorded.step(obs["action_mask"].argmax(axis=1))
            if ended.any():
                break
    found = arrays(tmp_path / "out.npz")
    assert found["action_mask"][np.arange(len(found["action"])), found["action"]].all()


def test_what_it_refuses(tmp_path):
    vec = make("six_card_v0").vec(2)
    for options, said in (
        ({"players": "abcd"}, "four names, by seat, or None"),
        ({"players": ("a", "b")}, "four names, by seat, or None"),
        ({"gamma": -1}, "gamma=-1: from 0 to 1"),
        ({"speed": 1}, "unexpected keyword argument 'speed' of a recorder"),
        ({"episode": "hand"}, "episode='hand': it is what the vec was made with"),
    ):
        with pytest.raises(OptionError, match=said):
            datasets.VecRecorder(vec, tmp_path / "out.npz", **options)
    with pytest.raises(OptionError, match="made of game records: bideuchre export"):
        datasets.VecRecorder(vec, "minari:bideuchre/x-v0")
    with pytest.raises(OptionError, match=r"env=.*: the many tables of a vec"):
        datasets.VecRecorder(make("six_card_v0").raw_env(), tmp_path / "out.npz")
    assert list(tmp_path.iterdir()) == []


def test_nothing_finished_is_an_empty_dataset(tmp_path):
    vec = make("six_card_v0").vec(2)
    with datasets.VecRecorder(vec, tmp_path / "out.npz") as recorded:
        self_play(recorded, 3, seed=0)
    found = arrays(tmp_path / "out.npz")
    assert found["observation"].shape == (0, vec.observation_layout.size)


def test_a_record_reads_back_alike(tmp_path):
    """What `export` needs of a record is the hands as they were dealt."""
    env = make("club_v0").raw_env()
    env.reset(seed=2, options={"score": (10, 3)})
    finish(env, Chooser(2))
    record, hands = GameRecord.loads_played(env.record.dumps())
    assert record == env.record
    assert [len(hand.actions) for hand in hands] == [len(hand["actions"]) for hand in record.hands]
