"""The renamings of the suits that keep the colours apart, and what they make of a hand.

Hands that differ only by such a renaming are worth the same, so one of them, the *canonical*
hand, stands for them all: the least hand number of the eight renamings.
"""

from __future__ import annotations

from itertools import permutations

import numpy as np

from bideuchre_env.rules.cards import same_colour
from bideuchre_env.runtime.jit import entry_kernel, kernel

MAX_NIBBLES = 12  # ranks of both copies in a hand number

SUIT_MAPS = np.array(
    [p for p in permutations(range(4)) if all(p[same_colour(s)] == same_colour(p[s]) for s in p)],
    np.int64,
)
"""[symmetry, suit]: the eight renamings of the suits that keep the colours apart."""

RENAMED = np.array(
    [[sum(1 << int(m[s]) for s in range(4) if bits >> s & 1) for bits in range(16)]
     for m in SUIT_MAPS],
    np.int64,
)  # fmt: skip
"""[symmetry, suits as bits]: the same suits renamed."""


@kernel
def renamed(hand: int, symmetry: int) -> int:
    """The hand with its suits renamed."""
    out = 0
    for i in range(MAX_NIBBLES):
        out |= RENAMED[symmetry, hand >> (4 * i) & 15] << (4 * i)
    return out


@entry_kernel
def canonical_key(hand: int) -> int:
    """The least of the eight renamings of a hand."""
    least = hand
    for symmetry in range(len(RENAMED)):
        least = min(least, renamed(hand, symmetry))
    return least


@entry_kernel
def canonical_symmetry(hand: int, key: int) -> int:
    """The first renaming that makes this key of the hand."""
    symmetry = 0
    while symmetry < len(RENAMED) - 1 and renamed(hand, symmetry) != key:
        symmetry += 1
    return symmetry
