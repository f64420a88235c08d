"""Agents with options by name, `pimc:worlds=20,solved=4`, and the goals of agents."""

import itertools

import numpy as np
import pytest
from support.agent_games import BARRIE, CINCINNATI, SEARCH, Position, searcher

from bideuchre_env import agents, match, records_io
from bideuchre_env.agents import registry
from bideuchre_env.agents.random_agents import RandomAgent
from bideuchre_env.agents.rule.win_curve import POINT_ALONE
from bideuchre_env.core.phases.scoring import played_points
from bideuchre_env.core.table.loop import LONE_BID, SET
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.envs.solo.players import Player
from bideuchre_env.errors import OptionError
from bideuchre_env.rules.cards import CARD_NAMES
from bideuchre_env.rules.rules import Rules
from bideuchre_env.rules.variants import RULES
from bideuchre_env.runtime.jit import entry_kernel

pytestmark = pytest.mark.search


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
    agent = agents.make("pimc:worlds=7,solved=4", CINCINNATI, seed=3)
    assert (agent.worlds, int(agent.space.plans["solved"][0])) == (7, 4)
    assert agent.played_out == agents.make("pimc", CINCINNATI).played_out
    assert agent.name == "pimc:worlds=7,solved=4"
    for options in ({}, {"worlds": 7}):
        assert agents.make("pimc", CINCINNATI, **options).name == "pimc"
    own_seed = agents.make("pimc", CINCINNATI, seed=3)
    assert (agent.space.low, agent.space.high) == (own_seed.space.low, own_seed.space.high)
    for option in ("worlds", "solved"):
        message = f"'pimc:worlds=3', {option}: expected options either"
        with pytest.raises(OptionError, match=message):
            agents.make("pimc:worlds=3", CINCINNATI, **{option: 3})


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
        (
            "pimc:seed=3",
            "seed=3: no option of 'pimc' .* solved, milliseconds, net_cards, callers, goal$",
        ),
        ("pimc:rules=3", "rules=3: no option of 'pimc'"),
        ("rule:weights=3", "weights=3: no option of 'rule' .*: it takes boldness$"),
        ("random:seed=3", "seed=3: no option of 'random' .*: it takes none$"),
        ("pimc:worlds=3\n", "'pimc:worlds=3.n': expected printable characters"),
    ],
)
def test_an_invalid_name_with_options_is_refused(name, message):
    with pytest.raises(OptionError, match=message):
        agents.make(name, CINCINNATI)


def test_options_are_the_parameters_of_the_factory():
    received = []

    class Mine(RandomAgent):
        info = "version 1"  # not agent metadata

        def __init__(self, rules, *, seed=None, depth=1, rate: float = 0.5):
            super().__init__(rules, seed=seed)
            received.append((depth, rate))

    agents.register("mine", Mine)
    assert agents.make("mine:depth=2", CINCINNATI).name == "mine:depth=2"
    assert agents.make("mine", CINCINNATI, rate=None).name == "Mine"
    assert received == [(2, 0.5), (1, None)]
    with pytest.raises(OptionError, match=r"dept=1: .*did you mean 'depth'.*it takes depth, rate$"):
        agents.make("mine:dept=1", CINCINNATI)


@pytest.mark.parametrize("name", ["pimc:worlds=2", "a/b", "c:\\d", "what?*", 'a"b<|>', "\xe9"])
def test_file_names_have_no_characters_that_a_system_refuses(name):
    stem = records_io.file_stem("match", name, "seed0")
    assert stem.startswith("match-")
    assert stem.endswith("-seed0")
    assert stem.isascii()
    assert not set('<>:"/\\|?*') & set(stem)


def test_opponents_of_a_learner_take_options():
    assert Player("opponents", "expert:lean=0", CINCINNATI).name == "expert:lean=0"
    with pytest.raises(OptionError, match="no option of 'random'"):
        Player("opponents", "random:x=1", CINCINNATI)


def test_a_bolder_player_is_set_more_often():
    timid, rule, rash = "timid", "rule", "rash"
    alone = {
        name: match(CINCINNATI, name, name, boards=400, seed=4).board_rows["contracts"]
        for name in (timid, rule, rash)
    }
    done = {name: contracts.sum(axis=(0, 1)) for name, contracts in alone.items()}
    assert done[timid][SET] < 0.5 * done[rule][SET] < 0.25 * done[rash][SET]
    assert done[timid][LONE_BID] < done[rule][LONE_BID] < done[rash][LONE_BID]
    for name in (timid, rash):
        assert match(CINCINNATI, rule, name, boards=1000, seed=4).points_per_hand.low > 0
    assert agents.parse(rash) == ("rule", {"boldness": 1})
    bids = match(CINCINNATI, "always-defend", rule, boards=1000, seed=4).boards.contracts[0]
    assert bids["bid"] < 20
    same = match(CINCINNATI, rule, "rule:boldness=0", boards=200, seed=4)
    assert (same.board_rows["points"].sum(axis=1) == 0).all()


