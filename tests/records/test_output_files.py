"""Files that are written: reserved, whole or not there, and nothing that was there is lost."""

from __future__ import annotations

import errno
import os
import stat
import threading

import pytest

from bideuchre_env import _files, records_io, selfplay
from bideuchre_env._files import Output, only_run_in, write_file
from bideuchre_env.cli.main import main
from bideuchre_env.errors import OptionError, OutputError
from bideuchre_env.evaluation.recorder import Recorder
from bideuchre_env.records import files
from bideuchre_env.rules.variants import RULES

posix = pytest.mark.skipif(os.name == "nt", reason="POSIX files")


def full_after(room, monkeypatch):
    """A disk with room for so many bytes: it takes a part of what is too much, then nothing."""
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


def test_it_takes_its_place_with_publish(tmp_path):
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


def test_what_is_not_published_leaves_nothing(tmp_path):
    """Neither a file nor the folders that were made for it; an old file stays."""
    (tmp_path / "x").write_text("old")
    for path in (tmp_path / "x", tmp_path / "a" / "b" / "x"):
        with Output(path, overwrite=True) as output:
            output.write(b"new")
    assert names(tmp_path) == ["x"]
    assert (tmp_path / "x").read_text() == "old"


@pytest.mark.parametrize("there", [False, True])
def test_a_second_run_is_refused(there, tmp_path):
    """Before the first one has written anything, and after; not when it has ended."""
    path = tmp_path / "x"
    if there:
        path.write_text("old")
    with Output(path, overwrite=there) as output:
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


def test_a_file_that_appears_meanwhile_is_not_replaced(tmp_path):
    path = tmp_path / "x"
    with Output(path) as output:
        output.write(b"mine")
        path.write_text("theirs")
        with pytest.raises(OutputError, match=r"x could not be written.*exists.*is in .*x\.new"):
            output.close()
    assert path.read_text() == "theirs"
    assert (tmp_path / "x.new").read_text() == "mine"
    assert names(tmp_path) == ["x", "x.new"]


@pytest.mark.parametrize("room", [None, 5])
def test_a_file_that_cannot_be_replaced_is_written_over(room, tmp_path, monkeypatch):
    """As one that is a mount of its own; what there is no room for stays beside it."""
    path = tmp_path / "x"
    path.write_text("something old")

    def busy(self, target):
        raise OSError(errno.EBUSY, "Device or resource busy")

    monkeypatch.setattr(_files.Path, "replace", busy)
    with Output(path, overwrite=True) as output:
        output.write(b"one ")
        if room is None:
            output.publish()
            output.write(b"two")
            output.close()
            assert path.read_text() == "one two"
            assert names(tmp_path) == ["x"]
        else:
            output.write(b"two")
            full_after(room, monkeypatch)
            with pytest.raises(OutputError, match=r"No space.* is in .*x\.new"):
                output.close()
            assert (tmp_path / "x.new").read_text() == "one two"
            assert names(tmp_path) == ["x", "x.new"]


class Broken(BaseException):
    """What ends the program in the middle of a call, as the handler of Ctrl-C does."""


@pytest.mark.parametrize("moment", ["torn", "written", "counted", "linked", "published"])
@pytest.mark.parametrize("board", [0, 2])
def test_ctrl_c_within_a_write_leaves_each_board_once(moment, board, tmp_path, monkeypatch):
    """Whole, whatever it breaks off; what ends the program calls `close` and nothing after it."""
    path, write, link = tmp_path / "x", os.write, os.link
    writer = files.RecordWriter(path)
    recorder = Recorder(writer, RULES["barrie_v0"], "barrie_v0", ("a", "b"), 0, 2)

    def quits():
        monkeypatch.undo()
        recorder.close()
        raise Broken

    def torn(descriptor, data):
        write(descriptor, bytes(data)[: 3 if moment == "torn" else None])
        quits()

    def linked(there, target):
        link(there, target)
        quits()

    def after(call):
        def called(*given):
            call(*given)
            quits()

        return called

    recorder._waiting = {each: (b"%d1" % each, b"%d2" % each) for each in range(4)}
    for each in range(board):
        recorder._write(each)
    if moment in ("torn", "written"):
        monkeypatch.setattr(os, "write", torn)
    elif moment == "linked" and board == 0:
        monkeypatch.setattr(os, "link", linked)
    else:
        patched = {"counted": (Output, "write"), "linked": (Output, "write")}
        owner, name = patched.get(moment, (files.RecordWriter, "write_lines"))
        monkeypatch.setattr(owner, name, after(getattr(owner, name)))
    with pytest.raises(Broken):
        recorder._write(board)
    assert path.read_text().split() == [f"{each}{table}" for each in range(4) for table in (1, 2)]
    assert names(tmp_path) == ["x"]


