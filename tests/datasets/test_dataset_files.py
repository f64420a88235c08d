"""Datasets on disk: read back by numpy, pandas and polars, and whole or not there."""

from __future__ import annotations

import json
import os
import re
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

from bideuchre_env import Rules, datasets, selfplay
from bideuchre_env._files import Output
from bideuchre_env.errors import OptionError, OutputError, RecordError
from bideuchre_env.rules import actions
from bideuchre_env.rules.variants import RULES


@pytest.fixture(scope="module")
def records(tmp_path_factory):
    """A file of ten games of the rule player against the random one."""
    path = tmp_path_factory.mktemp("records") / "games.jsonl"
    selfplay.play("six_card_v0", "rule", "random", games=10, seed=4, out=path)
    return path


@pytest.fixture
def small_blocks(monkeypatch):
    """Blocks of a few games, so that files have many."""
    monkeypatch.setattr("bideuchre_env.datasets.games.DECISIONS_AT_ONCE", 500)


def npz(path):
    """Every array of an .npz file, players by name."""
    with np.load(path) as file:
        columns = {name: file[name] for name in file.files}
    players, metadata = columns.pop("players"), columns.pop("metadata")
    columns["player"] = players[columns["player"]]
    return columns, json.loads(str(metadata))


def test_an_npz_file_needs_no_pickle_and_says_what_it_is(records, tmp_path, small_blocks):
    datasets.export(records, tmp_path / "a.npz", gamma=0.5)
    columns, told = npz(tmp_path / "a.npz")
    assert {len(each) for each in columns.values()} == {len(columns["action"])}
    assert Rules(**told["rules"]) == RULES["six_card_v0"]
    assert told["actions"] == list(actions.of(RULES["six_card_v0"]).names)
    assert (told["variant"], told["gamma"], told["episode"], told["reward"]) == (
        *("six_card_v0", 0.5, "game", "win"),
    )
    assert told["layout"][0]["name"] == "hand"
    assert told["layout"][-1]["stop"] == columns["observation"].shape[1]
    assert told["source"] == ["games.jsonl"]  # and no folder of anybody's
    legal = columns["action_mask"][np.arange(len(columns["action"])), columns["action"]]
    assert legal.all()
    datasets.export(records, tmp_path / "b.npz", gamma=0.5)
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    assert zipfile.ZipFile(tmp_path / "a.npz").testzip() is None


PAGE = Path(__file__).parents[2] / "bideuchre_env" / "datasets" / "README.md"


@pytest.mark.parametrize("block", re.findall(r"```py\n(.*?)```", PAGE.read_text("utf-8"), re.S))
def test_the_pages_two_lines_read_a_dataset(block, records, tmp_path, monkeypatch):
    """Each way to read it, as it stands there."""
    library = re.match(r"import (\w+)", block)[1]
    pytest.importorskip(library)
    pytest.importorskip("pyarrow")
    monkeypatch.chdir(tmp_path)
    made = [datasets.export(records, f"games.{kind}") for kind in ("npz", "parquet")]
    scope = {"np": np, "json": json}
    exec(compile(block, str(PAGE), "exec"), scope)
    if "observations" in scope:
        expected = npz("games.npz")[0]["observation"]
        np.testing.assert_array_equal(scope["observations"], expected)
        assert len(expected) == made[0].decisions
    assert scope.get("metadata", {"variant": "six_card_v0"})["variant"] == "six_card_v0"


def test_a_parquet_file_is_in_blocks_and_says_what_it_is(records, tmp_path, small_blocks):
    parquet = pytest.importorskip("pyarrow.parquet")
    made = datasets.export(records, tmp_path / "a.parquet", observation="flat")
    datasets.export(records, tmp_path / "a.npz", observation="flat")
    file = parquet.ParquetFile(tmp_path / "a.parquet")
    assert file.metadata.num_row_groups > 2
    assert file.metadata.num_rows == made.decisions
    told = json.loads(file.schema_arrow.metadata[b"bideuchre"])
    expected, other = npz(tmp_path / "a.npz")
    assert told == other
    table = file.read()
    size = expected["observation"].shape[1]
    assert str(table.schema.field("observation").type) == f"fixed_size_list<element: float>[{size}]"
    assert list(table.column_names) == list(expected)
    for name, values in expected.items():
        np.testing.assert_array_equal(np.array(table[name].to_pylist(), values.dtype), values)


def test_other_endings_are_refused_in_words(records, tmp_path):
    for name in ("a.csv", "a", "a.jsonl", ".npz", ""):
        with pytest.raises(OptionError, match=r"a dataset is named NAME\.npz, NAME\.parquet or"):
            datasets.export(records, name)
    datasets.export(records, tmp_path / "a.NPZ")
    assert npz(tmp_path / "a.NPZ")[1]["variant"] == "six_card_v0"


@pytest.mark.parametrize(
    ("library", "name", "extra"),
    [("pyarrow", "a.parquet", "data"), ("minari", "minari:x-v0", "minari")],
)
def test_a_missing_extra_is_named(library, name, extra, records, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, library, None)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(OptionError, match=rf'needs {library}: pip install "bideuchre_env\[{extra}'):
        datasets.export(records, name)
    assert os.listdir() == []


@pytest.fixture(params=["a.npz", "a.parquet"])
def name(request, tmp_path, monkeypatch):
    """A file in a folder of its own."""
    if request.param.endswith("parquet"):
        pytest.importorskip("pyarrow")
    monkeypatch.chdir(tmp_path)
    return request.param


def test_a_file_that_is_there_stays_unless_told(name, records):
    with open(name, "w") as file:
        file.write("mine")
    with pytest.raises(OptionError, match=f"{name} exists"):
        datasets.export(records, name)
    with open(name) as file:
        assert file.read() == "mine"
    datasets.export(records, name, overwrite=True)
    assert os.path.getsize(name) > 1000
    assert os.listdir() == [name]


def test_a_file_that_another_run_writes_is_refused(name, records):
    with Output(name), pytest.raises(OptionError, match=f"{name} is being written by another run"):
        datasets.export(records, name)
    assert os.listdir() == []


@pytest.mark.parametrize("error", [KeyboardInterrupt, OutputError("full")])
def test_what_is_broken_off_leaves_the_old_file(error, name, records, small_blocks):
    """In the middle, by Ctrl-C for one."""
    with open(name, "w") as file:
        file.write("mine")

    def progress(games, decisions):
        assert decisions > 0
        if games > 3:
            raise error

    with pytest.raises(type(error) if isinstance(error, Exception) else error):
        datasets.export(records, name, overwrite=True, progress=progress)
    with open(name) as file:
        assert file.read() == "mine"
    assert os.listdir() == [name]


def test_a_bad_line_far_down_leaves_nothing(name, records, small_blocks):
    with open("bad.jsonl", "wb") as file:
        file.write(records.read_bytes() + b'{"format": "bideuchre/1"}\n')
    with pytest.raises(RecordError, match=r"bad.jsonl, line 11: a record: lacks 'variant'"):
        datasets.export("bad.jsonl", name)
    assert os.listdir() == ["bad.jsonl"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
def test_a_full_disk_is_one_line_and_nothing_is_left(name, records, small_blocks, monkeypatch):
    os.symlink("/dev/full", name)
    with pytest.raises(OutputError, match=f"{name} could not be written.*: No space left"):
        datasets.export(records, name, overwrite=True)
    assert os.listdir() == [name]
    assert os.path.islink(name)
