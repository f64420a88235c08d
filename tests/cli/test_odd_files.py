"""The command and files: full disks, devices, files that cannot be read, and odd names in them."""

from __future__ import annotations

import codecs
import gzip
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from support.commands import run

from bideuchre_env import match, records_io, selfplay
from bideuchre_env._files import Output
from bideuchre_env.errors import RecordError
from bideuchre_env.records.record import GameRecord

FULL = Path("/dev/full")
full_disk = pytest.mark.skipif(not FULL.exists(), reason="no /dev/full here")
NO_SPACE = "No space left on device"


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def command(*arguments, buffered="", **streams):
    """The command in a process of its own; `buffered` is "1" if it is not."""
    return subprocess.run(
        [sys.executable, "-m", "bideuchre_env", *arguments],
        **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **streams},
        env=os.environ | {"PYTHONUNBUFFERED": buffered},
        text=True,
        check=False,
    )


def one_line(text):
    """The line that is all there is."""
    assert text.count("\n") == 1, text
    assert text.startswith("bideuchre: error: ")
    return text


SELFPLAY = ("selfplay", "--boards", "2")
MATCH = ("match", "rule", "cautious", "--boards", "2")


@full_disk
@pytest.mark.parametrize(
    "arguments",
    [(*SELFPLAY, "--out"), (*MATCH, "--json"), (*MATCH, "--csv"), (*MATCH, "--picture")],
)
@pytest.mark.parametrize("force", [(), ("--force",)])
def test_a_full_device_is_told_after_the_result_and_is_left_alone(arguments, force, capsys):
    """By its name or by a link to it, with and without --force."""
    os.symlink(FULL, "link.png")
    assert run(*arguments, "link.png", *force) == 1
    out, err = capsys.readouterr()
    assert "points per hand" in out
    assert f"link.png could not be written: {NO_SPACE}" in one_line(err)
    assert os.readlink("link.png") == str(FULL)
    assert FULL.is_char_device()
    assert os.listdir() == ["link.png"]


@full_disk
def test_bench_tells_a_full_device_after_its_table(capsys):
    asked = ("bench", "--variant", "six_card_v0", "--seconds", "0.01", "--json", str(FULL))
    assert run(*asked) == 1
    out, err = capsys.readouterr()
    assert "rollouts" in out
    assert f"/dev/full could not be written: {NO_SPACE}" in one_line(err)


@full_disk
@pytest.mark.parametrize("arguments", ["variants", "variants --json", "--help", "--version", ""])
def test_standard_output_on_a_full_disk_is_one_line(arguments):
    with FULL.open("w") as full:
        done = command(*arguments.split(), stdout=full)
        assert (done.returncode, NO_SPACE in one_line(done.stderr)) == (1, True)
        assert "standard output" in done.stderr
        again = command(*arguments.split(), stdout=full, buffered="1")
        assert (again.returncode, again.stderr) == (1, done.stderr)


@full_disk
def test_standard_error_on_a_full_disk_is_silence():
    with FULL.open("w") as full:
        assert command("variants", "poker", stderr=full).returncode == 2
        assert command("variants", stdout=full, stderr=full).returncode == 1


def test_closed_streams_are_nothing_to_stumble_over():
    line = f'"{sys.executable}" -m bideuchre_env variants <&- >&- 2>&-'
    assert subprocess.run(["sh", "-c", line], check=False).returncode == 0


class CtrlC:
    """Somebody presses Ctrl-C before the first board is over."""

    name = "slow"

    def act_rows(self, observations, masks):
        signal.raise_signal(signal.SIGINT)
        return masks.argmax(axis=1)


def test_force_and_ctrl_c_before_the_first_board_leaves_the_old_file(monkeypatch, capsys):
    """The first press ends the run, the second raises."""
    Path("old").write_text("mine")
    play = selfplay.play
    monkeypatch.setattr(selfplay, "play", lambda g, a, b, **more: play(g, CtrlC(), b, **more))
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        assert run("selfplay", "--boards", "40", "--out", "old", "--force") == 130
    finally:
        signal.signal(signal.SIGINT, before)
    assert Path("old").read_text() == "mine"
    assert os.listdir() == ["old"]
    capsys.readouterr()