def test_what_a_killed_run_has_left_is_no_hindrance(tmp_path):
    path = tmp_path / "x"
    _files.beside(path).write_text("half of it")
    write_file(path, "whole")
    assert path.read_text() == "whole"
    assert names(tmp_path) == ["x"]


@posix
def test_a_link_is_followed_and_permissions_are_kept(tmp_path):
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("old")
    target.chmod(0o640)
    link.symlink_to(target)
    write_file(link, "new")
    assert link.is_symlink()
    assert target.read_text() == "new"
    assert stat.S_IMODE(target.stat().st_mode) == 0o640


@posix
def test_a_pipe_is_written_straight_to(tmp_path):
    pipe, read = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()), daemon=True)
    reader.start()
    write_file(pipe, "through")
    reader.join(timeout=600)
    assert read == [b"through"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert names(tmp_path) == ["pipe"]


@posix
def test_standard_output_is_a_file_like_any_other(tmp_path, capfd):
    for name in ("/dev/stdout", "/dev/fd/1"):
        write_file(name, f"to {name}\n")
    assert capfd.readouterr().out == "to /dev/stdout\nto /dev/fd/1\n"


@pytest.mark.parametrize("room", [0, 5])
def test_a_full_disk_leaves_all_as_it_was(room, tmp_path, monkeypatch):
    path = tmp_path / "x"
    path.write_text("old")
    full_after(room, monkeypatch)
    with pytest.raises(OutputError, match="x could not be written: No space left on device"):
        write_file(path, "something longer")
    assert path.read_text() == "old"
    assert names(tmp_path) == ["x"]


def test_records_on_a_full_disk_are_whole_lines_and_the_games_go_on(tmp_path, monkeypatch):
    """Of whole boards; the result is that of a run without records, and says what is missing."""
    played = selfplay.play("barrie_v0", "rule", "cautious", boards=8, seed=1)
    selfplay.play("barrie_v0", "rule", "cautious", boards=8, seed=1, out=tmp_path / "all")
    lines = (tmp_path / "all").read_bytes().splitlines(keepends=True)
    full_after(sum(map(len, lines[:5])) + 10, monkeypatch)
    result = selfplay.play("barrie_v0", "rule", "cautious", boards=8, seed=1, out=tmp_path / "x")
    assert result.scores == played.scores
    assert result.unwritten.endswith("x could not be written to its end: No space left on device")
    assert result.records == str(tmp_path / "x")
    assert result.to_dict()["unwritten"] == result.unwritten
    assert "unwritten" not in played.to_dict()
    assert (tmp_path / "x").read_bytes() == b"".join(lines[:4])


def test_records_without_room_for_a_line_leave_the_old_ones(tmp_path, monkeypatch):
    path = tmp_path / "x"
    path.write_text("old")
    full_after(10, monkeypatch)
    options = {"boards": 2, "out": path, "overwrite": True}
    result = selfplay.play("barrie_v0", "rule", "cautious", **options)
    assert result.records is None
    assert "No space left" in result.unwritten
    assert path.read_text() == "old"
    assert names(tmp_path) == ["x"]


def test_a_free_path_is_nobodys(tmp_path):
    with Output(tmp_path / "a.jsonl"):
        assert records_io.free_path(tmp_path, "a").name == "a-2.jsonl"


def test_a_run_that_loses_the_race_for_a_name_takes_the_next(tmp_path, monkeypatch, capsys):
    """Both have found it free."""
    monkeypatch.chdir(tmp_path)
    free, held = files.free_path, []

    def late(folder, stem):
        path = free(folder, stem)
        if not held:
            held.append(Output(path))
        return path

    monkeypatch.setattr(files, "free_path", late)
    assert main(["selfplay", "--boards", "1", "--agents", "random", "random"]) == 0
    held[0].discard()
    assert names(tmp_path / "runs") == ["selfplay-cincinnati_v0-random-random-seed0-2.jsonl"]
    assert "seed0-2.jsonl" in capsys.readouterr().out


def test_a_file_left_where_nothing_is_locked_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(_files, "_LOCKS", False)
    _files.beside(tmp_path / "x").write_text("half of it")
    with pytest.raises(OptionError, match=r"\.x\.bideuchre is there: delete that if no run"):
        Output(tmp_path / "x")
    assert names(tmp_path) == [".x.bideuchre"]


def test_a_folder_of_results_is_for_one_run(tmp_path):
    folder = tmp_path / "results"
    with only_run_in(folder), pytest.raises(OptionError, match="another run"), only_run_in(folder):
        pass
    assert not folder.exists()
    with only_run_in(folder):
        (folder / "x").touch()
    assert names(folder) == ["x"]


def test_names_are_shown_without_control_characters(tmp_path):
    (tmp_path / "\x1b[31m").touch()
    with pytest.raises(OptionError, match=r"\\x1b\[31m.* exists") as refused:
        Output(tmp_path / "\x1b[31m")
    assert "\x1b" not in str(refused.value)
