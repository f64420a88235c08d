"""Playouts of worlds: by the expert or the net, and by the solver at the end."""

from __future__ import annotations

import numpy as np
import pytest
from support.agent_games import decisions, look

from bideuchre_env import agents
from bideuchre_env.agents.expert.agent import NO_SEARCH
from bideuchre_env.agents.search.agent import InferenceAgent, PimcAgent
from bideuchre_env.agents.search.playouts import play_out
from bideuchre_env.core.rows import apply_rows
from bideuchre_env.core.state import AUCTION, DEAL, GIVING, NAMING, PASSING, PLAY
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.rules.variants import RULES
from bideuchre_env.runtime.jit import entry_kernel
from bideuchre_env.solver import solve


@entry_kernel
def finished(space):
    """The tricks of side 0 after the simulated world is played out."""
    return play_out(space)


def in_python(rules, state, calls, cards, left=0):
    """The state after two agents play calls and cards until `left` tricks are left."""
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
def test_playouts_are_calls_of_the_expert_and_cards_of_the_net_or_expert(variant):
    """As the two agents without a search do, from every phase."""
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
    """With all hands open, from three tricks left."""
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


def test_inference_alone_tries_cards_by_the_net():
    rules, seen = RULES["barrie_v0"], set()
    searchers = {True: InferenceAgent(rules, seed=1), False: PimcAgent(rules, seed=1)}
    for row, mask, state in decisions(rules, 3, seed=14):
        if mask.sum() > 1:
            for leans, agent in searchers.items():
                agent.open(row[np.newaxis], mask[np.newaxis], 0)
                tried_by_net = agent.space.plans["plays_net"][0]
                assert tried_by_net == (leans and state["phase"] not in (AUCTION, NAMING))
                seen.add((leans, int(tried_by_net)))
    assert seen == {(True, 0), (True, 1), (False, 0)}
