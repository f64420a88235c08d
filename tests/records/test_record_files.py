"""Record files: complete lines or none, and a bad line never hides the next."""

import codecs
import gzip
import json

import pytest

import bideuchre_env
from bideuchre_env import records_io, selfplay
from bideuchre_env.errors import OptionError, RecordError


@pytest.fixture(scope="module")
def games(tmp_path_factory):
    out = tmp_path_factory.mktemp("games") / "games.jsonl"
    selfplay.play("barrie_v0", "rule", "cautious", games=4, seed=1, out=out)
    return out.read_bytes().splitlines(keepends=True)


def test_records_written_are_read_back(games, tmp_path):
    records = [bideuchre_env.GameRecord.loads(line.decode()) for line in games]
    path = tmp_path / "made" / "on the way" / "games.jsonl"
    assert records_io.write(path, iter(records)) == 4
    assert path.read_bytes() == b"".join(games)
    assert list(records_io.read(path)) == records
    path.write_bytes(codecs.BOM_UTF8 + b"".join(games).rstrip())
    assert list(records_io.read(path)) == records
    assert [line.number for line in records_io.scan(path, {2, 4})] == [2, 4]


def test_a_file_that_exists_is_replaced_with_overwrite_alone(games, tmp_path):
    path = tmp_path / "games.jsonl"
    path.write_text("mine")
    with pytest.raises(OptionError, match="exists"):
        records_io.RecordWriter(path)
    assert path.read_text() == "mine"
    assert records_io.write(path, [], overwrite=True) == 0
    assert path.read_text() == ""


@pytest.mark.parametrize("name", ["", "folder", "file/games.jsonl"])
def test_a_path_that_cannot_be_written_or_read_is_an_error(name, tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("")
    with pytest.raises(OptionError, match=r"cannot be written|exists"):
        records_io.RecordWriter(tmp_path / name, overwrite=True)
    with pytest.raises(OptionError, match="cannot be read"):
        list(records_io.scan(tmp_path / name))


def changed(line, change):
    """A line of JSON, as bytes, after `change(data)` has changed its data in place."""
    data = json.loads(line)
    change(data)
    return json.dumps(data).encode() + b"\n"


def wrong_points(data):
    data["hands"][1]["points"][0] += 1


def illegal(data):
    data["hands"][0]["actions"][0] = "bid 99 H"


BROKEN = {
    "wrong points": (lambda line: changed(line, wrong_points), "hand 2: points"),
    "illegal action": (lambda line: changed(line, illegal), "hand 1: action 1"),
    "unknown field": (lambda line: changed(line, lambda d: d.update(more=1)), "'more'"),
    "a name twice": (lambda line: b'{"seed": 1, ' + line[1:], "with a name twice"),
    "no JSON": (lambda line: b"hello\n", "not a line of JSON"),
    "not an object": (lambda line: b"[1, 2]\n", "list"),
    "not UTF-8": (lambda line: b"\xff" + line, "UTF-8"),
    "nested too deep": (lambda line: b"[" * 100_000 + b"\n", "not a line of JSON"),
    "a number too long": (lambda line: b'{"seed": ' + b"9" * 5000 + b"}\n", ""),
}


@pytest.mark.parametrize("fault", BROKEN)
def test_a_bad_line_is_an_error_and_the_next_is_read(fault, games, tmp_path):
    spoil, message = BROKEN[fault]
    path = tmp_path / "games.jsonl"
    path.write_bytes(games[0] + spoil(games[1]) + b"\n" + games[2])
    one, bad, three = records_io.scan(path)
    assert one.record is not None
    assert three.record is not None
    assert (one.number, bad.number, three.number) == (1, 2, 4)
    assert bad.record is None
    assert message in bad.error
    with pytest.raises(RecordError, match="line 2"):
        list(records_io.read(path))


def test_a_truncated_last_line_is_called_torn(games, tmp_path):
    """A truncated line, which may end anywhere before its last brace, has an error with "torn"."""
    path = tmp_path / "games.jsonl"
    line = b'{"seed": -1.5e+3, "a": [true, false, null, "\\u00e9"], ' + games[1][1:].rstrip()
    for left in (*range(1, 60), *range(60, len(line), 7), len(line) - 1):
        path.write_bytes(b"junk\n" + line[:left])
        (torn,) = records_io.scan(path, {2})
        assert torn.error.startswith("torn: "), line[:left]


@pytest.mark.parametrize(
    "last", [wrong_points, illegal, b"hello", b"[1", b'{"a": oops}', b"{}}", b"\xff", b'{"a": 1}']
)
def test_a_last_line_with_another_fault_is_not_called_torn(last, games, tmp_path):
    """The last line has no newline, and its game does not replay or is no game."""
    path = tmp_path / "games.jsonl"
    bad = last if isinstance(last, bytes) else changed(games[1], last)
    path.write_bytes(games[0] + bad.rstrip())
    _, line = records_io.scan(path)
    assert line.error
    assert "torn" not in line.error


def test_a_compressed_file_is_read(games, tmp_path):
    """A gzip file of any name is read; games before a damaged place are read, then an error."""
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
