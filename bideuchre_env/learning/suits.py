"""Renamings of suits that preserve the colour pairs, and canonical hands.

Hands that differ only by such a renaming have the same value, so one of them represents all: the
*canonical* hand, with the smallest hand number of the eight renamings.
"""

from __future__ import annotations

from itertools import permutations

import numpy as np

from bideuchre_env.rules.cards import NO_TRUMP, same_colour
from bideuchre_env.runtime.jit import entry_kernel, kernel

MAX_NIBBLES = 12  # a hand number has four bits (suits) for each of 6 ranks, in two copies

SUIT_MAPS = np.array(
    [p for p in permutations(range(4)) if all(p[same_colour(s)] == same_colour(p[s]) for s in p)],
    np.int64,
)
"""[symmetry, suit]: the new suit. The eight renamings that preserve the colour pairs."""

RENAMED = np.array(
    [[sum(1 << int(m[s]) for s in range(4) if bits >> s & 1) for bits in range(16)]
     for m in SUIT_MAPS],
    np.int64,
)  # fmt: skip
"""[symmetry, set of suits as bits]: the set with its suits renamed."""


@kernel
def renamed(hand: int, symmetry: int) -> int:
    """Return the hand, an integer of rules/cards.py, with its suits renamed by a symmetry."""
    out = 0
    for i in range(MAX_NIBBLES):
        out |= RENAMED[symmetry, hand >> (4 * i) & 15] << (4 * i)
    return out


@kernel
def suit_symmetry(hand: int, strain: int) -> int:
    """Return the symmetry (0 to 7) that maps a hand to the smallest hand number.

    If `strain` is a suit, only symmetries that rename it to suit 0 count. Of equals, it is the
    first.
    """
    best, least = 0, -1
    for symmetry in range(len(SUIT_MAPS)):
        if 0 <= strain < NO_TRUMP and SUIT_MAPS[symmetry, strain] != 0:
            continue
        other = renamed(hand, symmetry)
        if least < 0 or other < least:
            best, least = symmetry, other
    return best


@entry_kernel
def canonical(hand: int) -> tuple[int, int]:
    """Return the canonical hand, and the first symmetry (0 to 7) that maps the hand to it."""
    symmetry = suit_symmetry(hand, NO_TRUMP)
    return renamed(hand, symmetry), symmetry
