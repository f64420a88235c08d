"""Worlds of search agents: sampled, enumerated, and with hands that explain a rare call."""

from itertools import combinations
from math import inf

import numpy as np
import pytest
from support.agent_games import decisions, lone_decisions, searcher

from bideuchre_env.agents.advice.advising import Advisor
from bideuchre_env.agents.advice.position import known_position
from bideuchre_env.agents.search.callers import list_caller, weigh_hands_dealt
from bideuchre_env.agents.search.candidates import begin
from bideuchre_env.agents.search.chains import weigh_draws
from bideuchre_env.agents.search.enumeration import list_worlds, open_listing
from bideuchre_env.agents.search.likelihood import UNLIKELY, log_likelihood, weigh_worlds
from bideuchre_env.agents.search.sampler import LISTED, design_effect
from bideuchre_env.agents.search.worlds import draw_world
from bideuchre_env.core import one_row
from bideuchre_env.core.observation.resample import resample_row
from bideuchre_env.core.state import AUCTION, PLAY
from bideuchre_env.core.validity import checked_states
from bideuchre_env.rules.bids import Bid
from bideuchre_env.rules.cards import COPY_SHIFT, N_SEATS, hand_bits
from bideuchre_env.rules.rules import Rules
from bideuchre_env.rules.variants import RULES
from bideuchre_env.runtime.jit import entry_kernel

pytestmark = pytest.mark.search

GAMES = RULES | {"kitty": RULES["barrie_v0"].replace(kitty=4, partnered=(1, 7))}


def sampled_worlds(agent, row, mask, n_worlds, considered=10):
    """The distinct worlds that chains sample, and their counts, or None without a search."""
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
     ("barrie_v0", "moon"), ("kitty", None), ("kitty", "call-2")],
)  # fmt: skip
def test_sampled_worlds_are_possible_and_have_their_own_likelihood(variant, bid):
    """With a kitty that another seat has taken up, chains are not used."""
    rules, checked = GAMES[variant], 0
    agent = searcher("inference", rules)
    if bid is None:
        cases = decisions(rules, 2, seed=9, hands=2, every=3)
    else:
        cases = lone_decisions(rules, bid, 3, seed=9)
    for row, mask, state in cases:
        sample = sampled_worlds(agent, row, mask, 30, 3) if state["calls_made"] > 0 else None
        for world in [] if sample is None or agent.sampler.must_draw() else sample[0]:
            assert_possible(agent.space, [world], row)
            logs = log_likelihood(agent.space, -1e18)
            assert logs == pytest.approx(float(world["logs"][1:].sum()), abs=1e-9)
            checked += 1
    assert checked > 200


@pytest.mark.parametrize(("variant", "trick"), [("cincinnati_v0", 4), ("simplified_v0", 6)])
def test_endgame_worlds_are_sampled_in_proportion_to_their_likelihood(variant, trick):
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
    rules, compared = RULES["barrie_v0"], []
    agent = searcher("inference", rules)
    for row, mask, state in lone_decisions(rules, "call-2", 5, seed=12):
        defends = (int(state["turn"]) ^ int(state["declarer"])) & 1
        if state["phase"] != PLAY or state["trick"] < 5 or not defends:
            continue
        compared += differences(agent, row, mask, "passed", 40_000)
    assert len(compared) > 3
    assert np.mean(compared) < 0.15


def test_hands_beside_a_kitty_are_sampled_in_proportion_to_their_likelihood():
    rules, compared = GAMES["kitty"], []
    agent = searcher("inference", rules)
    for row, mask, state in decisions(rules, 12, seed=3):
        if state["phase"] != AUCTION or state["calls_made"] < 2:
            continue
        compared += differences(agent, row, mask, "kitty", 20_000)
    assert len(compared) > 3
    assert np.mean(compared) < 0.15


def differences(agent, row, mask, pile, draws):
    """The largest difference of card shares between chains and weighted draws, in a list.

    It is empty without a search, and if the effective sample size of the draws is too small.
    """
    sample = sampled_worlds(agent, row, mask, 1000, 10)
    if sample is None:
        return []
    space, logs = agent.space, np.empty(draws)
    chains = card_shares(sample[0]["hands"][:, 1:], sample[0][pile], sample[1], agent.rules)
    space.mixings["n_stored"] = 0
    weigh_worlds(space, logs, 0, len(logs), 1e9)
    weights = np.exp(logs - logs.max())
    if weights.sum() ** 2 / (weights**2).sum() < 100:
        return []
    drawn = [drawn_world(space, number, pile) for number in range(len(logs))]
    hands, piles = (np.array(part) for part in zip(*drawn, strict=True))
    return [np.abs(chains - card_shares(hands, piles, weights, agent.rules)).max()]


