"""The worlds that chains come through: as many of each as it is likely, and all that are seen."""

from itertools import count

import numpy as np
import pytest
from support.agent_games import decisions, lone_decisions, searcher
from support.exact_worlds import exact_worlds, put_in

from bideuchre_env.agents.search.candidates import begin
from bideuchre_env.agents.search.chains import logistic_fit, weigh_draws
from bideuchre_env.agents.search.likelihood import log_likelihood, weigh_worlds
from bideuchre_env.core import one_row
from bideuchre_env.core.observation.resample import resample_row
from bideuchre_env.core.state import PLAY
from bideuchre_env.core.validity import checked_states
from bideuchre_env.rules.cards import COPY_SHIFT
from bideuchre_env.rules.variants import RULES


def kept_worlds(agent, row, mask, wanted, considered=10):
    """The worlds kept at a decision, and how often each was come to; None where none are."""
    begin(agent.space, row[np.newaxis], mask[np.newaxis], 0)
    if agent.space.plans["n"][0] < 2:
        return None
    space, logs = agent.space, np.empty(100)
    weigh_draws(space, logs, 0, len(logs))
    weights = agent.sampler.run_chains(logs, wanted * considered, wanted, np.inf)
    n = int((weights > 0).sum())
    assert n == space.mixings["n_kept"][0]
    assert weights.sum() == pytest.approx(wanted)
    return space.kept[:n].copy(), weights[:n]


@pytest.mark.parametrize(
    ("variant", "bid"),
    [("cincinnati_v0", None), ("double_deck_v0", None), ("barrie_v0", "call-2"),
     ("barrie_v0", "moon")],
)  # fmt: skip
def test_every_world_kept_is_one_that_the_seat_may_be_in(variant, bid):
    """It gives the same observation, and is a sound position of one deck."""
    rules, checked = RULES[variant], 0
    agent = searcher("inference", rules)
    if bid is None:
        found = decisions(rules, 2, seed=9, hands=2, every=3)
    else:
        found = lone_decisions(rules, bid, 3, seed=9)
    for row, mask, state in found:
        kept = kept_worlds(agent, row, mask, 30, 3) if state["calls_made"] > 0 else None
        if kept is None:
            continue
        space, again = agent.space, np.zeros_like(row)
        for world in kept[0]:
            put_in(space, world)
            tables, offsets = space.expert.tables, space.expert.offsets
            one_row.observe_row(space.worlds, tables, offsets, 0, again)
            assert np.array_equal(again, row)
            checked_states(space.worlds, 1, tables)
            logs = log_likelihood(space, -1e18)
            assert logs == pytest.approx(float(world["logs"][1:].sum()), abs=1e-9)
            checked += 1
    assert checked > 200


@pytest.mark.parametrize(("variant", "trick"), [("cincinnati_v0", 4), ("simplified_v0", 6)])
def test_chains_come_to_every_world_of_an_ending_as_often_as_it_is_likely(variant, trick):
    """Against every deal of the last two tricks, weighed: half the sum of the differences."""
    rules, apart, uniform = RULES[variant], [], []
    agent = searcher("inference", rules)
    for row, mask, state in decisions(rules, 14, seed=11, hands=2):
        ends = state["phase"] == PLAY and state["trick"] == trick and state["sitting_out"] < 0
        kept = kept_worlds(agent, row, mask, 4000, 16) if ends and mask.sum() > 1 else None
        if kept is None:
            continue
        exact = exact_worlds(agent.space, rules)
        if len(exact) < 4:
            continue
        often = dict.fromkeys(exact, 0.0)
        for world, weight in zip(*kept, strict=True):
            often[tuple(int(hand) for hand in world["hands"][1:])] += weight / 4000
        apart.append(sum(abs(often[key] - exact[key]) for key in exact) / 2)
        uniform.append(sum(abs(1 / len(exact) - exact[key]) for key in exact) / 2)
    assert len(apart) > 12
    assert np.mean(apart) < 0.05  # of 4,000 in 20 chains, of 64,000 steps
    assert max(apart) < 0.15
    assert np.mean(uniform) > 0.2


