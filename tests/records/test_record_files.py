"""Files of records: whole lines or nothing, and a bad line never hides the next."""

from __future__ import annotations

import codecs
import gzip
import json
import os
import tracemalloc

import pytest

import bideuchre_env
from bideuchre_env import records_io, selfplay
from bideuchre_env.errors import OptionError, RecordError
from bideuchre_env.records.files import LONGEST


@pytest.fixture(scope="module")
def games(tmp_path_factory):
    """The lines of four games."""
    out = tmp_path_factory.mktemp("games") / "games.jsonl"
    selfplay.play("barrie_v0", "rule", "cautious", games=4, seed=1, out=out)
    return out.read_bytes().splitlines(keepends=True)


def test_what_is_written_is_read_back(games, tmp_path):
    records = [bideuchre_env.GameRecord.loads(line.decode()) for line in games]
    path = tmp_path / "made" / "on the way" / "games.jsonl"
    assert records_io.write(path, iter(records)) == 4
    assert path.read_bytes() == b"".join(games)
    assert list(records_io.read(path)) == records


def test_a_file_that_exists_is_not_overwritten_unless_told(games, tmp_path):
    path = tmp_path / "games.jsonl"
    path.write_text("mine")
    with pytest.raises(OptionError, match="exists"):
        records_io.RecordWriter(path)
    assert path.read_text() == "mine"
    assert records_io.write(path, [], overwrite=True) == 0
    assert path.read_text() == ""


@pytest.mark.parametrize("name", ["", "folder", "file/games.jsonl"])
def test_a_path_that_cannot_be_written_is_told(name, tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("")
    with pytest.raises(OptionError, match=r"cannot be written|exists"):
        records_io.RecordWriter(tmp_path / name, overwrite=True)


def test_every_board_is_one_call_to_the_operating_system(games, tmp_path, monkeypatch):
    written = []
    real = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: written.append(bytes(data)) or real(fd, data))
    selfplay.play("barrie_v0", "rule", "cautious", games=4, seed=1, out=tmp_path / "x.jsonl")
    assert written == [a + b for a, b in zip(games[::2], games[1::2], strict=True)]


def _change(line: bytes, change) -> bytes:
    data = json.loads(line)
    change(data)
    return json.dumps(data).encode() + b"\n"


def _wrong_points(data):
    data["hands"][1]["points"][0] += 1


def _illegal(data):
    data["hands"][0]["actions"][0] = "bid 99 H"


def _drawn(data):
    data["outcome"] = "drawn"