def drawn_world(space, number, pile):
    """The other hands and the cards of a pile in the world with this number."""
    low = (int(space.plans["stream"][0]) + number * 0x9E3779B97F4A7C15) % 2**64
    resample_row(space.worlds, space.expert.tables, 0, space.redeals, np.uint64(low), space.high)
    return space.worlds["hands"][0, 1:].copy(), space.worlds[pile][0].copy()


def card_shares(hands, pile, weights, rules):
    """Weighted mean number of each kind in the hands, (n, 3), and in a pile of cards, (n, size)."""
    kinds = np.arange(rules.kinds)
    each = hands[:, :, np.newaxis]
    held = (each >> kinds & 1) + (each >> (kinds + COPY_SHIFT) & 1)
    given = (pile[:, :, np.newaxis] == kinds).sum(axis=1, keepdims=True)
    parts = np.concatenate([held, given], axis=1)
    return np.tensordot(weights / weights.sum(), parts, 1)


def listed(agent, row, mask, n_worlds):
    """The weight of each enumerated world by its other hands, or None without an enumeration."""
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
            # systematic sampling differs from the expected number by less than one
            assert share == pytest.approx(exact[hands_of], rel=1e-6, abs=1 / 5000)
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


def assert_possible(space, worlds, row):
    """Check that worlds are valid positions that give the observation `row`."""
    again, tables = np.zeros_like(row), space.expert.tables
    for world in worlds:
        space.worlds["hands"][0, 1:] = world["hands"][1:]
        for name in ("given", "passed", "kitty", "laid"):
            space.worlds[name][0] = world[name]
        one_row.observe_row(space.worlds, tables, space.expert.offsets, 0, again)
        assert np.array_equal(again, row)
        checked_states(space.worlds, 1, tables)


def deals_of(cards, sizes):
    """Yield all ways to deal cards, all of them distinct, into hands of these sizes."""
    if not sizes:
        yield ()
        return
    for chosen in combinations(range(len(cards)), sizes[0]):
        rest = [card for i, card in enumerate(cards) if i not in chosen]
        for others in deals_of(rest, sizes[1:]):
            yield ([cards[i] for i in chosen], *others)


def exact_worlds(space, rules):
    """The exact probability of each possible deal, by the tuple of the bits of the other hands."""
    world, tables = space.worlds[0], space.expert.tables
    hands = [int(hand) for hand in world["hands"][1:]]
    cards = [
        kind for kind in range(rules.kinds) for hand in hands
        for bit in (kind, kind + COPY_SHIFT) if hand >> bit & 1
    ]  # fmt: skip
    suits = tables["suit_of"][0][int(world["strain"])]
    chances = {}
    for deal in deals_of(cards, [hand.bit_count() for hand in hands]):
        if any(
            int(world["voids"][seat]) >> int(suits[kind]) & 1
            for seat, hand in enumerate(deal, 1)
            for kind in hand
        ):
            continue
        key = tuple(hand_bits(hand) for hand in deal)
        space.worlds["hands"][0, 1:] = key
        chances[key] = chances.get(key, 0.0) + np.exp(log_likelihood(space, -1e18))
    total = sum(chances.values())
    return {key: chance / total for key, chance in chances.items()}


SMALL = Rules(ranks="J", copies=1, partnered=(1, 4), lone=[Bid("moon", value=8)], target=20)
SPADES = 0x888888888888
BARRIE = RULES["barrie_v0"]


def set_up(agent, row, mask, draws=100):
    begin(agent.space, row[np.newaxis], mask[np.newaxis], 0)
    weigh_draws(agent.space, np.empty(draws), 0, draws)


def dealt(agent, seat, most=inf):
    """The hands that a seat may have been dealt, as bits, with log-likelihoods and deal counts."""
    hands, logs, ways = np.zeros(1 << 18, np.int64), np.empty(1 << 18), np.empty(1 << 18)
    n = weigh_hands_dealt(agent.space, seat, most, hands, logs, ways)
    return hands[:n], logs[:n], ways[:n]


@pytest.mark.parametrize("rules", [SMALL, BARRIE], ids=["16 cards", "barrie"])
def test_every_hand_that_a_caller_may_have_been_dealt_is_enumerated_once(rules):
    agent, compared = searcher("inference", rules), 0
    for row, mask, state in lone_decisions(rules, "moon", 4, seed=3):
        set_up(agent, row, mask)
        world = agent.space.worlds[0]
        if state["phase"] == AUCTION and rules is BARRIE:
            continue  # 735,471 subsets
        unknown = [
            kind for seat in (1, 2, 3) for kind in range(rules.kinds)
            for shift in (0, 24) if int(world["hands"][seat]) >> (kind + shift) & 1
        ]  # fmt: skip
        seat = int(world["declarer"])
        if seat < 1:
            continue
        played = [int(kind) for kind in world["plays"].reshape(4, -1)[seat] if kind >= 0]
        suits = agent.space.expert.tables["suit_of"][0, max(int(world["strain"]), 0)]
        void, room = int(world["voids"][seat]), rules.tricks - len(played)
        allowed = [kind for kind in unknown if not void >> int(suits[kind]) & 1]
        if len(allowed) > 17:
            continue
        expected = {}
        for cards in combinations(allowed, room):
            hand = hand_bits([*cards, *played])
            expected[hand] = expected.get(hand, 0) + 1
        hands, _, ways = dealt(agent, seat)
        assert dict(zip(hands.tolist(), ways.tolist(), strict=True)) == expected
        compared += 1
    assert compared > 3