def test_what_an_exchange_hides_is_mixed_too():
    """Who holds what, and what was passed: as of many worlds drawn alike and weighed."""
    rules, compared = RULES["barrie_v0"], []
    agent = searcher("inference", rules)
    for row, mask, state in lone_decisions(rules, "call-2", 8, seed=12):
        defends = (int(state["turn"]) ^ int(state["declarer"])) & 1
        if state["phase"] != PLAY or state["trick"] < 5 or not defends:
            continue
        kept = kept_worlds(agent, row, mask, 1000, 10)
        if kept is None:
            continue
        space, logs = agent.space, np.empty(40_000)
        chains = shares(kept[0]["hands"][:, 1:], kept[0]["passed"], kept[1], rules)
        space.mixings["n_kept"] = 0
        weigh_worlds(space, logs, 0, len(logs), 1e9)
        weights = np.exp(logs - logs.max())
        if weights.sum() ** 2 / (weights**2).sum() < 100:
            continue  # too few to compare with
        drawn = [drawn_world(space, number) for number in range(len(logs))]
        hands, passed = (np.array(part) for part in zip(*drawn, strict=True))
        compared.append(np.abs(chains - shares(hands, passed, weights, rules)).max())
    assert len(compared) > 3
    assert np.mean(compared) < 0.15


def drawn_world(space, number):
    """The other hands and the cards passed in a world drawn by its number."""
    low = (int(space.plans["stream"][0]) + number * 0x9E3779B97F4A7C15) % 2**64
    resample_row(space.worlds, space.expert.tables, 0, space.redeals, np.uint64(low), space.high)
    return space.worlds["hands"][0, 1:].copy(), space.worlds["passed"][0].copy()


def shares(hands, passed, weights, rules):
    """How many of each card each seat holds on average, and how many were passed."""
    kinds = np.arange(rules.kinds)
    held = (hands[:, :, np.newaxis] >> kinds & 1) + (
        hands[:, :, np.newaxis] >> (kinds + COPY_SHIFT) & 1
    )
    parts = np.concatenate(
        [held, (passed[:, :, np.newaxis] == kinds).sum(axis=1, keepdims=True)], axis=1
    )
    return np.tensordot(weights / weights.sum(), parts, 1)


def test_leanings_tell_likely_hands_from_others():
    """Hands with one card are likely, those with another are not: the fit finds both."""
    rng, hands, logs = np.random.default_rng(3), [], []
    for _ in range(200):
        cards = rng.permutation(12)[:4]
        hands.append(sum(1 << int(card) for card in cards))
        logs.append(0.0 if 3 in cards else -4.0 if 7 in cards else -1.0)
    found = logistic_fit(np.array(hands), np.array(logs), 12)
    others = [found[kind] for kind in range(12) if kind not in (3, 7)]
    assert found[3] > max(others) + 1.0
    assert found[7] < min(others) - 0.5


def test_chains_end_when_their_time_is_up():
    """However many worlds are asked for: most of the time is for worlds that are kept."""
    rules, ticks = RULES["barrie_v0"], count()
    agent = searcher("inference", rules, worlds=10_000)
    agent.clock = agent.sampler.clock = lambda: next(ticks) / 1000
    tried = 0
    for row, mask, state in decisions(rules, 3, seed=6, hands=1, every=3):
        if state["calls_made"] == 0 or mask.sum() < 2:
            continue
        begin(agent.space, row[np.newaxis], mask[np.newaxis], 0)
        if agent.space.plans["n"][0] < 2:
            continue
        logs = np.empty(100)
        weigh_draws(agent.space, logs, 0, len(logs))
        began = agent.clock()
        weights = agent.sampler.run_chains(logs, 100_000, 10_000, began + 0.2)
        assert agent.clock() - began < 0.22
        assert weights.sum() >= 20  # a round of all chains at least
        tried += weights.sum() > 100
        assert agent.space.plans["alike"][0] >= 1.0
    assert tried > 3
