"""`bideuchre agents`, and agents of one's own on the command line."""

from __future__ import annotations

import json
import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import numpy as np
import pytest
from support.commands import run
from support.own_agents import write_file

from bideuchre_env import agents
from bideuchre_env.agents import registry
from bideuchre_env.agents.learned import shipped
from bideuchre_env.agents.making import options_of
from bideuchre_env.agents.registry import find
from bideuchre_env.learning.weights import write_weights


@pytest.fixture(autouse=True)
def _a_folder_of_ones_own(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(registry, "registered", {})
    monkeypatch.setattr(sys, "path", [*sys.path])
    write_file(tmp_path)
    for name in ("mine",):  # imported by name: each test has its own
        monkeypatch.delitem(sys.modules, name, raising=False)


def test_every_built_in_agent_has_metadata():
    """A sentence, a time, and a meaning for every option but those that only Python can give."""
    for name in registry.BUILT_IN:
        info = find(name).info
        assert info.description
        assert info.milliseconds > 0
        in_python = {"rule": {"weights"}, "expert": {"wanted", "network"}}.get(name, {"clock"})
        assert info.options.keys() <= options_of(find(name)).keys()
        assert options_of(find(name)).keys() - info.options.keys() <= in_python


@pytest.mark.parametrize("width", [60, 80])
def test_the_list_has_all_and_fits_a_screen(width, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", str(width))
    assert run("agents") == 0
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= width
    words = " ".join(out.split())
    for name in agents.names():
        assert f"\n{name}\n  " in f"\n{out}"
        assert f"{name} {find(name).info.description} " in words
    assert "  worlds=200 " in out
    assert "./file.py:AGENT" in out


def test_the_list_as_json(capsys):
    assert run("agents", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert tuple(told) == agents.names()
    assert told["random"]["options"] == []
    assert told["pimc"]["milliseconds"] > 1
    worlds = {"name": "worlds", "default": 200, "required": False}
    assert {**worlds, "meaning": "deals that a card is tried in"} in told["pimc"]["options"]


def test_installed_and_registered_agents_are_listed_and_one_that_is_torn_says_so(
    monkeypatch, capsys
):
    entries = [
        EntryPoint("theirs", "support.own_agents:Told", registry.GROUP),
        EntryPoint("torn", "nowhere_at_all:Agent", registry.GROUP),
    ]
    installed = {entry.name: entry for entry in entries}
    monkeypatch.setattr(registry, "installed", lambda: installed)
    agents.register("mine", lambda rules, *, depth: None)
    assert run("agents") == 0
    out = capsys.readouterr().out
    assert "\ntheirs\n  Notes what it is told of the game, and takes" in out
    assert "  depth=1" in out
    assert "\ntorn\n  agent 'torn' (nowhere_at_all:Agent): ModuleNotFoundError" in out
    assert "\nmine\n  depth   has to be given\n" in out
    assert run("agents", "--json") == 0
    assert "nowhere_at_all" in json.loads(capsys.readouterr().out)["torn"]["error"]


def test_one_agent_of_ones_own(capsys):
    assert run("agents", "./mine.py:Net") == 0
    out = capsys.readouterr().out
    assert out.startswith("./mine.py:Net\n  The legal action with the most weight.\n")
    assert "weights   " in out
    assert "scale=1.0" in out
    assert "flag=false" in out


@pytest.fixture
def learned(monkeypatch, tmp_path):
    """The agent `net`, as shipped with weights for one variant, in a file that is here too."""
    file = tmp_path / "net-cincinnati_v0.npz"
    made = {"variant": "cincinnati_v0", "seed": "7", "command": "python learn.py --seed 7"}
    write_weights(file, {"a": np.zeros(1)}, made | {"colour": "\x1b[31mred"})
    monkeypatch.setattr(shipped, "file_of", lambda *named: tmp_path / f"{'-'.join(named)}.npz")
    return file


def test_how_weights_were_made_is_told(learned, capsys):
    """By variant where they are the package's, or of any file; in the list, for which games."""
    lines = (
        "colour: \\x1b[31mred",
        "seed: 7",
        "variant: cincinnati_v0",
        "command: python learn.py --seed 7",
    )
    told = "".join(f"\n    {line}" for line in lines) + "\n"
    for name, place in (("net", "cincinnati_v0"), (f"net:weights={learned.name}", learned.name)):
        assert run("agents", name) == 0
        assert f"\n\n  weights: {place}{told}" in capsys.readouterr().out
        assert run("agents", name, "--json") == 0
        found = json.loads(capsys.readouterr().out)["net"]["weights"]
        assert found[place]["command"] == "python learn.py --seed 7"
    assert run("agents") == 0
    out = capsys.readouterr().out
    assert "\n  weights for cincinnati_v0\n" in out
    assert "learn.py" not in out


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("agents experd", "did you mean 'expert'?"),
        ("agents ./mine.py:Nett", "did you mean 'Net'?"),
        ("agents net:weights=none.npz", "none.npz cannot be read: No such file"),
        ("agents net:weights=mine.py", "mine.py is damaged, or not a .npz file of weights"),
        ("match ./mine.py:Stumbles rule", "./mine.py:Stumbles': IndexError: list index out of"),
        ("match ./mine.py:Net:weights=c.npz rule", "FileNotFoundError"),
        ("match ./nothing.py:Net rule", "there is no file './nothing.py'"),
        ("selfplay --agents ./mine.py:broken rule", "LookupError: no weights (mine.py, line "),
    ],
)
def test_what_goes_wrong_in_an_agent_is_one_line(command, told, learned, capsys, tmp_path):
    before = sorted(tmp_path.iterdir())
    assert run(*command.split()) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert told in err
    assert [path for path in sorted(tmp_path.iterdir()) if path.suffix != ""] == before


def test_two_checkpoints_of_ones_own_in_one_line(capsys):
    names = [f"./mine.py:Net:weights={each}.npz" for each in "ab"]
    assert run("match", *names, "--boards", "8", "--games", "3", "--json", "-") == 0
    data = json.loads(capsys.readouterr().out)
    assert data["agents"] == list(data["contracts"]) == names
    assert (data["mode"], sum(data["games"].values())) == ("boards", 4)


def test_self_play_records_name_agents_of_ones_own(capsys):
    pair = ["./mine.py:First", "mine:Last"]
    assert run("selfplay", "--agents", *pair, "--boards", "4", "--json") == 0
    data = json.loads(capsys.readouterr().out)
    assert (data["mode"], data["agents"]) == ("boards", pair)
    assert data["records"].endswith("-._mine.py_First-mine_Last-seed0.jsonl")
    deep = "./" + 150 * "./" + "mine.py:First"
    assert run("selfplay", "--agents", deep, deep, "--boards", "1", "--json") == 0
    assert len(Path(json.loads(capsys.readouterr().out)["records"]).name) < 255
