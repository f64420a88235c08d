"""`VecRecorder` equals an export of the records; dataset files are complete or absent."""

import json
import os
from pathlib import Path

import numpy as np
import pytest

from bideuchre_env import Rules, datasets, make, match, records_io
from bideuchre_env._files import Output
from bideuchre_env.datasets.files import NpzFile
from bideuchre_env.errors import IllegalActionError, OptionError, OutputError, RecordError
from bideuchre_env.rules import actions
from bideuchre_env.rules.variants import RULES

ROWS = 5
PLAYERS = ("a", "b", "a", "b")


def arrays(path):
    """Every array of an .npz file except the metadata."""
    with np.load(path) as file:
        return {name: file[name] for name in file.files if name != "metadata"}


def self_play(recorded, steps, seed):
    """Play a recorder at random, overwriting its arrays; return actions and ends, (steps, n)."""
    rng = np.random.default_rng(seed)
    obs, info = recorded.reset(seed=seed)
    actions, ends = [], []
    for _ in range(steps):
        masks = info["action_mask"]
        drawn = (rng.random(masks.shape) * masks).argmax(axis=1)
        chosen = np.where(rng.random(len(masks)) < 0.3, masks.argmax(axis=1), drawn)
        actions.append(chosen.copy())
        obs, _, terminated, truncated, info = recorded.step(chosen)
        ends.append(terminated | truncated)
        (obs if isinstance(obs, np.ndarray) else obs["observation"])[:] = 1  # the caller's arrays
        chosen[:] = 0
    return np.array(actions), np.array(ends)


def records_of(game, actions, ends, seed, **options):
    """Replay actions, (steps, n); return the records of finished episodes, by their starts."""
    records = []
    for row in range(actions.shape[1]):
        env = game.raw_env(**options)
        env.reset(seed=seed + row)
        began = 0
        for t, action in enumerate(actions[:, row]):
            env.step(int(action))
            if ends[t, row]:
                record = env.record
                record.agents = list(PLAYERS)
                records.append((began, row, record))
                began = t + 1
                env.reset()
    return [record for _, _, record in sorted(records, key=lambda each: each[:2])]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("variant", "options"),
    [
        ("cincinnati_v0", {"episode": "game", "reward": "points"}),
        ("barrie_v0", {"episode": "hand", "reward": "points", "observation": "features"}),
        ("six_card_v0", {"episode": "game", "reward": "win", "observation": "flat"}),
    ],
)
def test_recorded_self_play_equals_the_export_of_records(variant, options, tmp_path, monkeypatch):
    """Blocks may end in the middle of episodes; here blocks have a single step."""
    monkeypatch.setattr("bideuchre_env.datasets.recorder.DECISIONS_AT_ONCE", ROWS)
    game = make(variant, target=5, max_hands=4)  # some are won, some are truncated
    vec = game.vec(ROWS, **options)
    with datasets.VecRecorder(vec, tmp_path / "vec.npz", players=PLAYERS, gamma=0.9) as recorded:
        actions, ends = self_play(recorded, 330, seed=3)
    records = records_of(game, actions, ends, 3, **options)
    assert len(records) == ends.sum() > ROWS
    records_io.write(tmp_path / "games.jsonl", records)
    out = tmp_path / "records.npz"
    made = datasets.export(tmp_path / "games.jsonl", out, gamma=0.9, **options)
    assert (recorded.decisions, recorded.episodes) == (made.decisions, made.episodes)
    assert by_episode(arrays(tmp_path / "vec.npz")) == by_episode(arrays(out))


def test_actions_that_the_step_overwrites_are_recorded_correctly(tmp_path):
    """With `copy=False` the actions may be in an array of the environment itself."""
    episodes = []
    for copy in (False, True):
        vec = make("six_card_v0").vec(ROWS, episode="hand", copy=copy)
        with datasets.VecRecorder(vec, tmp_path / f"{copy}.npz") as recorded:
            _, info = recorded.reset(seed=2)
            for _ in range(60):
                actions = info["seat"]
                actions[:] = info["action_mask"].argmax(axis=1)
                info = recorded.step(actions)[-1]
        episodes.append(by_episode(arrays(tmp_path / f"{copy}.npz")))
    assert episodes[0] == episodes[1]


def by_episode(columns):
    """The columns of each episode as a tuple of bytes, without its number; sorted."""
    names = [name for name in columns if name not in ("players", "episode")]
    starts = np.flatnonzero(np.diff(columns["episode"])) + 1
    assert np.array_equal(np.unique(columns["episode"]), np.arange(len(starts) + 1))
    parts = (np.split(columns[name], starts) for name in names)
    return sorted(tuple(part.tobytes() for part in episode) for episode in zip(*parts, strict=True))


