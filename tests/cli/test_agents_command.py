"""`bideuchre agents`, and custom agents on the command line."""

import json
import sys
from importlib.metadata import EntryPoint

import numpy as np
import pytest
from support.commands import run
from support.custom_agents import write_file

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
    """Every option has a description, except those that only Python code can set."""
    info = find(name).info
    assert info.description
    assert info.milliseconds > 0
    in_python = {"rule": {"weights"}, "expert": {"wanted", "network"}}.get(name, {"clock"})
    assert info.options.keys() <= options_of(find(name)).keys()
    assert options_of(find(name)).keys() - info.options.keys() <= in_python


def test_the_list_has_every_agent(capsys):
    assert run("agents") == 0
    out = capsys.readouterr().out
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
    assert {**worlds, "meaning": "sampled deals for a card"} in listed["pimc"]["options"]


def test_installed_and_registered_agents_are_listed_with_their_errors(monkeypatch, capsys):
    entries = {
        "theirs": EntryPoint("theirs", "support.custom_agents:Recorder", registry.GROUP),
        "torn": EntryPoint("torn", "nowhere_at_all:Agent", registry.GROUP),
    }
    monkeypatch.setattr(registry, "installed", lambda: entries)
    agents.register("mine", lambda rules, *, depth: None)
    assert run("agents") == 0
    out = capsys.readouterr().out
    assert "\ntheirs\n  Records its constructor arguments, and takes" in out
    assert "  depth=1" in out
    assert "\ntorn\n  agent 'torn' (nowhere_at_all:Agent): ModuleNotFoundError" in out
    assert "\nmine\n  depth   required\n" in out


def test_a_custom_agent_is_described_with_its_options(capsys):
    assert run("agents", "./mine.py:Net") == 0
    out = capsys.readouterr().out
    assert out.startswith("./mine.py:Net\n  The legal action with the most weight.\n")
    for option in ("weights   ", "scale=1.0", "flag=false"):
        assert option in out


def test_the_metadata_of_weights_is_printed(folder, monkeypatch, capsys):
    """Metadata is by variant for packaged weights, or of a file; escape codes are escaped."""
    file = folder / "net-cincinnati_v0.npz"
    write_weights(file, {"a": np.zeros(1)}, {"seed": "7", "colour": "\x1b[31mred"})
    monkeypatch.setattr(shipped, "file_of", lambda *names: folder / f"{'-'.join(names)}.npz")
    text = "\n    colour: \\x1b[31mred\n    seed: 7\n"
    for name, place in (("net", "cincinnati_v0"), (f"net:weights={file.name}", file.name)):
        assert run("agents", name) == 0
        assert f"\n\n  weights: {place}{text}" in capsys.readouterr().out
        assert run("agents", name, "--json") == 0
        weights = json.loads(capsys.readouterr().out)["net"]["weights"]
        assert weights[place]["seed"] == "7"
