"""Self-play straight to disk: what a `vec` plays is what its games' records hold."""

from __future__ import annotations

import os
import signal
from contextlib import nullcontext

import numpy as np
import pytest

from bideuchre_env import datasets, make, records_io
from bideuchre_env.datasets.files import NpzFile
from bideuchre_env.errors import IllegalActionError, OptionError, OutputError

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
        actions.append(taken.copy())
        obs, _, terminated, truncated, info = recorded.step(taken)
        ends.append(terminated | truncated)
        (obs if isinstance(obs, np.ndarray) else obs["observation"])[:] = 1  # the caller's to spoil
        taken[:] = 0
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
    """Also where blocks end in the middle of episodes: some are of a single step."""
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


@pytest.mark.parametrize(
    "selects", [lambda rows: {"mask": rows}, lambda rows: {"options": {"reset_mask": rows}}]
)
def test_episodes_broken_off_and_unfinished_are_left_out(selects, tmp_path):
    vec = make("six_card_v0").vec(ROWS, episode="hand")
    recorded = datasets.VecRecorder(vec, tmp_path / "out.npz")
    self_play(recorded, 3, seed=1)
    mask = np.arange(ROWS) < 2
    obs, _ = recorded.reset(**selects(mask))
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


@pytest.mark.parametrize("error", [KeyboardInterrupt, ZeroDivisionError])
@pytest.mark.parametrize("kind", ["npz", "parquet"])
def test_what_has_ended_is_kept_when_the_loop_breaks_off(error, kind, tmp_path):
    """Ctrl-C for one; it is what an end at the same step would have written."""
    pytest.importorskip({"npz": "numpy", "parquet": "pyarrow"}[kind])
    for name in ("whole", "broken"):
        vec = make("six_card_v0").vec(3, episode="hand")
        breaks = pytest.raises(error) if name == "broken" else nullcontext()
        with breaks, datasets.VecRecorder(vec, tmp_path / f"{name}.{kind}") as recorded:
            _, ends = self_play(recorded, 70, seed=0)
            if name == "broken":
                raise error
        assert recorded.episodes == ends.sum() > 3
    whole, broken = ((tmp_path / f"{name}.{kind}").read_bytes() for name in ("whole", "broken"))
    assert whole == broken