@pytest.mark.parametrize(
    "selects", [lambda rows: {"mask": rows}, lambda rows: {"options": {"reset_mask": rows}}]
)
def test_unfinished_episodes_and_those_ended_by_a_reset_are_left_out(selects, tmp_path):
    vec = make("six_card_v0").vec(ROWS, episode="hand")
    recorded = datasets.VecRecorder(vec, tmp_path / "out.npz")
    self_play(recorded, 3, seed=1)
    obs, _ = recorded.reset(**selects(np.arange(ROWS) < 2))
    ended = np.zeros(ROWS, int)
    while not (ended > 0).all():
        obs, _, terminated, _, _ = recorded.step(obs["action_mask"].argmax(axis=1))
        ended += terminated
    recorded.close()
    recorded.close()
    columns = arrays(tmp_path / "out.npz")
    assert columns["episode"].max() + 1 == ended.sum() == recorded.episodes
    assert (columns["decision"][np.r_[True, np.diff(columns["episode"]) > 0]] == 0).all()
    assert set(np.bincount(columns["episode"])) <= {4, 4 + 24, 4 + 18}  # calls and cards


@pytest.mark.parametrize("error", [KeyboardInterrupt, ZeroDivisionError])
def test_finished_episodes_are_written_when_an_error_ends_the_loop(error, tmp_path):
    vec = make("six_card_v0").vec(3, episode="hand")
    recorded = datasets.VecRecorder(vec, tmp_path / "out.npz")
    _, ends = self_play(recorded, 70, seed=0)
    with pytest.raises(error), recorded:
        raise error
    assert recorded.episodes == ends.sum() > 3
    assert arrays(tmp_path / "out.npz")["episode"][-1] + 1 == ends.sum()


def test_without_finished_episodes_or_after_a_failed_write_an_old_file_stays(tmp_path, monkeypatch):
    (tmp_path / "out.npz").write_text("mine")
    vec = make("six_card_v0").vec(2, episode="hand")
    with pytest.raises(OptionError, match="exists"):
        datasets.VecRecorder(vec, tmp_path / "out.npz")

    def record(steps, error=None):
        with datasets.VecRecorder(vec, tmp_path / "out.npz", overwrite=True) as recorded:
            self_play(recorded, steps, seed=0)
            if error is not None:
                raise error

    with pytest.raises(OptionError, match="expected at least one finished episode"):
        record(3)
    with pytest.raises(KeyboardInterrupt):
        record(3, KeyboardInterrupt)

    def full(self, columns, finals=None):
        raise OutputError("full")

    monkeypatch.setattr("bideuchre_env.datasets.recorder.DECISIONS_AT_ONCE", 1)
    monkeypatch.setattr(NpzFile, "write", full)
    with pytest.raises(OutputError, match="full"):
        record(100)
    assert (tmp_path / "out.npz").read_text() == "mine"
    assert [path.name for path in tmp_path.iterdir()] == ["out.npz"]


def test_a_recorder_is_used_between_its_reset_and_its_close(tmp_path):
    vec = make("six_card_v0").vec(2, episode="hand")
    recorded = datasets.VecRecorder(vec, tmp_path / "out.npz")
    with pytest.raises(OptionError, match="nothing has been dealt yet: call reset"):
        recorded.step([0, 0])
    self_play(recorded, 70, seed=0)
    recorded.close()
    with pytest.raises(OptionError, match="this recorder is closed: make another"):
        recorded.step(vec.sample())


@pytest.mark.parametrize(
    "move",
    [lambda vec: vec.reset(mask=np.array([True, False])), lambda vec: vec.step(vec.sample())],
    ids=["reset of a row", "step"],
)
def test_a_vec_stepped_without_its_recorder_is_refused_until_it_is_reset(move, tmp_path):
    vec = make("six_card_v0").vec(2, episode="hand")
    with datasets.VecRecorder(vec, tmp_path / "out.npz") as recorded:
        self_play(recorded, 1, seed=0)
        move(vec)
        with pytest.raises(OptionError, match="reset or stepped past its recorder"):
            recorded.step(vec.sample())
        _, ends = self_play(recorded, 100, seed=3)
    columns = arrays(tmp_path / "out.npz")
    assert columns["episode"][-1] + 1 == ends.sum()
    assert columns["action_mask"][np.arange(len(columns["action"])), columns["action"]].all()


def test_an_illegal_action_is_not_recorded(tmp_path):
    vec = make("six_card_v0").vec(2, episode="hand")
    with datasets.VecRecorder(vec, tmp_path / "out.npz") as recorded:
        obs, _ = recorded.reset(seed=0)
        ended = np.zeros(2, bool)
        while not ended.any():
            with pytest.raises(IllegalActionError):
                recorded.step([99, 99])
            obs, _, ended, _, _ = recorded.step(obs["action_mask"].argmax(axis=1))
    columns = arrays(tmp_path / "out.npz")
    assert columns["action_mask"][np.arange(len(columns["action"])), columns["action"]].all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"players": ("a", "b")}, "four names, by seat, or None"),
        ({"gamma": -1}, "gamma=-1: expected a number from 0 to 1"),
        ({"speed": 1}, "unexpected keyword argument 'speed' of a recorder"),
        ({"player": "c", "players": PLAYERS}, "player='c': the players are a, b$"),
        ({"player": "c"}, "player='c': no player has a name"),
        ({"episode": "hand"}, "episode='hand': expected only as an option of the vec"),
        ({"path": "minari:bideuchre/x-v0"}, "made of game records: bideuchre records export"),
        ({"vec": make("six_card_v0").raw_env()}, r"env=.*: expected a vec"),
    ],
)
def test_a_bad_argument_is_refused_by_name(options, message, tmp_path):
    arguments = {"vec": make("six_card_v0").vec(2), "path": tmp_path / "out.npz"} | options
    with pytest.raises(OptionError, match=message):
        datasets.VecRecorder(arguments.pop("vec"), arguments.pop("path"), **arguments)
    assert list(tmp_path.iterdir()) == []


