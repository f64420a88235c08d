"""`bideuchre agents` with custom agents, `prepare` with custom rules, and `export`."""

import io
import json
import re
import sys
from functools import partial
from importlib.metadata import EntryPoint
from pathlib import Path

import numpy as np
import pytest
from support.commands import run
from support.custom_agents import write_file

from bideuchre_env import agents, match
from bideuchre_env._intervals import wilson
from bideuchre_env.agents import registry
from bideuchre_env.agents.learned import shipped
from bideuchre_env.agents.making import options_of
from bideuchre_env.agents.prepared import prepared_file, prepared_folder
from bideuchre_env.agents.registry import find
from bideuchre_env.cli.agents import lone_contracts
from bideuchre_env.cli.options import variant_of
from bideuchre_env.envs.registration import variants
from bideuchre_env.learning.weights import Weights, read_weights, write_parts, write_weights
from bideuchre_env.play.levels import LEVELS
from bideuchre_env.training import prepare


@pytest.fixture(autouse=True)
def own_files(folder, monkeypatch):
    """Files of agents and rules, and an empty cache; imports and registrations are undone."""
    monkeypatch.setattr(registry, "registered", {})
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delitem(sys.modules, "mine", raising=False)
    write_file(folder)
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
    Path("farm.toml").write_text('base = "six_card_v0"\nname = "up/down"\ntarget = 21\n')


@pytest.mark.parametrize("name", registry.BUILT_IN)
def test_a_built_in_agent_describes_itself_and_its_options(name):
    """Every option has a description, except those that only Python code can set."""
    info = find(name).info
    assert info.description
    assert info.milliseconds > 0
    in_python = {"rule": {"weights"}, "expert": {"wanted", "network"}}.get(name, {"clock"})
    assert info.options.keys() <= options_of(find(name)).keys()
    assert options_of(find(name)).keys() - info.options.keys() <= in_python


def test_the_agents_of_levels_make_most_of_their_lone_contracts(capsys):
    """More than half at the easiest level, and more than three in five at the others."""
    for level, (name, _) in LEVELS.items():
        counts = lone_contracts()[name]
        assert run("agents", name) == 0
        words = " ".join(capsys.readouterr().out.partition("lone contracts made: ")[2].split())
        for variant, count in counts.items():
            assert variant in variants
            share = f"{variant} {count['made']:,} of {count['bid']:,} ("
            assert (share in words) == (count["bid"] > 0)
            if interval := wilson(count["made"], count["bid"]):
                limits = f"95% interval {interval.low:.0%} to {interval.high:.0%})"
                assert f"{share}{interval.mean:.0%}, {limits}" in words
        made, bid = (sum(count[key] for count in counts.values()) for key in ("made", "bid"))
        assert made > (0.5 if level == "easy" else 0.6) * bid > 0


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
    file = folder / "cincinnati_v0.npz"
    weights = Weights({"a": np.zeros(1)}, {"seed": "7", "colour": "\x1b[31mred"})
    write_parts(file, {"net": weights})
    own = {"cincinnati_v0": read_weights(file, "net").metadata}
    monkeypatch.setattr(shipped, "provenance", lambda kind: own)
    digest = own["cincinnati_v0"]["digest"]
    text = f"\n    colour: \\x1b[31mred\n    digest: {digest}\n    seed: 7\n"
    for name, place in (("net", "cincinnati_v0"), (f"net:weights={file.name}", file.name)):
        assert run("agents", name) == 0
        assert f"\n\n  weights: {place}{text}" in capsys.readouterr().out
        assert run("agents", name, "--json") == 0
        weights = json.loads(capsys.readouterr().out)["net"]["weights"]
        assert weights[place]["seed"] == "7"


def test_of_several_files_of_weights_only_the_commands_are_printed(folder, monkeypatch, capsys):
    games = {"cincinnati_v0": {"command": "train --first"}, "barrie_v0": {"settings": {"seed": 7}}}
    monkeypatch.setattr(shipped, "provenance", lambda kind: games)
    write_parts(folder / "mine.npz", {"net": Weights({"a": np.zeros(1)}, games["barrie_v0"])})
    assert run("agents", "net") == 0
    out = capsys.readouterr().out
    assert "\n    barrie_v0: unknown\n    cincinnati_v0: train --first\n" in out
    assert "settings" not in out
    assert run("agents", "net", "--json") == 0
    assert json.loads(capsys.readouterr().out)["net"]["weights"] == games
    assert run("agents", "net:weights=mine.npz") == 0
    assert '\n    settings: {"seed": 7}\n' in capsys.readouterr().out


