"""`bideuchre prepare`: a file of rules is learned, listed, and used by the next match."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from bideuchre_env._intervals import Interval
from bideuchre_env.agents.prepared import prepared_file, prepared_folder
from bideuchre_env.cli.main import main
from bideuchre_env.cli.options import variant_of
from bideuchre_env.cli.prepare import summary
from bideuchre_env.learning.weights import read_weights, write_weights
from bideuchre_env.training import prepare
from bideuchre_env.training.prepare import Prepared

TOLD = re.compile(r"(\w+): \S+ points per hand over .* \(95 % interval (\S+) to \S+\)[:,] (.*)")
COMMAND = "bideuchre prepare six_card_v0 --option target=21 --hands 1000 --seed 0"


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "farm.toml").write_text('base = "six_card_v0"\nname = "up/down"\ntarget = 21\n')


@pytest.fixture
def rules():
    return variant_of(Path("farm.toml"), []).rules


def run(*arguments):
    return main([*arguments])


def test_a_game_is_prepared_and_listed(monkeypatch, capsys, rules):
    """On 20 real boards: what they surely show to be better is kept, and listed; the rest is not.

    One that is kept whatever they show is listed with all that makes it again.
    """
    monkeypatch.setattr(prepare, "Preparation", partial(prepare.Preparation, boards=20))
    assert run("prepare") == 0
    assert capsys.readouterr().out.startswith("nothing is prepared in ")
    assert run("prepare", "farm.toml", "--hands", "1000") == 0
    lines = [found for found in map(TOLD.match, capsys.readouterr().out.splitlines()) if found]
    assert [line[1] for line in lines] == ["expert", "net"]
    for kind, low, became in (line.groups() for line in lines):
        file = prepared_file(kind, rules)
        assert file.exists() == (float(low) > 0)
        assert became == f"kept in {file}" if float(low) > 0 else became.startswith("left out")
    monkeypatch.setattr(prepare, "surely_better", lambda points: True)
    assert run("prepare", "farm.toml", "--hands", "1000", "--force") == 0
    capsys.readouterr()
    assert run("prepare") == 0
    listed = [line for line in capsys.readouterr().out.splitlines() if COMMAND in line]
    assert [line.split()[:2] for line in listed] == [["up/down", "expert"], ["up/down", "net"]]


@pytest.mark.parametrize(
    ("interval", "said"),
    [
        ((0.2, 0.1, 0.3), "(95 % interval +0.10 to +0.30): kept in x"),
        ((0.2, -0.1, 0.5), "that may be luck, for the interval reaches down to 0; as it was"),
        ((-0.2, -0.3, -0.1), "left out, it is worse; as it was"),
        ((0.2, None, None), "(no interval from so few boards): left out, that may be luck"),
    ],
)
def test_it_is_told_why_something_is_kept_or_not(interval, said):
    points = Interval(*interval)
    kept = prepare.surely_better(points)
    line = summary(Prepared("net", Path("x"), kept, "the net as it was", points, "as it was"))
    assert line.startswith(f"net: {points.mean:+.2f} points per hand over the net as it was (")
    assert said in line


def test_a_file_that_cannot_be_used_is_listed_in_words(capsys, rules):
    """Damaged, of nothing known, of another game, with a terminal's commands in it: one line."""
    folder = prepared_folder()
    folder.mkdir(parents=True)
    (folder / "expert-1.npz").write_bytes(b"nonsense")
    write_weights(folder / "expert-2.npz", {"x": np.ones(1, np.float32)}, {})
    made = {"settings": '{"rules": "ranks = 7\x1b[2J"}', "kind": "net"}
    write_weights(folder / "expert-3.npz", {"x": np.ones(1, np.float32)}, made)
    (folder / "expert-4.npz").mkdir()
    file = prepared_file("expert", rules)
    wrong = {**made, "settings": prepare.Preparation(variant_of("farm.toml", [])).made["settings"]}
    write_weights(file, {"x": np.ones(1, np.float32)}, wrong)
    assert run("prepare") == 0
    out = capsys.readouterr().out
    lines = [line for line in out.splitlines() if "cannot be used" in line]
    assert len(lines) == len(out.splitlines()) == 5
    assert all(line.endswith("delete it") for line in lines)
    assert "\x1b" not in out
    assert read_weights(file).metadata == wrong


def test_without_a_home_the_list_says_so(monkeypatch, capsys):
    def homeless(path):
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.delenv("LOCALAPPDATA", raising=False)
    monkeypatch.setattr(Path, "expanduser", homeless)
    assert run("prepare") == 0
    assert "nothing is prepared: this user has no home" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["barrie_v0"], "barrie_v0 needs no preparing"),
        (["nonsense"], "nonsense"),
        (["missing.toml"], "missing.toml"),
        (["barrie_v0", "--option", "partnered=[5, 8]", "--hands", "10"], "hands=10"),
        (["barrie_v0", "--option", "partnered=[5, 8]", "--seed", "-1"], "seed"),
        (["--option", "target=40"], "--option is for a game to prepare: name it"),
        (["--hands", "300000"], "--hands is for a game to prepare"),
        (["--seed", "0"], "--seed is for a game to prepare"),
        (["--force"], "--force is for a game to prepare"),
    ],
)
def test_odd_requests_are_one_line(arguments, said, capsys):
    assert run("prepare", *arguments) == 2
    err = capsys.readouterr().err
    assert said in err
    assert err.count("\n") == 1
