"""The highest and the lowest card of a set, by a game's tables, and the colours of suits.

A set of cards is an integer with a bit per card kind (`rules/cards.py` numbers the kinds). A strain
is the trump suit, 0 to 3, 4 for no trump or 5 for low no trump.
"""

from __future__ import annotations

from bideuchre_env.core.records import Tables
from bideuchre_env.rules import cards
from bideuchre_env.runtime.intrinsics import lowest_bit
from bideuchre_env.runtime.jit import inline_kernel, kernel

same_colour = inline_kernel(cards.same_colour)


@kernel
def highest(t: Tables, strain: int, kinds: int) -> int:
    """Return the strongest kind of a set; -1 for an empty set.

    Any trump is above all other cards. Of cards of equal rank in different suits, the kind with the
    lowest number is returned.
    """
    best, power = -1, -1
    while kinds:
        kind = lowest_bit(kinds)
        kinds &= kinds - 1
        if t.strength[strain, kind] > power:
            best, power = kind, t.strength[strain, kind]
    return best


@kernel
def lowest(t: Tables, strain: int, kinds: int) -> int:
    """Return the weakest kind of a set; -1 for an empty set.

    Any trump is above all other cards. Of cards of equal rank in different suits, the kind with the
    highest number is returned.
    """
    best, power = -1, 99
    while kinds:
        kind = lowest_bit(kinds)
        kinds &= kinds - 1
        if t.strength[strain, kind] <= power:
            best, power = kind, t.strength[strain, kind]
    return best