RESULT = re.compile(r"(\w+): \S+ points per hand over .* \(95 % interval (\S+) to \S+\)[:,] (.*)")
COMMAND = "bideuchre prepare --variant six_card_v0 --option target=21 --hands 1000 --seed 0"


@pytest.fixture
def rules():
    return variant_of(Path("farm.toml"), []).rules


@pytest.mark.slow
def test_a_game_is_prepared_and_listed(monkeypatch, capsys, rules):
    """With 20 boards, a network is saved only if it is significantly better."""
    monkeypatch.setattr(prepare, "Preparation", partial(prepare.Preparation, boards=20))
    assert run("prepare") == 0
    assert capsys.readouterr().out.startswith("nothing is prepared in ")
    assert run("prepare", "--rules", "farm.toml", "--hands", "1000") == 0
    lines = list(filter(None, map(RESULT.match, capsys.readouterr().out.splitlines())))
    assert [line[1] for line in lines] == ["expert", "net"]
    file = prepared_file(rules)
    assert file.exists() == any(float(line[2]) > 0 for line in lines)
    for _, low, outcome in (line.groups() for line in lines):
        assert outcome == f"saved in {file}" if float(low) > 0 else outcome.startswith("discarded")
    monkeypatch.setattr(prepare, "surely_better", lambda points: True)
    assert run("prepare", "--rules", "farm.toml", "--hands", "1000", "--force") == 0
    capsys.readouterr()
    assert run("prepare") == 0
    listed = [line for line in capsys.readouterr().out.splitlines() if COMMAND in line]
    assert [line.split()[:2] for line in listed] == [["up/down", "expert"], ["up/down", "net"]]
    moved = prepared_folder() / "other-rules.npz"
    prepared_file(rules).rename(moved)
    assert run("prepare") == 0
    [line] = [each for each in capsys.readouterr().out.splitlines() if "cannot be used" in each]
    assert moved.name in line


def test_files_that_cannot_be_used_are_listed_without_control_characters(capsys, rules):
    folder = prepared_folder()
    folder.mkdir(parents=True)
    (folder / "expert-1.npz").write_bytes(b"nonsense")
    write_weights(folder / "expert-2.npz", {"x": np.ones(1, np.float32)}, {})
    made = {"settings": '{"rules": "ranks = 7\x1b[2J"}', "kind": "net"}
    write_weights(folder / "expert-3.npz", {"x": np.ones(1, np.float32)}, made)
    (folder / "expert-4.npz").mkdir()
    file = prepared_file(rules)
    wrong = {**made, "settings": prepare.Preparation(variant_of("farm.toml", [])).made["settings"]}
    write_weights(file, {"x": np.ones(1, np.float32)}, wrong)
    assert run("prepare") == 0
    out = capsys.readouterr().out
    lines = [line for line in out.splitlines() if "cannot be used" in line]
    assert len(lines) == len(out.splitlines()) == 5
    assert "\x1b" not in out
    assert read_weights(file).metadata == wrong


@pytest.fixture
def games():
    match("six_card_v0", "rule", "random", games=6, seed=4, records="games.jsonl")
    return "games.jsonl"


def test_export_prints_the_size_of_the_dataset(games, capsys, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(Path(games).read_bytes())))
    for source in (games, "-"):
        assert run("export", source, "out.npz", "--force") == 0
        out, err = capsys.readouterr()
        with np.load("out.npz") as file:
            decisions = len(file["action"])
            metadata = json.loads(str(file["metadata"]))
        assert (out, err) == (f"out.npz: {decisions:,} decisions in 6 episodes of 6 games\n", "")
        options = {"episode": "game", "reward": "win", "gamma": 1.0, "forced": True}
        assert options.items() <= metadata.items()


def test_every_option_reaches_the_dataset(games, capsys):
    options = ("--episode", "hand", "--reward", "win", "--gamma", "0.5", "--no-forced")
    more = ("--observation", "flat", "--player", "rule")
    assert run("export", games, games, "out.npz", *options, *more) == 0
    assert "of 12 games\n" in capsys.readouterr().out
    with np.load("out.npz") as file:
        metadata = json.loads(str(file["metadata"]))
        assert set(file["players"][file["player"]]) == {"rule"}
        assert file["observation"].dtype == np.float32
        assert not file["forced"].any()
    expected = {"episode": "hand", "reward": "win", "gamma": 0.5, "forced": False, "player": "rule"}
    assert expected.items() <= metadata.items()
