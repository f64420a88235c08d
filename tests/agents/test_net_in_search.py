"""The net in search agents: playouts, and priors of cards."""

import numpy as np
import pytest
from support.agent_games import decisions, look

from bideuchre_env import agents
from bideuchre_env.agents.expert.agent import NO_SEARCH
from bideuchre_env.agents.learned.net import NetAgent
from bideuchre_env.agents.learned.shipped import network_of, shipped_weights
from bideuchre_env.agents.rule.win_curve import POINT_ALONE
from bideuchre_env.agents.search.agent import InferenceAgent, PimcAgent
from bideuchre_env.agents.search.candidates import NET_ERROR, begin
from bideuchre_env.agents.search.playouts import play_out
from bideuchre_env.core.rows import apply_rows
from bideuchre_env.core.state import AUCTION, DEAL, GIVING, NAMING, PASSING, PLAY
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.errors import OptionError
from bideuchre_env.learning.features import features_of
from bideuchre_env.learning.network import evaluate
from bideuchre_env.rules.variants import RULES
from bideuchre_env.runtime.jit import entry_kernel
from bideuchre_env.solver import solve


@entry_kernel
def finished(space):
    """The tricks of side 0 after the simulated world is played out."""
    return play_out(space)


def in_python(rules, state, calls, cards, left=0):
    """The state after agent `calls` plays the auction and agent `cards` all else, in Python.

    The play stops when `left` tricks are left.
    """
    states, tables = state.copy().reshape(1), compile_tables(rules)
    while states["phase"][0] < DEAL:
        if states["phase"][0] == PLAY and rules.tricks - states["trick"][0] <= left:
            break
        player = calls if states["phase"][0] in (AUCTION, NAMING) else cards
        apply_rows(
            states, tables, np.arange(1), player.act_rows(*look(rules, states, np.arange(1)))
        )
    return states[0]


@pytest.mark.parametrize("variant", RULES)
def test_playouts_use_calls_of_the_expert_and_cards_of_the_net_or_expert(variant):
    """In playouts, from every phase, the expert and the net play without a search."""
    rules = RULES[variant]
    searcher = InferenceAgent(rules, seed=1, solved=0)
    expert, net = agents.make("expert", rules, wanted=NO_SEARCH), agents.make("net", rules)
    by_expert = PimcAgent(rules, seed=1, solved=0)
    searcher.space.plans["plays_net"] = 1
    phases, differ = set(), 0
    for _, _, state in decisions(rules, 3, seed=12):
        phases.add(int(state["phase"]))
        for agent, cards in ((searcher, net), (by_expert, expert)):
            agent.space.simulated[0] = state
            won = finished(agent.space)
            end = in_python(rules, state, expert, cards)
            assert won == end["tricks_won"][0]
            assert np.array_equal(agent.space.simulated[0]["plays"], end["plays"])
        differ += not np.array_equal(searcher.space.simulated[0]["plays"], end["plays"])
    expected = {AUCTION, PLAY} if rules.strain_named == "in_bid" else {AUCTION, NAMING, PLAY}
    if any(bid.exchange for bid in rules.lone):
        expected |= {GIVING, PASSING}
    assert phases >= expected
    assert differ > 3


@pytest.mark.parametrize("variant", ["cincinnati_v0", "barrie_v0"])
def test_the_solver_plays_the_last_tricks_of_a_playout(variant):
    """The last three tricks are played with all hands open."""
    rules = RULES[variant]
    searcher = InferenceAgent(rules, seed=1, solved=3)
    searcher.space.plans["plays_net"] = 1
    expert, net = agents.make("expert", rules, wanted=NO_SEARCH), agents.make("net", rules)
    checked = 0
    for _, _, state in decisions(rules, 6, seed=13, every=5):
        left = in_python(rules, state, expert, net, left=3)
        searcher.space.simulated[0], searcher.space.plans["solver_ready"] = state, 0
        won = finished(searcher.space)
        if left["phase"] == PLAY:
            more, still = solve(left.reshape(1), rules=rules), rules.tricks - left["trick"]
            assert won == left["tricks_won"][0] + (still - more if left["turn"] & 1 else more)
            checked += 1
    assert checked > 10


@pytest.mark.parametrize("variant", ["cincinnati_v0", "barrie_v0", "double_deck_v0"])
@pytest.mark.parametrize("goal", ["points", "game"])
def test_priors_are_the_outputs_of_the_net(variant, goal):
    """The net's card is the first candidate; priors are the network's outputs, in points."""
    rules, checked = RULES[variant], 0
    agent = InferenceAgent(rules, seed=1, goal=goal)
    net, plain = NetAgent(rules, search=True), NetAgent(rules, margin=0.0)
    network = network_of(shipped_weights("net", rules), "cards")
    plan = agent.space.plans
    for row, mask, state in decisions(rules, 3, seed=4, every=2):
        rows, masks = row[np.newaxis], mask[np.newaxis]
        begin(agent.space, rows, masks, 0)
        before = plan.copy()
        agent.open(rows, masks, 0)
        if state["phase"] in (AUCTION, NAMING):
            assert plan.tobytes() == before.tobytes()
            continue
        assert plan["expert_action"][0] == net.act(row, mask)
        n = int(plan["n"][0])
        if n < 2 or plan["has_priors"][0] == 0 or plan["certain"][0]:
            continue
        outputs, legal, _ = evaluate(network, features_of(rules, "cards"), rows, masks)
        points = plan["priors"][0, :n] / plan["prior_unit"][0]
        expected = outputs[legal == 1]
        assert np.sort(points) == pytest.approx(np.sort(expected), abs=1e-4)
        unit = float(plan["prior_unit"][0])
        assert (plan["prior_errors"][0, :n] == NET_ERROR * unit).all()
        if goal == "points" and state["phase"] == PLAY:
            assert unit == pytest.approx(POINT_ALONE, rel=1e-6)
        best = set(plan["actions"][0, :n][points > points.max() - 1e-4].tolist())
        assert plain.act(row, mask) in best
        checked += 1
    assert checked > 12


def test_the_net_gives_priors_where_it_has_weights():
    """The net is used by default in `inference`, and as an option in `pimc`."""
    cincinnati, strange = RULES["cincinnati_v0"], RULES["cincinnati_v0"].replace(ranks="10")
    assert InferenceAgent(cincinnati).net is not None
    assert PimcAgent(cincinnati).net is None
    assert agents.make("pimc:net_cards=true", cincinnati).net is not None
    assert agents.make("inference:net_cards=false", cincinnati).net is None
    assert InferenceAgent(strange).net is None
    with pytest.raises(OptionError, match="agent 'net' has no weights for these rules"):
        agents.make("inference:net_cards=true", strange)
    with pytest.raises(OptionError, match="net_cards=1: expected True, False or None"):
        InferenceAgent(cincinnati, net_cards=1)
