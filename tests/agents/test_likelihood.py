"""The likelihood of worlds, given the actions of the other seats, and its caches."""

import numpy as np
import pytest
from oracles.replayed_likelihood import replayed_log
from support.agent_games import decisions, lone_decisions, look, searcher

from bideuchre_env.agents.advice.position import known_position
from bideuchre_env.agents.search.likelihood import log_likelihood, weigh_worlds
from bideuchre_env.agents.search.sampler import NEGLIGIBLE
from bideuchre_env.core.observation.resample import resample_row
from bideuchre_env.core.phases.deal import split_seed
from bideuchre_env.core.state import new_states
from bideuchre_env.rules.cards import hand_bits, parse_card
from bideuchre_env.rules.variants import RULES


@pytest.mark.parametrize(
    ("name", "variant", "bid"),
    [("inference", "cincinnati_v0", None), ("pimc", "double_deck_v0", None),
     ("inference", "simplified_v0", None), ("pimc", "barrie_v0", "call-2"),
     ("inference", "barrie_v0", "moon")],
)  # fmt: skip
def test_likelihoods_equal_a_replay_of_the_hand(name, variant, bid):
    rules, replays, compared = RULES[variant], new_states(1), 0
    agent = searcher(name, rules)
    if bid is None:
        cases = decisions(rules, 3, seed=6, hands=2, every=3)
    else:
        cases = lone_decisions(rules, bid, 5, seed=6)
    for row, mask, state in cases:
        if mask.sum() < 2 or state["calls_made"] == 0:
            continue
        agent.act(row, mask)
        space = agent.space
        weigh_worlds(space, np.empty(1), 0, 1, NEGLIGIBLE)
        replays[0] = space.replays[0]
        for number in range(12):
            resample_row(space.worlds, space.expert.tables, 0, space.redeals, *split_seed(number))
            quick = log_likelihood(space, -1e18)
            assert quick == pytest.approx(replayed_log(space, replays), rel=1e-9, abs=1e-9)
            compared += quick < -0.1
    assert compared > 60


@pytest.mark.parametrize(
    ("discards", "passed", "n_giving", "n_passing"),
    [
        ("QD KD", "JD AS", 0, 0),  # the expert's own cards
        ("KD QD", "AS JD", 0, 0),  # in reverse order
        ("QD KH", "JD AC", 1, 1),  # KD and AS are preferred
        ("KD KH", "AC QH", 1, 4),  # QD; JD, AS, the other AC and AD
        ("AS KH", "JD QH", 2, 3),  # QD and KD; AS, AC and AD
    ],
)
def test_an_exchange_is_less_likely_for_each_kind_preferred_to_its_cards(
    discards, passed, n_giving, n_passing
):
    """The penalty is 1 for a kind that the expert prefers to discard, and 0.1 to pass."""
    rules, agent = RULES["barrie_v0"], searcher("inference", RULES["barrie_v0"])
    own = ["QS", "QS", "KS", "KS", "QC", "QC", "KC", "KC"]
    calls = ["call-2 H", "pass", "pass", "pass"]
    row = known_position(rules, own, calls=calls, played=["JH"])
    seen, mask = (each[0] for each in look(rules, row, np.zeros(1, np.int64)))
    agent.act(seen, mask)
    model = agent.space.choice_models
    model["giving"], model["passing"], model["reads_cards"] = -1.0, -0.1, 0
    expected = -n_giving - 0.1 * n_passing
    change = exchange_logs(agent, discards, passed) - exchange_logs(agent, "QD KD", "JD AS")
    assert change == pytest.approx(expected)


def exchange_logs(agent, discards, passed):
    """The log-likelihood if the declarer, who has led JH, gave up `discards` and got `passed`."""
    world, seat = agent.space.worlds, int(agent.space.worlds["declarer"][0])
    declarer = ["JH", "JD", "AH", "KH", "AS", "QD", "KD", *passed.split()]  # and JH, played
    partner = ["JD", "AC", "AC", "AS", "QH", "KD", "QD", "AD"]
    for name in discards.split():
        declarer.remove(name)
    for name in passed.split():
        partner.remove(name)
    world["hands"][0, seat] = hand_bits(map(parse_card, declarer))
    world["hands"][0, seat ^ 2] = hand_bits(map(parse_card, partner))
    world["given"][0, :2] = [parse_card(name) for name in discards.split()]
    world["passed"][0, :2] = [parse_card(name) for name in passed.split()]
    agent.space.hand_caches["keys"] = 0
    return log_likelihood(agent.space, -1e18)


@pytest.mark.parametrize("variant", ["cincinnati_v0", "simplified_v0", "barrie_v0"])
def test_the_cache_of_calls_changes_no_decision(variant):
    """With a filled and with an empty cache, decisions are equal at many scores and dealers."""
    rules = RULES[variant]
    cached, fresh = (searcher("inference", rules, worlds=20, played_out=20) for _ in range(2))
    compared = shared = 0
    for row, mask, state in decisions(rules, 3, seed=8, hands=3, every=3):
        if mask.sum() < 2 or state["calls_made"] == 0:
            continue
        fresh.space.call_caches["keys"] = 0
        before = np.count_nonzero(cached.space.call_caches["keys"])
        assert cached.act(row, mask) == fresh.act(row, mask)
        assert np.array_equal(cached.space.plans["sums"], fresh.space.plans["sums"])
        filled = np.count_nonzero(fresh.space.call_caches["keys"])
        shared += np.count_nonzero(cached.space.call_caches["keys"]) - before < filled
        compared += 1
    assert compared > 25
    assert shared > 10  # entries of earlier decisions were reused