@pytest.mark.parametrize("bid", ["moon", "call-1", "call-2"])
def test_worlds_with_a_listed_hand_are_worlds_of_the_position(bid):
    agent, checked, fitting = searcher("inference", BARRIE), 0, 0
    agent.space.stored["logs"] = 0.0
    for row, mask, state in lone_decisions(BARRIE, bid, 4, seed=9)[::5]:
        set_up(agent, row, mask)
        space, logs = agent.space, np.empty(40)
        if not list_caller(space, 100, inf):
            continue
        weigh_draws(space, logs, 0, 40)
        assert (space.stored["logs"][:40, 1:][logs == UNLIKELY] == UNLIKELY).all()
        for world in space.stored[:40][logs > UNLIKELY]:
            assert_possible(space, [world], row)
            fitting += 1
        checked += state["phase"] == PLAY
    assert checked > 2
    assert fitting > 100


@entry_kernel
def drawn_hands(space, hands):
    """Write the hands of seats 1 to 3 in the drawn worlds, int64 (n, 3)."""
    for j in range(len(hands)):
        draw_world(space, j)
        for seat in range(1, N_SEATS):
            hands[j, seat - 1] = space.worlds[0].hands[seat]


def test_listed_hands_and_uniform_deals_give_the_same_distribution():
    """Weighted means of the spades by seat differ by less than 5 errors, where no void is known.

    With listed hands, the weights of all worlds together are much more even.
    """
    agent, n, compared = searcher("inference", BARRIE), 5000, []
    for row, mask, _ in lone_decisions(BARRIE, "moon", 6, seed=9)[::2]:
        set_up(agent, row, mask)
        space, samples = agent.space, []
        weigh_draws(space, np.empty(100), 0, 100)  # the worlds that `list_caller` reads
        for listed in (False, True):
            if space.worlds["voids"].any() or (listed and not list_caller(space, 100, inf)):
                break
            logs, hands = np.empty(n), np.empty((n, 3), np.int64)
            weigh_worlds(space, logs, 0, n, inf)
            drawn_hands(space, hands)
            weights = np.exp(logs - logs.max())
            weights /= weights.sum()
            spades = np.vectorize(lambda hand: (int(hand) & SPADES).bit_count())(hands)
            mean = weights @ spades
            error = np.sqrt(weights**2 @ (spades - mean) ** 2)
            samples.append((mean, error, 1 / (weights @ weights)))
        if len(samples) == 2:
            (one, error, few), (other, other_error, more) = samples
            compared.append((few, more))
            if min(few, more) > 50:
                assert (abs(one - other) < 5 * np.hypot(error, other_error)).all()
    assert len(compared) > 8
    few, more = np.sum(compared, axis=0)
    assert more > 3 * few


MOON_OF_SPADES = -23.3
"""Expected points of a pass in the position below, from 1,000,000 uniform deals: +- 0.5."""


def test_intervals_after_a_rare_call_contain_the_true_value():
    """Only 1 uniform deal in 3,000 explains the opponent's moon; all others give +27 points."""
    hand = ["JH", "AH", "KH", "QH", "JD", "AS", "KS", "QC"]
    position = known_position(BARRIE, hand, calls=["moon S"], score=(10, 45))
    for seed in range(4):
        advice = Advisor(BARRIE, agent="inference:callers=agents", seed=seed).of_row(position)
        points = advice.options[0].points
        assert abs(points.mean - MOON_OF_SPADES) < points.half + 0.5
        assert points.half < 3.0
        assert advice.options[0].made.mean < 0.1  # the chance that the moon is set


@pytest.mark.parametrize("copies", [1, 5])
def test_the_design_effect_is_the_number_of_copies_of_a_world(copies):
    rng, effects = np.random.default_rng(1), []
    for _ in range(60):
        worlds = [rng.permutation(18) for _ in range(80)]
        hands = np.array([[hand_bits(cards[i : i + 6]) for i in (0, 6, 12)] for cards in worlds])
        hands, groups = np.repeat(hands, copies, axis=0), np.repeat(np.arange(80) % 8, copies)
        effects.append(design_effect(hands, np.ones(len(hands)), groups))
    assert copies <= np.mean(effects) < 1.3 * copies
