"""Causes: which hidden card, void or split decides, by the deals that an advice was counted in.

Every simple condition on the hands of the others divides the deals in two. The one told is that
which explains most of how an option does, if it explains a lot.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np

from bideuchre_env.agents.advice.figures import effective, error, mean
from bideuchre_env.agents.advice.holding import called, number_word, ranking, suit_word
from bideuchre_env.rules.cards import COPY_SHIFT, KIND_BITS, NO_TRUMP, SUITS
from bideuchre_env.runtime.jit import Array

LEAST_SHARE = 0.1  # of the deals, by weight, on either side,
LEAST_DEALS = 10  # and as many as that are worth
LEAST_CHANCE = 0.25  # difference between the two sides that is told, of a chance,
LEAST_GAIN = 1.0  # and of points, or of games of 100
SURE = 4.0  # standard errors: one of some 20 conditions is far off by luck
NEXT, PARTNER, LAST = 1, 2, 3  # seats; the first and the last are the opponents


@dataclass(frozen=True)
class Cause:
    """A condition on hidden cards, and the mean of something in the deals with it and without."""

    words: str
    """As in "if partner has AC"."""
    true: float
    false: float
    share: float
    """Of the deals, by weight, in which it is true."""


def conditions(unseen: int, strain: int, hands: Array, t: Any) -> Iterator[tuple[str, Array]]:
    """Every condition in words, and whether it is true in each deal, bool (m,).

    `unseen` are the kinds not accounted for, as bits, and `hands`, int64 (m, 4), what each seat
    holds, this one's first. The simplest come first: of two that explain as much the first is told.
    """
    kinds = [kind for kind in range(int(t["kinds"])) if unseen >> kind & 1]
    suits = t["suit_of"][strain]
    held = (hands | hands >> COPY_SHIFT) & KIND_BITS
    trumps = ranking(strain, t)
    tops = [kind for kind in trumps if kind in kinds]
    for suit in range(len(SUITS)):
        rest = [kind for kind in kinds if suits[kind] == suit != strain]
        tops += sorted(rest, key=lambda kind: -int(t["power"][strain, suit, kind]))[:1]
    for kind in tops:
        name = called(kind, strain, t).rstrip(",")
        yield f"partner has {name}", (held[:, PARTNER] >> kind & 1).astype(bool)
    for suit in range(len(SUITS)):
        if suit != strain:
            void = held & bits_of(suits, suit, t) == 0
            word = suit_word(suit, 1)
            yield f"partner has no {word}", void[:, PARTNER]
            yield f"an opponent has no {word}", void[:, NEXT] | void[:, LAST]
    if strain != NO_TRUMP:
        length = lengths(hands, bits_of(suits, strain, t))
        for n in range(1, 4):
            some = "a trump" if n == 1 else f"{number_word(n)} trumps or more"
            yield f"partner has {some}", length[:, PARTNER] >= n
        for n in range(2, 5):
            long = length >= n
            words = f"an opponent has {number_word(n)} trumps or more"
            yield words, long[:, NEXT] | long[:, LAST]


def bits_of(suits: Array, suit: int, t: Any) -> int:
    """The kinds of a suit, as bits."""
    return sum(1 << kind for kind in range(int(t["kinds"])) if suits[kind] == suit)


def lengths(hands: Array, kinds: int) -> Array:
    """How many cards of these kinds each hand has, both copies counted; the shape of `hands`."""
    cards = hands & (kinds | kinds << COPY_SHIFT)
    count: Array = sum((cards >> bit & 1 for bit in range(2 * COPY_SHIFT)), np.zeros_like(cards))
    return count


def cause(
    values: Array,
    weights: Array,
    unseen: int,
    strain: int,
    hands: Array,
    t: Any,
    least: float,
    alike: float = 1.0,
) -> Cause | None:
    """The condition that explains most of the values, float64 (m,); None if none explains a lot.

    That is a difference of at least `least` between the means of the two sides, surely no luck;
    `alike` as in `Counted`.
    """
    counts = weights > 0
    values, weights, hands = values[counts], weights[counts], hands[counts]
    total, found, most = weights.sum(), None, 0.0
    for words, true in conditions(unseen, strain, hands, t):
        share = float(weights[true].sum() / total) if total else 0.0
        if not LEAST_SHARE <= share <= 1 - LEAST_SHARE:
            continue
        sides = [(values[side], weights[side]) for side in (true, ~true)]
        if min(effective(weights, alike) for _, weights in sides) < LEAST_DEALS:
            continue
        (yes, no), errors = [mean(*side) for side in sides], [error(*side, alike) for side in sides]
        explained, apart = share * (1 - share) * (yes - no) ** 2, abs(yes - no)
        clear = apart >= least and apart > SURE * sqrt(errors[0] ** 2 + errors[1] ** 2)
        if clear and explained > most + 1e-12:
            found, most = Cause(words, yes, no, share), explained
    return found