@pytest.fixture(scope="module")
def records(tmp_path_factory):
    path = tmp_path_factory.mktemp("records") / "games.jsonl"
    match("six_card_v0", "rule", "random", games=10, seed=4, records=path)
    return path


@pytest.fixture
def small_blocks(monkeypatch):
    """Blocks of a few games, so that files have many."""
    monkeypatch.setattr("bideuchre_env.datasets.games.DECISIONS_AT_ONCE", 500)


def npz(path):
    """The columns of an .npz file, with players by name, and its metadata."""
    with np.load(path) as file:
        columns = {name: file[name] for name in file.files}
    players, metadata = columns.pop("players"), columns.pop("metadata")
    columns["player"] = players[columns["player"]]
    return columns, json.loads(str(metadata))


def test_an_npz_file_needs_no_pickle_and_has_its_metadata(records, tmp_path, small_blocks):
    datasets.export(records, tmp_path / "a.npz", gamma=0.5)
    columns, metadata = npz(tmp_path / "a.npz")
    assert {len(each) for each in columns.values()} == {len(columns["action"])}
    assert Rules(**metadata["rules"]) == RULES["six_card_v0"]
    assert metadata["actions"] == list(actions.of(RULES["six_card_v0"]).names)
    assert (metadata["variant"], metadata["gamma"]) == ("six_card_v0", 0.5)
    assert (metadata["episode"], metadata["reward"]) == ("game", "win")
    assert metadata["layout"][0]["name"] == "hand"
    assert metadata["layout"][-1]["stop"] == columns["observation"].shape[1]
    assert metadata["source"] == ["games.jsonl"]  # without the folder
    legal = columns["action_mask"][np.arange(len(columns["action"])), columns["action"]]
    assert legal.all()
    datasets.export(records, tmp_path / "b.NPZ", gamma=0.5)
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.NPZ").read_bytes()


def test_a_parquet_file_has_blocks_and_the_columns_of_an_npz_file(records, tmp_path, small_blocks):
    parquet = pytest.importorskip("pyarrow.parquet")
    made = datasets.export(records, tmp_path / "a.parquet", observation="flat")
    datasets.export(records, tmp_path / "a.npz", observation="flat")
    file = parquet.ParquetFile(tmp_path / "a.parquet")
    assert file.metadata.num_row_groups > 2
    assert file.metadata.num_rows == made.decisions
    expected, metadata = npz(tmp_path / "a.npz")
    assert json.loads(file.schema_arrow.metadata[b"bideuchre"]) == metadata
    table = file.read()
    size = expected["observation"].shape[1]
    assert str(table.schema.field("observation").type) == f"fixed_size_list<element: float>[{size}]"
    assert list(table.column_names) == list(expected)
    for name, values in expected.items():
        np.testing.assert_array_equal(np.array(table[name].to_pylist(), values.dtype), values)


@pytest.fixture(params=["a.npz", "a.parquet"])
def name(request, tmp_path, monkeypatch):
    """The name of a dataset file, .npz or .parquet; the current folder is a temporary one."""
    if request.param.endswith("parquet"):
        pytest.importorskip("pyarrow")
    monkeypatch.chdir(tmp_path)
    return request.param


def test_a_file_is_replaced_with_overwrite_alone(name, records):
    Path(name).write_text("mine")
    with pytest.raises(OptionError, match=f"{name} exists"):
        datasets.export(records, name)
    assert Path(name).read_text() == "mine"
    with Output(name, overwrite=True), pytest.raises(OptionError, match="another run"):
        datasets.export(records, name, overwrite=True)
    datasets.export(records, name, overwrite=True)
    assert Path(name).stat().st_size > 1000
    assert os.listdir() == [name]


@pytest.mark.parametrize("fault", ["Ctrl-C", "a bad line"])
def test_an_export_that_fails_midway_leaves_the_old_file(fault, name, records, small_blocks):
    Path(name).write_text("mine")
    bad = b'{"format": "bideuchre/1"}\n' if fault == "a bad line" else b""
    Path("games.jsonl").write_bytes(records.read_bytes() + bad)

    def progress(games, decisions):
        assert decisions > 0
        if games > 3 and fault == "Ctrl-C":
            raise KeyboardInterrupt

    with pytest.raises((KeyboardInterrupt, RecordError)) as caught:
        datasets.export("games.jsonl", name, overwrite=True, progress=progress)
    if bad:
        assert "games.jsonl, line 11: a record: lacks 'variant'" in str(caught.value)
    assert Path(name).read_text() == "mine"
    assert sorted(os.listdir()) == [name, "games.jsonl"]
