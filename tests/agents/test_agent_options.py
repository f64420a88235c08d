"""Agents with options by name: `pimc:worlds=20,solved=4`."""

from __future__ import annotations

import pytest

import bideuchre_env
from bideuchre_env import agents, match, records_io
from bideuchre_env.agents import registry
from bideuchre_env.agents.random_agents import RandomAgent
from bideuchre_env.cli import main as cli
from bideuchre_env.envs.solo.players import Player
from bideuchre_env.errors import OptionError
from bideuchre_env.evaluation.boards import LONE_BID, SET

RULES = bideuchre_env.cincinnati_v0.rules


@pytest.fixture(autouse=True)
def no_registered_agents(monkeypatch):
    monkeypatch.setattr(registry, "registered", {})


@pytest.mark.parametrize(
    ("name", "own", "options"),
    [
        ("rule", "rule", {}),
        ("pimc:worlds=20,solved=4", "pimc", {"worlds": 20, "solved": 4}),
        ("expert:standard_errors=1.0,margin=-0.25", "expert",
         {"standard_errors": 1.0, "margin": -0.25}),
        ("net:search=true,veto=1e-3", "net", {"search": True, "veto": 0.001}),
        ("net:search=False,margin=TRUE", "net", {"search": False, "margin": True}),
        ("net:weights=runs/lr=0.1/a.npz", "net", {"weights": "runs/lr=0.1/a.npz"}),
        ("net:weights=2026-01-01", "net", {"weights": "2026-01-01"}),
        ("net:weights='7',veto=7", "net", {"weights": "7", "veto": 7}),
        ("net:weights=1] # 2,veto=020", "net", {"weights": "1] # 2", "veto": "020"}),
        (f"net:weights={'[' * 3000}", "net", {"weights": "[" * 3000}),
        (f"net:weights={'7' * 5000}", "net", {"weights": "7" * 5000}),
    ],
)  # fmt: skip
def test_option_values_are_toml_values_or_else_text(name, own, options):
    parsed = agents.parse(name)
    assert parsed == (own, options)
    assert [type(each) for each in parsed[1].values()] == [type(each) for each in options.values()]


def test_options_in_a_name_are_set_and_stay_in_the_name():
    agent = agents.make("pimc:worlds=7,solved=4", RULES, seed=3)
    assert (agent.worlds, int(agent.space.plans["solved"][0])) == (7, 4)
    assert agent.played_out == agents.make("pimc", RULES).played_out
    assert agent.name == "pimc:worlds=7,solved=4"
    assert agents.make("pimc", RULES, worlds=7).name == agents.make("pimc", RULES).name == "pimc"
    own_seed = agents.make("pimc", RULES, seed=3)
    assert (agent.space.low, agent.space.high) == (own_seed.space.low, own_seed.space.high)
    for option in ("worlds", "solved"):
        with pytest.raises(
            OptionError, match=f"'pimc:worlds=3', {option}: expected options either"
        ):
            agents.make("pimc:worlds=3", RULES, **{option: 3})


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (":worlds=3", "no agent '': the agents are random, cautious"),
        ("pimc,worlds=3", "no agent 'pimc,worlds=3': the agents are random, cautious"),
        ("pimc:", "'pimc:': cannot parse option '': expected name:option=value,option=value"),
        ("pimc:worlds=3,", "cannot parse option '': expected name:option=value,option=value"),
        ("pimc:worlds", "cannot parse option 'worlds': expected name:option=value"),
        ("pimc:worlds=", "cannot parse option 'worlds=': expected name:option=value"),
        ("pimc:worlds=3,worlds=4", "option 'worlds' is repeated"),
        ("pimc:worlds=1e2", "worlds=100.0: expected a whole number from 1 to 10000"),
        ("pimc:worlds=\u0663", r"worlds='.u0663': expected a whole number"),
        ("pimc:depth=3", "depth=3: no option of 'pimc' .*: it takes worlds, played_out, "),
        ("pimc:clock=3", "clock=3: no option of 'pimc' to give in its name: it takes worlds, "),
        ("pimc:seed=3", "seed=3: no option of 'pimc' .* solved, milliseconds, net_cards, goal$"),
        ("pimc:rules=3", "rules=3: no option of 'pimc'"),
        ("rule:weights=3", "weights=3: no option of 'rule' .*: it takes boldness$"),
        ("random:seed=3", "seed=3: no option of 'random' .*: it takes none$"),
        ("pimc:worlds=3\n", "'pimc:worlds=3.n': expected printable characters"),
    ],
)
def test_an_invalid_name_with_options_is_refused(name, message):
    with pytest.raises(OptionError, match=message):
        agents.make(name, RULES)