BROKEN = {
    "wrong points": (lambda line: _change(line, _wrong_points), "hand 2: points"),
    "illegal action": (lambda line: _change(line, _illegal), "hand 1: action 1"),
    "wrong outcome": (lambda line: _change(line, _drawn), "replay gives"),
    "unknown field": (lambda line: _change(line, lambda d: d.update(more=1)), "'more'"),
    "a name twice": (lambda line: line.replace(b"{", b'{"seed": 1, ', 1), "a name twice: 'seed'"),
    "no JSON": (lambda line: b"hello\n", "not a line of JSON"),
    "not an object": (lambda line: b"[1, 2]\n", "list"),
    "not UTF-8": (lambda line: b"\xff" + line, "UTF-8"),
    "cut short": (lambda line: line[: len(line) // 2] + b"\n", "not a line of JSON"),
    "nested too deep": (lambda line: b"[" * 100_000 + b"\n", "not a line of JSON"),
    "a number too long": (lambda line: b'{"seed": ' + b"9" * 5000 + b"}\n", ""),
}


@pytest.mark.parametrize("fault", BROKEN)
def test_a_bad_line_is_told_and_the_next_is_read(fault, games, tmp_path):
    spoil, told = BROKEN[fault]
    path = tmp_path / "games.jsonl"
    path.write_bytes(games[0] + spoil(games[1]) + b"\n" + games[2])
    one, bad, three = records_io.scan(path)
    assert one.record is not None
    assert three.record is not None
    assert (one.number, bad.number, three.number) == (1, 2, 4)
    assert bad.record is None
    assert told in bad.error
    with pytest.raises(RecordError, match="line 2"):
        list(records_io.read(path))


def test_a_torn_last_line_is_called_so(games, tmp_path):
    """Wherever it ends before its last brace, in a number, a word or an escape, too."""
    path = tmp_path / "games.jsonl"
    line = b'{"seed": -1.5e+3, "a": [true, false, null, "\\u00e9"], ' + games[1][1:].rstrip()
    for left in range(1, len(line)):
        path.write_bytes(b"junk\n" + line[:left])
        (torn,) = records_io.scan(path, {2})
        assert torn.error.startswith("torn: "), line[:left]


@pytest.mark.parametrize(
    "last", [_wrong_points, _illegal, b"hello", b"[1", b'{"a": oops}', b"{}}", b"\xff", b'{"a": 1}']
)
def test_a_last_line_with_another_fault_is_not_called_torn(last, games, tmp_path):
    """A game that does not replay, or a line that is no game, without a newline at its end."""
    path = tmp_path / "games.jsonl"
    bad = last if isinstance(last, bytes) else _change(games[1], last)
    path.write_bytes(games[0] + bad.rstrip())
    _, line = records_io.scan(path)
    assert line.error
    assert "torn" not in line.error


def test_a_byte_order_mark_is_passed_over(games, tmp_path):
    path = tmp_path / "games.jsonl"
    path.write_bytes(codecs.BOM_UTF8 + b"".join(games))
    assert len(list(records_io.read(path))) == 4
    path.write_bytes(codecs.BOM_UTF8)
    assert not list(records_io.read(path))


def test_a_compressed_file_is_read(games, tmp_path):
    """Under any name; a truncated or damaged file is an error after the games before the fault."""
    path = tmp_path / "games"
    packed = b"".join(map(gzip.compress, games))
    path.write_bytes(packed)
    assert [line.number for line in records_io.scan(path) if line.record] == [1, 2, 3, 4]
    path.write_bytes(packed[:-4])
    lines = records_io.scan(path)
    with pytest.raises(OptionError, match="cannot be read: Compressed file ended"):
        list(lines)
    path.write_bytes(packed[:40] + b"xxxx" + packed[44:])
    with pytest.raises(OptionError, match="cannot be read"):
        list(records_io.scan(path))


def test_an_endless_line_is_one_fault_in_bounded_memory(games, tmp_path):
    """A sparse file of 4 GB without a line's end: the line is named, and nothing after it read."""
    path = tmp_path / "games.jsonl"
    path.write_bytes(games[0])
    os.truncate(path, 4 * 10**9)
    tracemalloc.start()
    try:
        one, endless = records_io.scan(path)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (one.number, endless.number) == (1, 2)
    assert one.record is not None
    assert endless.error == f"longer than {LONGEST} bytes: it is the last line read"
    assert peak < 5 * LONGEST


def test_a_last_line_without_its_end_is_whole_if_it_replays(games, tmp_path):
    path = tmp_path / "games.jsonl"
    path.write_bytes(games[0].rstrip())
    assert len(list(records_io.read(path))) == 1


def test_only_the_lines_asked_for_are_replayed(games, tmp_path):
    path = tmp_path / "games.jsonl"
    path.write_bytes(b"junk\n" + b"".join(games))
    assert [line.number for line in records_io.scan(path, {2, 4})] == [2, 4]


def test_a_file_that_is_not_there_is_told(tmp_path):
    with pytest.raises(OptionError, match="cannot be read"):
        list(records_io.scan(tmp_path / "none.jsonl"))
    with pytest.raises(OptionError, match="cannot be read"):
        list(records_io.scan(tmp_path))


def test_free_paths_count_up(tmp_path):
    assert records_io.free_path(tmp_path, "a").name == "a.jsonl"
    (tmp_path / "a.jsonl").touch()
    (tmp_path / "a-2.jsonl").touch()
    assert records_io.free_path(tmp_path, "a").name == "a-3.jsonl"
