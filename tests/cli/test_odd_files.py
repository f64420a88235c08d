"""Commands and files: full disks, closed streams, unreadable files, and odd names."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.commands import run

from bideuchre_env import selfplay

FULL = Path("/dev/full")
full_disk = pytest.mark.skipif(not FULL.exists(), reason="no /dev/full here")
NO_SPACE = "No space left on device"
MATCH = ("match", "rule", "cautious", "--boards", "2")


def one_line(text):
    """Check that a text is a one-line error message; return it."""
    assert text.count("\n") == 1, text
    assert text.startswith("bideuchre: error: ")
    return text


@full_disk
def test_a_full_disk_is_an_error_after_the_result(capsys):
    os.symlink(FULL, "link.json")
    assert run(*MATCH, "--json", "link.json") == 1
    out, err = capsys.readouterr()
    assert "points per hand" in out
    assert f"link.json could not be written: {NO_SPACE}" in one_line(err)
    assert os.listdir() == ["link.json"]


@full_disk
def test_standard_output_on_a_full_disk_is_one_line():
    command = [sys.executable, "-m", "bideuchre_env", "variants", "--json"]
    with FULL.open("w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1
    assert f"standard output: {NO_SPACE}" in one_line(done.stderr)


def test_a_command_runs_with_closed_streams():
    line = f'"{sys.executable}" -m bideuchre_env variants <&- >&- 2>&-'
    assert subprocess.run(["sh", "-c", line], check=False).returncode == 0


ODD = {
    "half a character twice": '{"\\ud800":1,"\\ud800":2}',
    "an escape code": '{"\\u001b[31m":1, "\\u001b[31m":2}',
    "a long name": json.dumps({"x" * 10**6: 1}),
}


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    """A line with a valid game record."""
    path = tmp_path_factory.mktemp("games") / "games.jsonl"
    selfplay.play("six_card_v0", "rule", "random", games=1, out=path)
    return path.read_text().splitlines(keepends=True)[0]


@pytest.mark.parametrize("odd", ODD)
def test_an_odd_line_is_one_short_line_of_plain_text(odd, good, capfd):
    Path("good").write_text(good)
    Path("odd").write_text(good + ODD[odd] + "\n" + good)
    assert run("check", "odd", "good") == 1
    first, total, other = capfd.readouterr().out.splitlines()
    assert first.startswith("odd:2: ")
    assert first.isascii()
    assert first.isprintable()
    assert len(first) < 400
    assert total.startswith("odd: 2 games")
    assert other.startswith("good: 1 game, ")


def test_a_file_that_cannot_be_read_is_one_line_and_the_others_are_read(good, capfd):
    Path("good").write_text(good)
    os.mkdir("folder")
    assert run("check", "none", "good", "folder", "\x1b[31m", "good") == 2
    out, err = capfd.readouterr()
    assert [line.partition(":")[0] for line in out.splitlines()] == ["good", "good"]
    assert [line.split()[2] for line in err.splitlines()] == ["none", "folder", "\\x1b[31m"]
    assert "\x1b" not in err
