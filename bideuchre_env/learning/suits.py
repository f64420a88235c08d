"""Renamings of suits that preserve the colour pairs, and canonical hands.

A *symmetry* is the number (0 to 7) of such a renaming, its row in `SUIT_MAPS`; 0 is the identity. A
*hand number* is a hand as an integer (see `rules/cards.py`). Hands that differ only by a symmetry
have the same value, so one of them represents all: the *canonical* hand, which has the smallest
hand number of the eight renamed hands.
"""

from __future__ import annotations

from itertools import permutations

import numpy as np

from bideuchre_env.rules.cards import NO_TRUMP, same_colour
from bideuchre_env.runtime.intrinsics import lowest_bit
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
    """Return the number of the hand with its suits renamed by a symmetry."""
    out = 0
    for i in range(MAX_NIBBLES):
        out |= RENAMED[symmetry, hand >> (4 * i) & 15] << (4 * i)
    return out


SMALLEST = np.zeros((1 << len(SUIT_MAPS), 16), np.uint8)
"""[set of symmetries as bits, set of suits]: those that map the suits to the smallest number."""
for _few in range(1, len(SMALLEST)):
    _members = [symmetry for symmetry in range(len(SUIT_MAPS)) if _few >> symmetry & 1]
    for _suits in range(16):
        _least = RENAMED[_members, _suits].min()
        SMALLEST[_few, _suits] = sum(1 << s for s in _members if RENAMED[s, _suits] == _least)

TRUMP_FIRST = np.array(
    [sum(1 << int(s) for s in np.flatnonzero(SUIT_MAPS[:, suit] == 0)) for suit in range(4)],
    np.int64,
)
"""[suit]: the symmetries, as bits, that map the suit to suit 0."""


@kernel
def first_renamings(strain: int) -> int:
    """Return the symmetries, as bits, that map `strain` to suit 0 if it is a suit (0 to 3).

    For 4 (no trump) or -1 (none yet) they are all symmetries.
    """
    return TRUMP_FIRST[strain] if 0 <= strain < NO_TRUMP else (1 << len(SUIT_MAPS)) - 1


@kernel
def smallest(symmetries: int, number: int) -> int:
    """Return those of the symmetries (bits) that map a hand number to the smallest number.

    The number may also consist of other sets of suits, four bits each.
    """
    shift = 4 * (MAX_NIBBLES - 1)
    while shift >= 0 and symmetries & (symmetries - 1):
        symmetries = int(SMALLEST[symmetries, number >> shift & 15])
        shift -= 4
    return symmetries


@entry_kernel
def canonical(hand: int) -> tuple[int, int]:
    """Return the number of the canonical hand, and the first symmetry that maps `hand` to it."""
    symmetry = lowest_bit(smallest(first_renamings(NO_TRUMP), hand))
    return renamed(hand, symmetry), symmetry
