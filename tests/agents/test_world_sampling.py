"""Worlds of search agents: sampled by Markov chains, and enumerated in endgames."""

import numpy as np
import pytest
from support.agent_games import decisions, lone_decisions, searcher
from support.exact_worlds import assert_possible, exact_worlds

from bideuchre_env.agents.search.candidates import begin
from bideuchre_env.agents.search.chains import weigh_draws
from bideuchre_env.agents.search.enumeration import list_worlds, open_listing
from bideuchre_env.agents.search.likelihood import log_likelihood, weigh_worlds
from bideuchre_env.agents.search.sampler import LISTED
from bideuchre_env.core.observation.resample import resample_row
from bideuchre_env.core.state import PLAY
from bideuchre_env.rules.cards import COPY_SHIFT
from bideuchre_env.rules.variants import RULES


def sampled_worlds(agent, row, mask, n_worlds, considered=10):
    """The distinct worlds that Markov chains sample at a decision, and the counts of each.

    The counts sum to `n_worlds`. The result is None if the agent decides without a search.
    """
    begin(agent.space, row[np.newaxis], mask[np.newaxis], 0)
    if agent.space.plans["n"][0] < 2:
        return None
    space, logs = agent.space, np.empty(100)
    weigh_draws(space, logs, 0, len(logs))
    weights = agent.sampler.run_chains(logs, n_worlds * considered, n_worlds, np.inf)
    n = int((weights > 0).sum())
    assert n == space.mixings["n_stored"][0]
    assert weights.sum() == pytest.approx(n_worlds)
    return space.stored[:n].copy(), weights[:n]


@pytest.mark.parametrize(
    ("variant", "bid"),
    [("cincinnati_v0", None), ("double_deck_v0", None), ("barrie_v0", "call-2"),
     ("barrie_v0", "moon")],
)  # fmt: skip
def test_sampled_worlds_are_possible_and_have_their_own_likelihood(variant, bid):
    rules, checked = RULES[variant], 0
    agent = searcher("inference", rules)
    if bid is None:
        cases = decisions(rules, 2, seed=9, hands=2, every=3)
    else:
        cases = lone_decisions(rules, bid, 3, seed=9)
    for row, mask, state in cases:
        sample = sampled_worlds(agent, row, mask, 30, 3) if state["calls_made"] > 0 else None
        for world in [] if sample is None else sample[0]:
            assert_possible(agent.space, [world], row)
            logs = log_likelihood(agent.space, -1e18)
            assert logs == pytest.approx(float(world["logs"][1:].sum()), abs=1e-9)
            checked += 1
    assert checked > 200


@pytest.mark.parametrize(("variant", "trick"), [("cincinnati_v0", 4), ("simplified_v0", 6)])
def test_endgame_worlds_are_sampled_in_proportion_to_their_likelihood(variant, trick):
    """Sampled worlds have a small total variation distance from the exact distribution."""
    rules, apart, uniform = RULES[variant], [], []
    agent = searcher("inference", rules)
    for row, mask, state in decisions(rules, 14, seed=11, hands=2):
        ends = state["phase"] == PLAY and state["trick"] == trick and state["sitting_out"] < 0
        sample = sampled_worlds(agent, row, mask, 4000, 16) if ends and mask.sum() > 1 else None
        if sample is None:
            continue
        exact = exact_worlds(agent.space, rules)
        if len(exact) < 4:
            continue
        often = dict.fromkeys(exact, 0.0)
        for world, weight in zip(*sample, strict=True):
            often[tuple(int(hand) for hand in world["hands"][1:])] += weight / 4000
        apart.append(sum(abs(often[key] - exact[key]) for key in exact) / 2)
        uniform.append(sum(abs(1 / len(exact) - exact[key]) for key in exact) / 2)
    assert len(apart) > 12
    assert np.mean(apart) < 0.05  # 4,000 worlds of 20 chains with 64,000 steps
    assert max(apart) < 0.15
    assert np.mean(uniform) > 0.2


def test_hidden_exchanged_cards_are_sampled_in_proportion_to_their_likelihood():
    """Shares by seat and of passed cards agree with importance sampling of 40,000 worlds."""
    rules, compared = RULES["barrie_v0"], []
    agent = searcher("inference", rules)
    for row, mask, state in lone_decisions(rules, "call-2", 8, seed=12):
        defends = (int(state["turn"]) ^ int(state["declarer"])) & 1
        if state["phase"] != PLAY or state["trick"] < 5 or not defends:
            continue
        sample = sampled_worlds(agent, row, mask, 1000, 10)
        if sample is None:
            continue
        space, logs = agent.space, np.empty(40_000)
        chains = card_shares(sample[0]["hands"][:, 1:], sample[0]["passed"], sample[1], rules)
        space.mixings["n_stored"] = 0
        weigh_worlds(space, logs, 0, len(logs), 1e9)
        weights = np.exp(logs - logs.max())
        if weights.sum() ** 2 / (weights**2).sum() < 100:
            continue  # the effective sample size is too small
        drawn = [drawn_world(space, number) for number in range(len(logs))]
        hands, passed = (np.array(part) for part in zip(*drawn, strict=True))
        compared.append(np.abs(chains - card_shares(hands, passed, weights, rules)).max())
    assert len(compared) > 3
    assert np.mean(compared) < 0.15


