"""Record files and other output files: complete or absent, and a bad line never hides the next."""

import codecs
import errno
import gzip
import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

import bideuchre_env
from bideuchre_env import _files, match, records_io
from bideuchre_env._files import Output, only_run_at, only_run_in, write_file
from bideuchre_env.errors import OptionError, OutputError, RecordError


@pytest.fixture(scope="module")
def games(tmp_path_factory):
    out = tmp_path_factory.mktemp("games") / "games.jsonl"
    match("barrie_v0", "rule", "cautious", games=4, seed=1, records=out)
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


posix = pytest.mark.skipif(os.name == "nt", reason="POSIX files")


def full_after(room, monkeypatch):
    """Simulate a disk with `room` bytes left: writes are cut there, later writes fail."""
    real, left = os.write, [room]

    def write(descriptor, data):
        if left[0] == 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        written = real(descriptor, bytes(data)[: left[0]])
        left[0] -= written
        return written

    monkeypatch.setattr(os, "write", write)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_file_takes_its_place_when_it_is_published(tmp_path):
    path = tmp_path / "x"
    path.write_text("old")
    with Output(path, overwrite=True) as output:
        output.write(b"one ")
        assert path.read_text() == "old"
        output.publish()
        output.write(b"two")
        assert path.read_text() == "one two"
        output.close()
        output.close()
    assert names(tmp_path) == ["x"]


def test_a_file_that_is_not_published_leaves_no_trace(tmp_path):
    (tmp_path / "x").write_text("old")
    for path in (tmp_path / "x", tmp_path / "a" / "b" / "x"):
        with Output(path, overwrite=True) as output:
            output.write(b"new")
    assert names(tmp_path) == ["x"]
    assert (tmp_path / "x").read_text() == "old"


def test_the_temporary_file_of_a_killed_run_is_replaced(tmp_path):
    path = tmp_path / "x"
    _files.temporary_path(path).write_text("half of it")
    write_file(path, "new")
    assert path.read_text() == "new"
    assert names(tmp_path) == ["x"]


@pytest.mark.parametrize("exists", [False, True])
def test_a_second_run_is_refused_until_the_first_has_ended(exists, tmp_path):
    path = tmp_path / "x"
    if exists:
        path.write_text("old")
    with Output(path, overwrite=exists) as output:
        with pytest.raises(OptionError, match="x is being written by another run"):
            Output(path, overwrite=True)
        output.write(b"new")
        output.publish()
        with pytest.raises(OptionError, match="another run"):
            Output(path, overwrite=True)
        with pytest.raises(OptionError, match="exists"):
            Output(path)
        output.close()
    Output(path, overwrite=True).discard()
    assert path.read_text() == "new"
    assert names(tmp_path) == ["x"]


@pytest.mark.parametrize("links", [True, False])
def test_a_file_that_appears_meanwhile_is_not_replaced(links, tmp_path, monkeypatch):
    def no_links(source, target):
        raise OSError(errno.EPERM, "Operation not permitted")

    reason = "exists" if links else "another program has made it"
    if not links:  # as on some file systems
        monkeypatch.setattr(os, "link", no_links)
    with Output(tmp_path / "x") as output:
        output.write(b"mine")
        (tmp_path / "x").write_text("theirs")
        match = rf"x could not be written.*{reason}.* is in .*x\.new"
        with pytest.raises(OutputError, match=match):
            output.close()
    with Output(tmp_path / "y") as output:
        output.write(b"mine")
        output.close()
    texts = {name: (tmp_path / name).read_text() for name in names(tmp_path)}
    assert texts == {"x": "theirs", "x.new": "mine", "y": "mine"}


@pytest.mark.parametrize("overwrite", [False, True])
def test_a_file_is_complete_after_ctrl_c_when_it_was_moved(overwrite, tmp_path, monkeypatch):
    owner, name = (Path, "replace") if overwrite else (os, "link")
    real = getattr(owner, name)

    def interrupted(source, target):
        real(source, target)
        raise KeyboardInterrupt

    if overwrite:
        (tmp_path / "x").write_text("old")
    with Output(tmp_path / "x", overwrite=overwrite) as output:
        output.write(b"new")
        monkeypatch.setattr(owner, name, interrupted)
        with pytest.raises(KeyboardInterrupt):
            output.publish()
        monkeypatch.undo()
        output.close()
    assert (tmp_path / "x").read_text() == "new"
    assert names(tmp_path) == ["x"]


def test_a_temporary_file_that_another_program_removes_is_an_error(tmp_path):
    (tmp_path / "x").write_text("old")
    with Output(tmp_path / "x", overwrite=True) as output:
        output.write(b"new")
        _files.temporary_path(tmp_path / "x").unlink()
        with pytest.raises(OutputError, match="x could not be written"):
            output.close()
    assert (tmp_path / "x").read_text() == "old"


@posix
def test_a_mount_point_is_overwritten(tmp_path, monkeypatch):
    """A file that is mounted, as in a container, cannot be replaced."""

    def busy(path, target):
        raise OSError(errno.EBUSY, "Device or resource busy")

    (tmp_path / "x").write_text("old")
    monkeypatch.setattr(Path, "replace", busy)
    with Output(tmp_path / "x", overwrite=True) as output:
        output.write(b"new ")
        output.publish()
        output.write(b"line")
        output.close()
    assert (tmp_path / "x").read_text() == "new line"
    assert names(tmp_path) == ["x"]