@pytest.mark.parametrize("kind", ["json", "csv", "picture"])
def test_two_runs_with_one_file_are_not_one_result(kind, monkeypatch, capsys):
    """The second is refused before it plays; what appears meanwhile is not replaced, nor lost."""
    asked = (*MATCH, f"--{kind}", "a.png")
    with Output("a.png"):
        assert run(*asked, "--force") == 2
    assert "a.png is being written by another run" in one_line(capsys.readouterr().err)
    play = match.play

    def meanwhile(*pair, **options):
        Path("a.png").write_text("theirs")
        return play(*pair, **options)

    monkeypatch.setattr(match, "play", meanwhile)
    assert run(*asked) == 1
    out, err = capsys.readouterr()
    assert "points per hand" in out
    assert "exists" in one_line(err)
    assert Path("a.png").read_text() == "theirs"
    assert sorted(os.listdir()) == ["a.png", "a.png.new"]


def test_a_picture_of_no_kind_is_refused_before_anything_is_played(monkeypatch, capsys):
    monkeypatch.setattr(match, "play", None)
    assert run(*MATCH, "--picture", "a.xyz") == 2
    assert "png" in one_line(capsys.readouterr().err)


ODD = {
    "half a character twice": '{"\\ud800":1,"\\ud800":2}',
    "half a character": '{"\\ud800":1}',
    "an escape code": '{"\\u001b[31m":1, "\\u001b[31m":2}',
    "one that is not escaped": '{"\x1b[31m":1}',
    "names without end": json.dumps({f"name {i}": i for i in range(10_000)}),
    "a name without end": json.dumps({"x" * 10**6: 1}),
}


@pytest.mark.parametrize("odd", ODD)
def test_check_tells_an_odd_line_and_reads_on(odd, capfd):
    """In that file and the next; whatever the line holds, it is one short line of plain text."""
    records_io.write("good", selfplay_records())
    good = Path("good").read_text()
    Path("odd").write_text(good + ODD[odd] + "\n" + good)
    with pytest.raises(RecordError):
        GameRecord.loads(ODD[odd])
    assert run("check", "odd", "good") == 1
    first, total, other = capfd.readouterr().out.splitlines()
    assert first.startswith("odd:2: ")
    assert first.isascii()
    assert first.isprintable()
    assert len(first) < 400
    assert total.startswith("odd: 2 games")
    assert other.startswith("good: 1 game, ")
    assert run("show", "odd") == 1
    assert capfd.readouterr().err.splitlines() == [first]


def selfplay_records():
    """One game."""
    selfplay.play("six_card_v0", "rule", "random", boards=1, out="played")
    return list(records_io.read("played"))[:1]


def test_a_file_that_cannot_be_read_is_one_line_and_the_others_are_read(capfd):
    records_io.write("good", selfplay_records())
    os.mkdir("folder")
    assert run("check", "none", "good", "folder", "\x1b[31m", "good") == 2
    out, err = capfd.readouterr()
    assert [line.partition(":")[0] for line in out.splitlines()] == ["good", "good"]
    assert [line.split()[2] for line in err.splitlines()] == ["none", "folder", "\\x1b[31m"]
    assert "\x1b" not in err


@full_disk
def test_a_script_on_a_full_disk_is_one_line():
    code = "import sys; from bideuchre_env.cli import program; sys.argv = ['mine.py']\n"
    asked = [sys.executable, "-c", f"{code}sys.exit(program.script(lambda: print('x')))"]
    with FULL.open("w") as full:
        done = subprocess.run(asked, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, f"mine.py: error: standard output: {NO_SPACE}\n")


def test_check_reads_the_other_files_beside_an_endless_line(capsys):
    """One fault for a sparse file of 4 GB; a compressed file and one with a byte order mark."""
    selfplay.play("cincinnati_v0", "random", "random", games=1, out="games.jsonl")
    content = Path("games.jsonl").read_bytes()
    Path("sparse.jsonl").touch()
    os.truncate("sparse.jsonl", 4 * 10**9)
    Path("games.jsonl.gz").write_bytes(gzip.compress(content))
    Path("marked.jsonl").write_bytes(codecs.BOM_UTF8 + content)
    assert run("check", "sparse.jsonl", "games.jsonl.gz", "marked.jsonl") == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("sparse.jsonl:1: longer than ")
    assert lines[1] == "sparse.jsonl: 0 games, 0 hands verified, 1 bad line"
    assert [line.partition(": ")[0] for line in lines[2:]] == ["games.jsonl.gz", "marked.jsonl"]
    assert all(line.endswith("verified, no fault") for line in lines[2:])
