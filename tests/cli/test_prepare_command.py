"""`bideuchre prepare`: networks for custom rules are learned and listed."""

import re
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from support.commands import run

from bideuchre_env.agents.prepared import prepared_file, prepared_folder
from bideuchre_env.cli.options import variant_of
from bideuchre_env.learning.weights import read_weights, write_weights
from bideuchre_env.training import prepare

RESULT = re.compile(r"(\w+): \S+ points per hand over .* \(95 % interval (\S+) to \S+\)[:,] (.*)")
COMMAND = "bideuchre prepare six_card_v0 --option target=21 --hands 1000 --seed 0"


@pytest.fixture(autouse=True)
def own_cache(folder, monkeypatch):
    """Use an empty cache folder, and write custom rules to `farm.toml`."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
    Path("farm.toml").write_text('base = "six_card_v0"\nname = "up/down"\ntarget = 21\n')


@pytest.fixture
def rules():
    return variant_of(Path("farm.toml"), []).rules


def test_a_game_is_prepared_and_listed(monkeypatch, capsys, rules):
    """With 20 boards, a network is saved only if it is significantly better."""
    monkeypatch.setattr(prepare, "Preparation", partial(prepare.Preparation, boards=20))
    assert run("prepare") == 0
    assert capsys.readouterr().out.startswith("nothing is prepared in ")
    assert run("prepare", "farm.toml", "--hands", "1000") == 0
    lines = list(filter(None, map(RESULT.match, capsys.readouterr().out.splitlines())))
    assert [line[1] for line in lines] == ["expert", "net"]
    for kind, low, outcome in (line.groups() for line in lines):
        file = prepared_file(kind, rules)
        assert file.exists() == (float(low) > 0)
        assert outcome == f"saved in {file}" if float(low) > 0 else outcome.startswith("discarded")
    monkeypatch.setattr(prepare, "surely_better", lambda points: True)
    assert run("prepare", "farm.toml", "--hands", "1000", "--force") == 0
    capsys.readouterr()
    assert run("prepare") == 0
    listed = [line for line in capsys.readouterr().out.splitlines() if COMMAND in line]
    assert [line.split()[:2] for line in listed] == [["up/down", "expert"], ["up/down", "net"]]
    moved = prepared_folder() / "expert-of-other-rules.npz"
    prepared_file("expert", rules).rename(moved)
    assert run("prepare") == 0
    [line] = [each for each in capsys.readouterr().out.splitlines() if "cannot be used" in each]
    assert moved.name in line


def test_files_that_cannot_be_used_are_listed_without_control_characters(capsys, rules):
    """The files are damaged, without metadata, of another game, or contain escape codes."""
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
    assert "\x1b" not in out
    assert read_weights(file).metadata == wrong
