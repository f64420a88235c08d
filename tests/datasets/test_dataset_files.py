"""Dataset files: .npz and .parquet round-trip, and a file is complete or absent."""

import json
import os
import re
import sys
from pathlib import Path

import numpy as np
import pytest

from bideuchre_env import Rules, _files, datasets, selfplay
from bideuchre_env._files import Output
from bideuchre_env._install import how_to_install
from bideuchre_env.errors import OptionError, RecordError
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


def test_a_parquet_file_is_in_blocks_and_has_the_columns_of_an_npz_file(
    records, tmp_path, small_blocks
):
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


@pytest.mark.parametrize(
    ("library", "name", "extra"),
    [("pyarrow", "a.parquet", "data"), ("minari", "minari:x-v0", "minari")],
)
def test_a_missing_extra_is_named(library, name, extra, records, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, library, None)
    monkeypatch.chdir(tmp_path)
    expected = f"needs {library}: {how_to_install(extra)}"
    with pytest.raises(OptionError, match=f"{re.escape(expected)}$"):
        datasets.export(records, name)
    assert os.listdir() == []


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
    busy = "by another run" if _files._LOCKS else "delete that if no run is writing it"
    with Output(name, overwrite=True), pytest.raises(OptionError, match=busy):
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
