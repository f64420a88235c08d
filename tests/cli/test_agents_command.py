"""`bideuchre agents`, and custom agents on the command line."""

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
def own_agents(folder, monkeypatch):
    """A file of agents in the folder; imports and registrations are undone after the test."""
    monkeypatch.setattr(registry, "registered", {})
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delitem(sys.modules, "mine", raising=False)
    write_file(folder)


@pytest.mark.parametrize("name", registry.BUILT_IN)
def test_a_built_in_agent_describes_itself_and_its_options(name):
    """All but the options that only Python can give."""
    info = find(name).info
    assert info.description
    assert info.milliseconds > 0
    in_python = {"rule": {"weights"}, "expert": {"wanted", "network"}}.get(name, {"clock"})
    assert info.options.keys() <= options_of(find(name)).keys()
    assert options_of(find(name)).keys() - info.options.keys() <= in_python


@pytest.mark.parametrize("width", [60, 80])
def test_the_list_has_every_agent_and_fits_the_screen(width, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", str(width))
    assert run("agents") == 0
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= width
    words = " ".join(out.split())
    for name in agents.names():
        assert f"{name} {find(name).info.description} " in words
    assert "  worlds=200 " in out


def test_the_list_as_json(capsys):
    assert run("agents", "--json") == 0
    listed = json.loads(capsys.readouterr().out)
    assert tuple(listed) == agents.names()
    assert listed["random"]["options"] == []
    assert listed["pimc"]["milliseconds"] > 1
    worlds = {"name": "worlds", "default": 200, "required": False}
    assert {**worlds, "meaning": "deals that a card is tried in"} in listed["pimc"]["options"]


def test_installed_and_registered_agents_are_listed_with_their_errors(monkeypatch, capsys):
    entries = {
        "theirs": EntryPoint("theirs", "support.own_agents:Told", registry.GROUP),
        "torn": EntryPoint("torn", "nowhere_at_all:Agent", registry.GROUP),
    }
    monkeypatch.setattr(registry, "installed", lambda: entries)
    agents.register("mine", lambda rules, *, depth: None)
    assert run("agents") == 0
    out = capsys.readouterr().out
    assert "\ntheirs\n  Notes what it is told of the game, and takes" in out
    assert "  depth=1" in out
    assert "\ntorn\n  agent 'torn' (nowhere_at_all:Agent): ModuleNotFoundError" in out
    assert "\nmine\n  depth   has to be given\n" in out
    assert run("agents", "--json") == 0
    assert "nowhere_at_all" in json.loads(capsys.readouterr().out)["torn"]["error"]


def test_a_custom_agent_is_described_with_its_options(capsys):
    assert run("agents", "./mine.py:Net") == 0
    out = capsys.readouterr().out
    assert out.startswith("./mine.py:Net\n  The legal action with the most weight.\n")
    for option in ("weights   ", "scale=1.0", "flag=false"):
        assert option in out


def test_the_metadata_of_weights_is_printed(folder, monkeypatch, capsys):
    """By variant where they are shipped, or of any file; a terminal's commands are escaped."""
    file = folder / "net-cincinnati_v0.npz"
    metadata = {"variant": "cincinnati_v0", "seed": "7", "command": "python learn.py --seed 7"}
    write_weights(file, {"a": np.zeros(1)}, metadata | {"colour": "\x1b[31mred"})
    monkeypatch.setattr(shipped, "file_of", lambda *names: folder / f"{'-'.join(names)}.npz")
    lines = (
        "colour: \\x1b[31mred",
        "seed: 7",
        "variant: cincinnati_v0",
        "command: python learn.py --seed 7",
    )
    text = "".join(f"\n    {line}" for line in lines) + "\n"
    for name, place in (("net", "cincinnati_v0"), (f"net:weights={file.name}", file.name)):
        assert run("agents", name) == 0
        assert f"\n\n  weights: {place}{text}" in capsys.readouterr().out
        assert run("agents", name, "--json") == 0
        weights = json.loads(capsys.readouterr().out)["net"]["weights"]
        assert weights[place]["command"] == "python learn.py --seed 7"
    assert run("agents") == 0
    assert "\n  weights for cincinnati_v0\n" in capsys.readouterr().out


def test_records_of_self_play_are_named_after_custom_agents(capsys):
    pair = ["./mine.py:First", "mine:Last"]
    assert run("selfplay", "--agents", *pair, "--boards", "4", "--json") == 0
    data = json.loads(capsys.readouterr().out)
    assert (data["mode"], data["agents"]) == ("boards", pair)
    assert data["records"].endswith("-._mine.py_First-mine_Last-seed0.jsonl")
    deep = "./" + 150 * "./" + "mine.py:First"
    assert run("selfplay", "--agents", deep, deep, "--boards", "1", "--json") == 0
    assert len(Path(json.loads(capsys.readouterr().out)["records"]).name) < 255