@posix
def test_a_link_is_followed_and_permissions_stay(tmp_path):
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("old")
    target.chmod(0o640)
    link.symlink_to(target)
    write_file(link, "new")
    assert link.is_symlink()
    assert target.read_text() == "new"
    assert stat.S_IMODE(target.stat().st_mode) == 0o640


def test_the_longest_names_are_written(tmp_path):
    for length in (200, 244, 255):
        write_file(tmp_path / ("x" * length), "new")
        with only_run_at(tmp_path / ("x" * length)):
            pass
    assert [len(name) for name in names(tmp_path)] == [200, 244, 255]


@posix
def test_streams_are_written_directly(capfd):
    for name in ("/dev/stdout", "/dev/fd/1"):
        write_file(name, f"to {name}\n")
    assert capfd.readouterr().out == "to /dev/stdout\nto /dev/fd/1\n"


@pytest.mark.parametrize("room", [0, 5])
def test_a_full_disk_leaves_the_old_file(room, tmp_path, monkeypatch):
    path = tmp_path / "x"
    path.write_text("old")
    full_after(room, monkeypatch)
    with pytest.raises(OutputError, match="x could not be written: No space left on device"):
        write_file(path, "something longer")
    assert path.read_text() == "old"
    assert names(tmp_path) == ["x"]


def test_on_a_full_disk_records_are_whole_boards_and_the_games_continue(tmp_path, monkeypatch):
    played = match("barrie_v0", "rule", "cautious", boards=8, seed=1)
    match("barrie_v0", "rule", "cautious", boards=8, seed=1, records=tmp_path / "all")
    lines = (tmp_path / "all").read_bytes().splitlines(keepends=True)
    full_after(sum(map(len, lines[:5])) + 10, monkeypatch)
    result = match("barrie_v0", "rule", "cautious", boards=8, seed=1, records=tmp_path / "x")
    assert result.scores == played.scores
    assert result.unwritten.endswith("x could not be written to its end: No space left on device")
    assert result.records == str(tmp_path / "x")
    assert result.to_dict()["unwritten"] == result.unwritten
    assert "unwritten" not in played.to_dict()
    assert (tmp_path / "x").read_bytes() == b"".join(lines[:4])
    result = match("barrie_v0", "rule", "cautious", boards=2, records=tmp_path / "y")
    assert result.records is None
    assert names(tmp_path) == ["all", "x"]


def test_a_free_path_is_the_first_that_is_neither_taken_nor_being_written(tmp_path):
    assert records_io.free_path(tmp_path, "a").name == "a.jsonl"
    (tmp_path / "a.jsonl").touch()
    with Output(tmp_path / "a-2.jsonl"):
        assert records_io.free_path(tmp_path, "a").name == "a-3.jsonl"
    for number in (0, 1.5, None, True):
        with pytest.raises(OptionError, match="number="):
            records_io.free_path(tmp_path, "a", number=number)


def test_a_folder_of_results_is_for_one_run(tmp_path):
    folder = tmp_path / "results"
    with only_run_in(folder), pytest.raises(OptionError, match="another run"), only_run_in(folder):
        pass
    assert not folder.exists()
    with only_run_in(folder):
        (folder / "x").touch()
    assert names(folder) == ["x"]


def test_a_name_in_an_error_has_no_control_characters(tmp_path):
    (tmp_path / "\x1b[31m").touch()
    with pytest.raises(OptionError, match=r"\\x1b\[31m.* exists") as refused:
        Output(tmp_path / "\x1b[31m")
    assert "\x1b" not in str(refused.value)


def test_a_write_protected_file_is_not_replaced(tmp_path, monkeypatch):
    (tmp_path / "x").write_text("old")
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK)  # root could write
    with pytest.raises(OptionError, match="x cannot be written: it is write-protected"):
        Output(tmp_path / "x", overwrite=True)
    assert (tmp_path / "x").read_text() == "old"
    assert names(tmp_path) == ["x"]


def test_names_of_new_files_are_short_enough_for_every_file_system(tmp_path):
    """A command that names its own file, as `selfplay` does, failed with long names of agents."""
    assert records_io.file_stem("a b", "c") == "a_b-c"
    stems = {records_io.file_stem("selfplay", *["x" * 80] * 3, seed) for seed in "12"}
    assert len(stems) == 2
    for stem in (*stems, "é" * 125, "y" * 255):
        path = records_io.free_path(tmp_path, stem)
        path.touch()
        again = records_io.free_path(tmp_path, stem)
        assert again.name == f"{path.stem}-2.jsonl"
        assert len(os.fsencode(again.name)) < 220


CONTEND = """
import os, sys, time
from pathlib import Path
from bideuchre_env._files import TakenError, locked

inside, end, held = Path("inside"), time.monotonic() + 1, 0
while time.monotonic() < end:
    try:
        with locked(Path("lock"), "busy", 0.1 * (int(sys.argv[1]) % 2)):
            os.close(os.open(inside, os.O_CREAT | os.O_EXCL))  # fails beside another process
            inside.unlink()
            held += 1
    except TakenError:
        pass
print(held)
"""


@pytest.mark.slow
def test_one_process_at_a_time_holds_a_lock(tmp_path):
    command = [sys.executable, "-c", CONTEND]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    pipes = {"stdout": subprocess.PIPE, "text": True, "cwd": tmp_path, "env": environment}
    runs = [subprocess.Popen([*command, str(n)], **pipes) for n in range(6)]
    held = [run.communicate()[0] for run in runs]
    assert [run.returncode for run in runs] == [0] * 6
    assert sum(map(int, held)) > 6
    assert not list(tmp_path.iterdir())
