"""`bideuchre export` on the command line: what it says, and one line for whatever is wrong."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from support.commands import run

from bideuchre_env import selfplay
from bideuchre_env.datasets.writer import DatasetWriter


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def games():
    """A file of six games."""
    selfplay.play("six_card_v0", "rule", "random", games=6, seed=4, out="games.jsonl")
    return "games.jsonl"


def error_of(capsys, *arguments, code=2):
    """What is said in the one line that is all there is."""
    assert run(*arguments) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1, err
    return err.removeprefix("bideuchre: error: ").rstrip()


def test_it_says_what_it_wrote(games, capsys):
    assert run("export", games, "out.npz") == 0
    out, err = capsys.readouterr()
    with np.load("out.npz") as file:
        decisions = len(file["action"])
        told = json.loads(str(file["metadata"]))
    assert (out, err) == (f"out.npz: {decisions:,} decisions in 6 episodes of 6 games\n", "")
    assert (told["episode"], told["reward"], told["gamma"], told["forced"]) == (
        *("game", "win", 1.0, True),
    )


def test_every_option_reaches_the_dataset(games, capsys):
    options = ("--episode", "hand", "--reward", "win", "--gamma", "0.5", "--no-forced")
    more = ("--observation", "flat", "--player", "rule", "--force")
    assert run("export", games, games, "out.npz", *options, *more) == 0
    assert "of 12 games\n" in capsys.readouterr().out
    with np.load("out.npz") as file:
        told = json.loads(str(file["metadata"]))
        assert set(file["players"][file["player"]]) == {"rule"}
        assert file["observation"].dtype == np.float32
        assert not file["forced"].any()
    assert [told[name] for name in ("episode", "reward", "gamma", "forced", "player")] == [
        *("hand", "win", 0.5, False, "rule"),
    ]


def test_standard_input(games, capsys, monkeypatch):
    stdin = io.TextIOWrapper(io.BytesIO(Path(games).read_bytes()))
    monkeypatch.setattr(sys, "stdin", stdin)
    assert run("export", "-", "out.npz") == 0
    assert "of 6 games" in capsys.readouterr().out
    assert "'-': no game record" not in error_of(capsys, "export", "none", "other.npz")


def test_single_hands_are_no_games(capsys):
    """As `selfplay --boards` plays them; the line says what takes them."""
    selfplay.play("six_card_v0", "rule", "random", boards=3, out="hands.jsonl")
    said = error_of(capsys, "export", "hands.jsonl", "out.npz")
    assert said.startswith("none of the 6 games is finished")
    assert "--episode hand" in said
    assert run("export", "hands.jsonl", "out.npz", "--episode", "hand") == 0
    assert "in 6 episodes of 6 games\n" in capsys.readouterr().out


def test_bad_input_is_one_line_and_nothing_is_written(games, capsys):
    selfplay.play("barrie_v0", "rule", "random", games=2, out="barrie.jsonl")
    Path("text.jsonl").write_text("hello\n")
    Path("empty.jsonl").write_text("")
    Path("mine.npz").write_text("mine")
    cases = {
        (games,): "the following arguments are required: OUT",
        (games, "out.csv"): "'out.csv': a dataset is named NAME.npz, NAME.parquet or minari:ID",
        ("none", "out.npz"): "none cannot be read: No such file or directory",
        ("text.jsonl", "out.npz"): "text.jsonl, line 1: not a line of JSON",
        ("empty.jsonl", "out.npz"): "no game record in empty.jsonl",
        (games, "barrie.jsonl", "out.npz"): "barrie.jsonl, game 1: barrie_v0 among games of six",
        (games, "mine.npz"): "mine.npz exists: choose another file",
        (games, "out.npz", "--gamma", "2"): "gamma=2.0: from 0 to 1",
        (games, "out.npz", "--gamma", "x"): "argument --gamma: invalid float value: 'x'",
        (games, "out.npz", "--player", "bob"): "player='bob': the players are rule, random",
        (games, "out.npz", "--episode", "day"): "argument --episode: invalid choice: 'day'",
        ("mine.npz", "mine.npz", "--force"): "mine.npz cannot be read and replaced at once",
    }
    before = sorted(os.listdir())
    for arguments, said in cases.items():
        assert said in error_of(capsys, "export", *arguments)
    assert sorted(os.listdir()) == before
    assert Path("mine.npz").read_text() == "mine"


def test_ctrl_c_leaves_the_old_file(games, capsys, monkeypatch):
    """Also when some of the new one is on disk."""
    add, sizes = DatasetWriter.add, []

    def interrupted(self, steps, finals):
        if self.decisions:
            sizes.extend(os.fstat(each.fileno()).st_size for each in self._file._waiting.values())
            raise KeyboardInterrupt
        add(self, steps, finals)
        for each in self._file._waiting.values():
            each.flush()

    Path("out.npz").write_text("mine")
    monkeypatch.setattr("bideuchre_env.datasets.games.DECISIONS_AT_ONCE", 100)
    monkeypatch.setattr(DatasetWriter, "add", interrupted)
    assert run("export", games, "out.npz", "--force") == 130
    assert sizes
    assert min(sizes) > 0
    assert capsys.readouterr().err == "bideuchre: interrupted\n"
    assert Path("out.npz").read_text() == "mine"
    assert sorted(os.listdir()) == ["games.jsonl", "out.npz"]


@pytest.mark.skipif(sys.platform == "win32", reason="no limits on the size of files here")
@pytest.mark.parametrize("out", ["out.npz", "out.parquet"])
def test_a_file_that_cannot_grow_is_one_line(out, games):
    """As on a full disk: the shell allows 8 KiB a file, or 16."""
    pytest.importorskip({"out.npz": "numpy", "out.parquet": "pyarrow"}[out])
    Path("out.npz").write_text("mine")
    asked = f'ulimit -f 16; "{sys.executable}" -m bideuchre_env export {games} {out} --force'
    done = subprocess.run(["sh", "-c", asked], capture_output=True, text=True, check=False)
    assert done.returncode == 1, done
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"bideuchre: error: {out} could not be written"), line
    assert Path("out.npz").read_text() == "mine"
    assert sorted(os.listdir()) == ["games.jsonl", "out.npz"]
