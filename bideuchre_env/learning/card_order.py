"""Order of the cards in each strain, as tables; highest and lowest card of a set.

A set of cards is an integer with a bit per card kind (`rules/cards.py` numbers the kinds). A strain
is the trump suit, 0 to 3, or 4 for no trump. The tables cover all 24 kinds; a game with fewer ranks
uses only the first kinds, 0 to `rules.kinds` - 1.
"""

from __future__ import annotations

import numpy as np

from bideuchre_env.core.tables import compile_tables
from bideuchre_env.rules import cards
from bideuchre_env.rules.cards import JACK, MAX_KINDS
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.intrinsics import lowest_bit
from bideuchre_env.runtime.jit import inline_kernel, kernel

_WIDEST = compile_tables(Rules(ranks="9", target=1))[0]

SUIT_OF = np.array(_WIDEST["suit_of"], np.int64)
"""[strain, kind]: the suit a card belongs to, the left bower to trump; int64 (5, 24)."""

STRENGTH = np.take_along_axis(_WIDEST["power"], SUIT_OF[:, np.newaxis], axis=1)[:, 0].astype(
    np.int64
)
"""[strain, kind]: power of the card if its own suit is led; trumps are above all other cards."""

_ABOVE = STRENGTH[:, np.newaxis, :] > STRENGTH[:, :, np.newaxis]  # [strain, kind, other kind]
_SAME_SUIT = SUIT_OF[:, np.newaxis, :] == SUIT_OF[:, :, np.newaxis]
BEATS = (_ABOVE & _SAME_SUIT) @ (1 << np.arange(MAX_KINDS))
"""[strain, kind]: the kinds of the card's suit that rank above it, as bits."""

same_colour = inline_kernel(cards.same_colour)


@inline_kernel
def right_bower(trumps: int) -> int:
    """Return the kind of the highest trump, the jack of the suit `trumps` (0 to 3)."""
    return JACK * 4 + trumps


@inline_kernel
def left_bower(trumps: int) -> int:
    """Return the kind of the second highest trump if the suit `trumps` (0 to 3) is trump.

    It is the jack of the other suit of the same colour.
    """
    return JACK * 4 + same_colour(trumps)


@kernel
def highest(kinds: int, strain: int) -> int:
    """Return the strongest kind of a set; -1 for an empty set.

    Any trump is above all other cards. Of cards of equal rank in different suits, the kind with the
    lowest number is returned.
    """
    best, power = -1, -1
    while kinds:
        kind = lowest_bit(kinds)
        kinds &= kinds - 1
        if STRENGTH[strain, kind] > power:
            best, power = kind, STRENGTH[strain, kind]
    return best


@kernel
def lowest(kinds: int, strain: int) -> int:
    """Return the weakest kind of a set; -1 for an empty set.

    Any trump is above all other cards. Of cards of equal rank in different suits, the kind with the
    highest number is returned.
    """
    best, power = -1, 99
    while kinds:
        kind = lowest_bit(kinds)
        kinds &= kinds - 1
        if STRENGTH[strain, kind] <= power:
            best, power = kind, STRENGTH[strain, kind]
    return best
