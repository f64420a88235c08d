"""Enumerated hands that explain a rare call, and worlds with these hands."""

from itertools import combinations
from math import inf

import numpy as np
import pytest
from support.agent_games import lone_decisions, searcher
from support.exact_worlds import assert_possible

from bideuchre_env.agents.advice.advising import Advisor
from bideuchre_env.agents.advice.position import known_position
from bideuchre_env.agents.search.callers import list_caller, weigh_hands_dealt
from bideuchre_env.agents.search.candidates import begin
from bideuchre_env.agents.search.chains import weigh_draws
from bideuchre_env.agents.search.likelihood import UNLIKELY
from bideuchre_env.agents.search.sampler import design_effect
from bideuchre_env.core.state import AUCTION, PLAY
from bideuchre_env.rules.bids import Bid
from bideuchre_env.rules.cards import hand_bits
from bideuchre_env.rules.rules import Rules
from bideuchre_env.rules.variants import RULES

SMALL = Rules(ranks="J", copies=1, partnered=(1, 4), lone=[Bid("moon", value=8)], target=20)
BARRIE = RULES["barrie_v0"]


def set_up(agent, row, mask, draws=100):
    """Begin the search of a decision, and weigh `draws` uniform worlds."""
    begin(agent.space, row[np.newaxis], mask[np.newaxis], 0)
    weigh_draws(agent.space, np.empty(draws), 0, draws)


def dealt(agent, seat, most=inf):
    """The hands that a seat may have been dealt, as bits, with log-likelihoods and deal counts.

    `most` is the limit of `weigh_hands_dealt`.
    """
    hands, logs, ways = np.zeros(1 << 18, np.int64), np.empty(1 << 18), np.empty(1 << 18)
    n = weigh_hands_dealt(agent.space, seat, most, hands, logs, ways)
    return hands[:n], logs[:n], ways[:n]


@pytest.mark.parametrize("rules", [SMALL, BARRIE], ids=["16 cards", "barrie"])
def test_every_hand_that_a_caller_may_have_been_dealt_is_enumerated_once(rules):
    """The enumeration equals all hands of unseen cards that the caller's voids and plays allow."""
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
    for row, mask, state in lone_decisions(BARRIE, bid, 4, seed=9)[::3]:
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


MOON_OF_SPADES = -23.3
"""Expected points of a pass in the position below, from 1,000,000 uniform deals: +- 0.5."""


def test_intervals_after_a_rare_call_contain_the_true_value():
    """Only 1 uniform deal in 3,000 explains the opponent's moon; all others give +27 points."""
    hand = ["JH", "AH", "KH", "QH", "JD", "AS", "KS", "QC"]
    position = known_position(BARRIE, hand, calls=["moon S"], score=(10, 45))
    for seed in range(4):
        advice = Advisor(BARRIE, seed=seed).of_row(position)
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