def test_options_are_the_parameters_of_the_factory():
    received = []

    class Mine(RandomAgent):
        info = "version 1"  # not agent metadata

        def __init__(self, rules, *, seed=None, depth=1, rate: float = 0.5):
            super().__init__(rules, seed=seed)
            received.append((depth, rate))

    agents.register("mine", Mine)
    assert agents.make("mine:depth=2", RULES).name == "mine:depth=2"
    assert agents.make("mine", RULES, rate=None).name == "Mine"
    assert received == [(2, 0.5), (1, None)]
    with pytest.raises(OptionError, match=r"dept=1: .*did you mean 'depth'.*it takes depth, rate$"):
        agents.make("mine:dept=1", RULES)


@pytest.mark.parametrize("command", ["match pimc:depth=2 rule", "selfplay --agents rule pimc:a"])
def test_a_wrong_option_is_one_line_before_any_file_is_written(
    command, capsys, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    assert cli.main(command.split()) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert "option" in err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["pimc:worlds=2", "a/b", "c:\\d", "what?*", 'a"b<|>', "\xe9"])
def test_file_names_have_no_characters_that_a_system_refuses(name):
    stem = records_io.file_stem("selfplay", name, "seed0")
    assert stem.startswith("selfplay-")
    assert stem.endswith("-seed0")
    assert stem.isascii()
    assert not set('<>:"/\\|?*') & set(stem)


def test_opponents_of_a_learner_take_options():
    assert Player("opponents", "expert:lean=0", RULES).name == "expert:lean=0"
    with pytest.raises(OptionError, match="no option of 'random'"):
        Player("opponents", "random:x=1", RULES)


def test_a_bolder_player_is_set_more_often():
    """Bolder and more timid rule players lose to the default."""
    timid, rule, rash = "timid", "rule", "rash"
    alone = {
        name: match.play(RULES, name, name, boards=400, seed=4).board_rows["contracts"]
        for name in (timid, rule, rash)
    }
    done = {name: contracts.sum(axis=(0, 1)) for name, contracts in alone.items()}
    assert done[timid][SET] < 0.5 * done[rule][SET] < 0.25 * done[rash][SET]
    assert done[timid][LONE_BID] < done[rule][LONE_BID] < done[rash][LONE_BID]
    for name in (timid, rash):
        assert match.play(RULES, rule, name, boards=1000, seed=4).points_per_hand.low > 0
    assert agents.parse(rash) == ("rule", {"boldness": 1})
    bids = match.play(RULES, "always-defend", rule, boards=1000, seed=4).boards.contracts[0]
    assert bids["bid"] < 20
    same = match.play(RULES, rule, "rule:boldness=0", boards=200, seed=4)
    assert (same.board_rows["points"].sum(axis=1) == 0).all()


@pytest.mark.parametrize("boldness", [13, -12.5, float("nan"), "1", True, None])
def test_a_boldness_out_of_range_is_refused(boldness):
    with pytest.raises(OptionError, match=r"boldness=.*: expected tricks from -12 to 12"):
        agents.make("rule", RULES, boldness=boldness)
