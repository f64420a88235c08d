"""Worlds that Markov chains sample: possible positions, each as often as it is likely."""

import numpy as np
import pytest
from support.agent_games import decisions, lone_decisions, searcher
from support.exact_worlds import assert_possible, exact_worlds

from bideuchre_env.agents.search.candidates import begin
from bideuchre_env.agents.search.chains import logistic_fit, weigh_draws
from bideuchre_env.agents.search.likelihood import log_likelihood, weigh_worlds
from bideuchre_env.core.observation.resample import resample_row
from bideuchre_env.core.state import PLAY
from bideuchre_env.rules.cards import COPY_SHIFT
from bideuchre_env.rules.variants import RULES


def sampled_worlds(agent, row, mask, wanted, considered=10):
    """The worlds sampled at a decision and their counts; None where nothing is searched."""
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
def test_sampled_worlds_are_possible_and_have_their_own_likelihood(variant, bid):
    rules, checked = RULES[variant], 0
    agent = searcher("inference", rules)
    if bid is None:
        found = decisions(rules, 2, seed=9, hands=2, every=3)
    else:
        found = lone_decisions(rules, bid, 3, seed=9)
    for row, mask, state in found:
        sample = sampled_worlds(agent, row, mask, 30, 3) if state["calls_made"] > 0 else None
        for world in [] if sample is None else sample[0]:
            assert_possible(agent.space, [world], row)
            logs = log_likelihood(agent.space, -1e18)
            assert logs == pytest.approx(float(world["logs"][1:].sum()), abs=1e-9)
            checked += 1
    assert checked > 200


@pytest.mark.parametrize(("variant", "trick"), [("cincinnati_v0", 4), ("simplified_v0", 6)])
def test_each_world_of_an_ending_is_sampled_as_often_as_it_is_likely(variant, trick):
    """By total variation distance from the exact distribution of the last two tricks."""
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


def test_hidden_exchanged_cards_are_sampled_as_often_as_they_are_likely():
    """Card by seat and cards passed, against importance sampling of 40,000 worlds."""
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
        space.mixings["n_kept"] = 0
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
    """The other hands and the cards passed in the world with this number."""
    low = (int(space.plans["stream"][0]) + number * 0x9E3779B97F4A7C15) % 2**64
    resample_row(space.worlds, space.expert.tables, 0, space.redeals, np.uint64(low), space.high)
    return space.worlds["hands"][0, 1:].copy(), space.worlds["passed"][0].copy()


def card_shares(hands, passed, weights, rules):
    """The mean number of each card with each seat, and among the cards passed."""
    kinds = np.arange(rules.kinds)
    held = (hands[:, :, np.newaxis] >> kinds & 1) + (
        hands[:, :, np.newaxis] >> (kinds + COPY_SHIFT) & 1
    )
    parts = np.concatenate(
        [held, (passed[:, :, np.newaxis] == kinds).sum(axis=1, keepdims=True)], axis=1
    )
    return np.tensordot(weights / weights.sum(), parts, 1)


def test_the_logistic_fit_separates_likely_hands_from_others():
    """Hands with card 3 are likely, hands with card 7 are not."""
    rng, hands, logs = np.random.default_rng(3), [], []
    for _ in range(200):
        cards = rng.permutation(12)[:4]
        hands.append(sum(1 << int(card) for card in cards))
        logs.append(0.0 if 3 in cards else -4.0 if 7 in cards else -1.0)
    fitted = logistic_fit(np.array(hands), np.array(logs), 12)
    others = [fitted[kind] for kind in range(12) if kind not in (3, 7)]
    assert fitted[3] > max(others) + 1.0
    assert fitted[7] < min(others) - 0.5