MOON = {"name": "moon", "value": 20}
SMALL_GAME = Rules(  # 20 cards
    ranks="10",
    partnered=(2, 5),
    lone=[{"name": "call-1", "value": 10, "exchange": 1}, MOON],
    target=30,
)
BARRIES_BIDS = BARRIE.replace(ranks="9", copies=1, partnered=(1, 6))  # 24 cards


@pytest.mark.parametrize(
    "rules", [SMALL_GAME, BARRIES_BIDS, BARRIE.replace(copies=1, partnered=(1, 4))]
)
def test_timid_bids_do_not_win_and_most_lone_bids_are_made(rules):
    """In custom games, too."""
    done = match(rules, "rule", "timid", boards=1000, seed=4)
    assert done.points_per_hand.low > 0
    bids = done.boards.contracts[0]
    assert bids["lone_bid"] > 100
    assert bids["lone_made"] > 0.5 * bids["lone_bid"]


SCORES = ((0, 0), (28, 5), (0, 31), (-20, 31))


@pytest.mark.parametrize("variant", ["cincinnati_v0", "barrie_v0", "double_deck_v0"])
def test_for_points_no_call_depends_on_the_score(variant):
    rules, rng = RULES[variant], np.random.default_rng(2)
    deck = np.repeat(np.array(CARD_NAMES[: rules.kinds]), rules.copies)
    changed = dict.fromkeys(("game", "points"), 0)
    for _ in range(40):
        hand = " ".join(rng.permutation(deck)[: rules.tricks])
        for goal in changed:
            calls = set()
            for score in SCORES:
                position = Position(rules, {1: hand}, score=score)
                position.agent = agents.make("expert", rules, goal=goal)
                calls.add(position.choice())
            changed[goal] += len(calls) > 1
    assert changed["points"] == 0 < changed["game"]


@entry_kernel
def fill_points(tables, level, points):
    """Write the declarer's point difference in a partnered contract, by its tricks."""
    for won in range(len(points)):
        ours, theirs, _ = played_points(tables[0], level, won, True)
        points[won] = ours - theirs


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("name", SEARCH)
def test_a_search_for_points_values_results_in_points(name, score):
    position = Position(CINCINNATI, {1: "JH JD AH KH QS 9C"}, score=score)
    position.do("bid 5, pass, pass, pass, trump H")
    agent = searcher(name, CINCINNATI, goal="points")
    row, mask = position.look()
    assert mask[agent.act(row, mask)]
    points = np.zeros(CINCINNATI.tricks + 1)
    fill_points(compile_tables(CINCINNATI), 2, points)  # a bid of 5
    assert agent.space.plans["by_tricks"][0][: len(points)] == pytest.approx(POINT_ALONE * points)
    for seat in (agent.space.expert, agent.space.players):
        assert seat.views["for_points"].tolist() == [1]


@pytest.mark.parametrize("name", ["expert", *SEARCH])
def test_the_goal_of_a_name_precedes_that_of_the_caller(name):
    assert agents.make(name, CINCINNATI).goal == "game"
    assert agents.make(f"{name}:goal=points", CINCINNATI, goal="game").goal == "points"


NAN = float("nan")
ERROR, POINTS = "expected a number from 0 to 100", "expected points from 0 to 100"
COUNT, LIMIT = "expected a whole number from 1 to 10000", "above 0 and up to 3,600,000"
INVALID = [  # agents, an option, bad values, and a part of the message
    ("expert", "network", [np.zeros(3)], "expected a .call_network.CallNetwork"),
    ("expert", "wanted", [(1,), (-1,) * 13], "expected 13 whole numbers from 0"),
    ("expert", "margin", ["x", NAN], ERROR),
    ("expert", "standard_errors", [-1], ERROR),
    ("expert", "lean", [10**9], "expected a whole number from 0 to 100"),
    ("rule", "boldness", [13, -12.5, NAN, "1", True, None], "expected tricks from -12 to 12"),
    ("net", "margin", [-1, NAN], POINTS),
    ("net", "veto", ["x"], POINTS),
    ("net", "search", [1], "expected True or False"),
    ("net", "depth", [3], "no option of 'net': it takes weights, search, margin, veto, goal"),
    ("net ppo", "weights", [3], "expected a file, or None for the package's own"),
    ("pimc inference", "worlds", [0, -3, 2.5, "20", True, 10**6, None], COUNT),
    ("pimc inference", "played_out", [0, 2.5, "20", True, 10**6, None], COUNT),
    ("pimc inference", "milliseconds", [0, -1.0, "1", True, NAN, float("inf")], LIMIT),
    ("pimc inference", "considered", [-1, 1001, 1.5, "9", False], "number from 0 to 1000"),
    ("pimc inference", "solved", [-1, 13, 2.0, "3", True, None], "a whole number from 0 to 12"),
    ("expert pimc inference", "goal", ["win", "", 1, np.zeros(2)], "one of 'points', 'game'"),
]


@pytest.mark.parametrize(("names", "option", "values", "message"), INVALID)
def test_invalid_values_of_options_are_refused(names, option, values, message):
    for name, value in itertools.product(names.split(), values):
        with pytest.raises(OptionError, match=rf"^{option}.*{message}"):
            agents.make(name, CINCINNATI, **{option: value})