def drawn_world(space, number):
    """The other hands and the passed cards of the world with this number."""
    low = (int(space.plans["stream"][0]) + number * 0x9E3779B97F4A7C15) % 2**64
    resample_row(space.worlds, space.expert.tables, 0, space.redeals, np.uint64(low), space.high)
    return space.worlds["hands"][0, 1:].copy(), space.worlds["passed"][0].copy()


def card_shares(hands, passed, weights, rules):
    """The weighted mean number of each kind in the other hands and among passed cards.

    The result is (4, kinds): three hands, then the passed cards. `hands` is (n, 3).
    """
    kinds = np.arange(rules.kinds)
    held = (hands[:, :, np.newaxis] >> kinds & 1) + (
        hands[:, :, np.newaxis] >> (kinds + COPY_SHIFT) & 1
    )
    parts = np.concatenate(
        [held, (passed[:, :, np.newaxis] == kinds).sum(axis=1, keepdims=True)], axis=1
    )
    return np.tensordot(weights / weights.sum(), parts, 1)


def listed(agent, row, mask, n_worlds):
    """A dict: the weight of each enumerated world by its other hands; the sum is `n_worlds`.

    The result is None if there is no search, or if too many worlds are possible.
    """
    begin(agent.space, row[np.newaxis], mask[np.newaxis], 0)
    if agent.space.plans["n"][0] < 2 or open_listing(agent.space) > LISTED:
        return None
    weights = np.zeros(n_worlds)
    list_worlds(agent.space, n_worlds, weights)
    worlds = agent.space.stored[np.flatnonzero(weights)]
    assert_possible(agent.space, worlds[:5], row)
    hands = [tuple(map(int, world["hands"][1:])) for world in worlds]
    assert len(set(hands)) == len(hands)  # each world is listed once
    return dict(zip(hands, weights[np.flatnonzero(weights)], strict=True))


def endings(unknown, cases):
    """Yield the cases in the card play with a choice and at most `unknown` cards in other hands."""
    for row, mask, state in cases:
        others = [seat for seat in range(4) if seat != int(state["turn"])]
        left = sum(int(state["hands"][seat]).bit_count() for seat in others)
        if state["phase"] == PLAY and mask.sum() > 1 and left <= unknown:
            yield row, mask, state


@pytest.mark.parametrize(
    ("variant", "hands"), [("cincinnati_v0", 12), ("simplified_v0", 10), ("double_deck_v0", 6)]
)
def test_enumerated_worlds_have_their_exact_probabilities(variant, hands):
    rules, compared, several = RULES[variant], 0, 0
    agent = searcher("inference", rules)
    for row, mask, _ in endings(8, decisions(rules, hands, seed=11, hands=2)):
        weights = listed(agent, row, mask, 5000)
        if weights is None:
            continue
        exact = exact_worlds(agent.space, rules)
        for hands_of in exact.keys() | weights.keys():
            share = weights.get(hands_of, 0.0) / 5000
            assert share == pytest.approx(exact[hands_of], rel=1e-6, abs=1.01e-4)
        compared += 1
        several += max(exact.values()) < 0.5
    assert compared > 12
    assert several > 4


@pytest.mark.parametrize("variant", ["cincinnati_v0", "barrie_v0"])
def test_many_worlds_are_sampled_in_proportion_to_their_probability(variant):
    """Systematic sampling differs from the expected number by less than one."""
    rules, compared = RULES[variant], 0
    agent = searcher("inference", rules)
    for row, mask, _ in endings(9, decisions(rules, 12, seed=14, hands=2, every=2)):
        few = listed(agent, row, mask, 40)
        if few is None or agent.space.listings["n_worlds"][0] <= 40:
            continue
        assert sum(few.values()) == 40
        squares = sum(weight**2 for weight in few.values())
        assert agent.space.plans["design_effect"][0] * squares == pytest.approx(40)
        every = listed(agent, row, mask, 9000)
        for hands_of, weight in few.items():
            assert abs(weight - 40 * every.get(hands_of, 0.0) / 9000) < 1 + 1e-3
        for hands_of, weight in every.items():
            assert few.get(hands_of, 0.0) > 40 * weight / 9000 - 1 - 1e-3
        compared += 1
    assert compared > 5


def test_if_all_worlds_are_tried_the_best_card_is_played():
    rules, compared, overruled = RULES["cincinnati_v0"], 0, 0
    agent = searcher("inference", rules, worlds=60)
    for row, mask, _ in endings(9, decisions(rules, 60, seed=21, hands=2)):
        action, plan = agent.act(row, mask), agent.space.plans[0]
        if plan["all_worlds"] == 0.0:
            continue
        n = int(plan["n"])
        sums = dict(zip(plan["actions"][:n].tolist(), plan["sums"][:n], strict=True))
        assert plan["total"] == pytest.approx(agent.worlds)
        assert sums[action] == pytest.approx(max(sums.values()), abs=1e-9 * agent.worlds)
        compared += 1
        overruled += action != plan["expert_action"]
    assert compared > 20
    assert overruled > 0