@pytest.fixture
def interruptible():
    """Ctrl-C as Python takes it, also where a shell began the tests in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.skipif(os.name == "nt", reason="no such signals here")
@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_waits_until_a_block_is_whole(tmp_path, monkeypatch):
    """And what is in the block is in the file."""
    monkeypatch.setattr("bideuchre_env.datasets.recorder.DECISIONS_AT_ONCE", 1)
    write, vec = NpzFile.write, make("six_card_v0").vec(1, episode="hand")

    def interrupted(self, columns, finals=None):
        os.kill(os.getpid(), signal.SIGINT)
        write(self, columns, finals)

    monkeypatch.setattr(NpzFile, "write", interrupted)
    with (
        pytest.raises(KeyboardInterrupt),
        datasets.VecRecorder(vec, tmp_path / "out.npz") as recorded,
    ):
        self_play(recorded, 100, seed=0)
    found = arrays(tmp_path / "out.npz")
    assert recorded.episodes == 1
    assert recorded.decisions == len(found["action"]) == found["decision"][-1] + 1
    assert found["terminated"].sum() == 4


def test_where_nothing_has_ended_the_old_file_stays(tmp_path):
    (tmp_path / "out.npz").write_text("mine")
    vec = make("six_card_v0").vec(2)
    with pytest.raises(OptionError, match="exists"):
        datasets.VecRecorder(vec, tmp_path / "out.npz")

    def work(error=None):
        with datasets.VecRecorder(vec, tmp_path / "out.npz", overwrite=True) as recorded:
            self_play(recorded, 3, seed=0)
            if error is not None:
                raise error

    with pytest.raises(OptionError, match="no episode has ended: there is nothing to write"):
        work()
    with pytest.raises(KeyboardInterrupt):
        work(KeyboardInterrupt)
    recorded = datasets.VecRecorder(vec, tmp_path / "out.npz", overwrite=True)
    with pytest.raises(OptionError, match="no episode has ended"):
        recorded.close()
    recorded.close()
    assert (tmp_path / "out.npz").read_text() == "mine"
    assert [path.name for path in tmp_path.iterdir()] == ["out.npz"]


def test_a_write_that_fails_leaves_the_old_file(tmp_path, monkeypatch):
    (tmp_path / "out.npz").write_text("mine")
    monkeypatch.setattr("bideuchre_env.datasets.recorder.DECISIONS_AT_ONCE", 1)
    write, vec = NpzFile.write, make("six_card_v0").vec(2, episode="hand")

    def full(self, columns, finals=None):
        write(self, columns, finals)
        if recorded.episodes > 2:
            raise OutputError("full")

    monkeypatch.setattr(NpzFile, "write", full)
    recorded = datasets.VecRecorder(vec, tmp_path / "out.npz", overwrite=True)
    with pytest.raises(OutputError, match="full"), recorded:
        self_play(recorded, 100, seed=0)
    with pytest.raises(OptionError, match="this recorder is closed: make another"):
        recorded.step([0, 0])
    assert (tmp_path / "out.npz").read_text() == "mine"
    assert [path.name for path in tmp_path.iterdir()] == ["out.npz"]


def test_it_is_reset_before_it_is_stepped(tmp_path):
    """By its own reset: what `vec` saw before it is not known."""
    vec = make("six_card_v0").vec(2, episode="hand")
    _, info = vec.reset(seed=0)
    recorded = datasets.VecRecorder(vec, tmp_path / "out.npz")
    for call in (lambda: recorded.step([0, 0]), lambda: recorded.reset(mask=[True, False])):
        with pytest.raises(OptionError, match="nothing has been dealt yet: reset"):
            call()
    np.testing.assert_array_equal(vec.reset(seed=0)[1]["action_mask"], info["action_mask"])


def test_a_vec_that_was_moved_past_it_is_refused(tmp_path):
    vec = make("six_card_v0").vec(2, episode="hand")
    with datasets.VecRecorder(vec, tmp_path / "out.npz") as recorded:
        past = (
            lambda: vec.reset(seed=9),
            lambda: vec.reset(mask=np.array([True, False])),
            lambda: vec.step(vec.sample()),
            lambda: vec.set_state(vec.get_state()),
        )
        for call in past:
            self_play(recorded, 1, seed=0)
            call()
            before = vec.get_state()
            for refused in (
                lambda: recorded.step(vec.sample()),
                lambda: recorded.reset(mask=np.array([False, True])),
            ):
                with pytest.raises(OptionError, match="reset or stepped past its recorder"):
                    refused()
            np.testing.assert_array_equal(vec.get_state(), before)
        _, ends = self_play(recorded, 100, seed=3)
    found = arrays(tmp_path / "out.npz")
    assert found["episode"][-1] + 1 == ends.sum()
    assert found["action_mask"][np.arange(len(found["action"])), found["action"]].all()


@pytest.mark.parametrize("kind", ["npz", "parquet"])
def test_nothing_is_recorded_once_it_is_closed(kind, tmp_path):
    pytest.importorskip({"npz": "numpy", "parquet": "pyarrow"}[kind])
    vec = make("six_card_v0").vec(2, episode="hand")
    with datasets.VecRecorder(vec, tmp_path / f"out.{kind}") as recorded:
        self_play(recorded, 70, seed=0)
    decisions, before = recorded.decisions, vec.get_state()
    for call in (lambda: recorded.step(vec.sample()), recorded.reset):
        with pytest.raises(OptionError, match="this recorder is closed: make another"):
            call()
    assert recorded.decisions == decisions
    np.testing.assert_array_equal(vec.get_state(), before)


def test_it_holds_a_few_steps_of_many_rows(tmp_path):
    """Not sixteen: of 65,536 rows they would be more than a million decisions."""
    vec = make("six_card_v0").vec(1 << 16)
    recorded = datasets.VecRecorder(vec, tmp_path / "out.npz")
    assert sum(part.nbytes for part in recorded._steps) < 60e6
    with pytest.raises(OptionError):
        recorded.close()


def test_long_episodes_are_not_copied_at_every_block(tmp_path, monkeypatch):
    """What waits is copied when as much again has come: a few times, however long it waits."""
    monkeypatch.setattr("bideuchre_env.datasets.recorder.DECISIONS_AT_ONCE", 2)
    made = []
    write = datasets.VecRecorder._write
    monkeypatch.setattr(
        datasets.VecRecorder, "_write", lambda self: (made.append(self._at), write(self))
    )
    recorded = datasets.VecRecorder(make("six_card_v0").vec(2), tmp_path / "out.npz")
    self_play(recorded, 128, seed=0)
    assert made == [1, 1, 2, 4, 8, 16, 32, 64]
    with pytest.raises(OptionError):
        recorded.close()


def test_an_illegal_action_is_not_recorded(tmp_path):
    vec = make("six_card_v0").vec(2, episode="hand")
    with datasets.VecRecorder(vec, tmp_path / "out.npz") as recorded:
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
        ({"player": "c", "players": NAMES}, "player='c': the players are a, b$"),
        ({"player": "c"}, "player='c': no player has a name"),
        ({"episode": "hand"}, "episode='hand': it is what the vec was made with"),
    ):
        with pytest.raises(OptionError, match=said):
            datasets.VecRecorder(vec, tmp_path / "out.npz", **options)
    with pytest.raises(OptionError, match="made of game records: bideuchre export"):
        datasets.VecRecorder(vec, "minari:bideuchre/x-v0")
    for path in (5, None, b"out.npz"):
        with pytest.raises(OptionError, match="expected a path"):
            datasets.VecRecorder(vec, path)
    with pytest.raises(OptionError, match=r"env=.*: the many tables of a vec"):
        datasets.VecRecorder(make("six_card_v0").raw_env(), tmp_path / "out.npz")
    assert list(tmp_path.iterdir()) == []
