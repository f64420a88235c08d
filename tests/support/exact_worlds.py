"""Exact probabilities of all worlds of an endgame, and a check that worlds are possible."""

from itertools import combinations

import numpy as np

from bideuchre_env.agents.search.likelihood import log_likelihood
from bideuchre_env.core import one_row
from bideuchre_env.core.validity import checked_states
from bideuchre_env.rules.cards import COPY_SHIFT, hand_bits


def assert_possible(space, worlds, row):
    """Check that worlds are valid positions that give the observation `row`."""
    again, tables = np.zeros_like(row), space.expert.tables
    for world in worlds:
        space.worlds["hands"][0, 1:] = world["hands"][1:]
        space.worlds["given"][0], space.worlds["passed"][0] = world["given"], world["passed"]
        one_row.observe_row(space.worlds, tables, space.expert.offsets, 0, again)
        assert np.array_equal(again, row)
        checked_states(space.worlds, 1, tables)


def deals(cards, sizes):
    """Yield all ways to deal cards into hands of these sizes, as tuples of lists.

    Two copies of a card count as different cards, so a deal may occur more than once.
    """
    if not sizes:
        yield ()
        return
    for chosen in combinations(range(len(cards)), sizes[0]):
        rest = [card for i, card in enumerate(cards) if i not in chosen]
        for others in deals(rest, sizes[1:]):
            yield ([cards[i] for i in chosen], *others)


def exact_worlds(space, rules):
    """The exact probability of each deal of the unseen cards that the known voids allow.

    The key is the tuple of the three other hands, as bits. The probability is proportional to the
    number of deals with these hands, and to the likelihood of the other seats' actions.
    """
    world, tables = space.worlds[0], space.expert.tables
    hands = [int(hand) for hand in world["hands"][1:]]
    cards = [
        kind for kind in range(rules.kinds) for hand in hands
        for bit in (kind, kind + COPY_SHIFT) if hand >> bit & 1
    ]  # fmt: skip
    suits = tables["suit_of"][0][int(world["strain"])]
    chances = {}
    for deal in deals(cards, [hand.bit_count() for hand in hands]):
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
