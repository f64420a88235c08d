"""Tables of the worth of every hand to a declarer, for decks of up to 32 cards.

Hands that differ only by a permutation of suits that preserves pairs of the same colour have the
same worth: the *canonical* hand (`learning/suits.py`) represents them all. A table has a row for
each canonical hand, sorted for binary search. `experiments/fitting/build_hand_table.py` plays deals
until the chances are precise enough; `provenance()` returns its options. The expert calls by these
tables, and `bideuchre hand` prints them. No variant has the decks of 20 and 16 cards.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from bideuchre_env.agents.data import damaged, read_array, read_provenance, sealed
from bideuchre_env.learning.suits import SUIT_MAPS, canonical
from bideuchre_env.rules.bids import N_EXCHANGES
from bideuchre_env.rules.cards import MAX_KINDS, N_SEATS, N_SUITS, NO_TRUMP
from bideuchre_env.runtime.jit import Array, entry_kernel

FILE = "hand_worth.npz"
STRAINS = NO_TRUMP + 1
"""Strains of a table. The values of low no trump are those of no trump for the mirrored hand."""
SCALE = 255  # a chance of 1 in the table
DECKS = ((24, 1), (16, 2), (20, 1), (16, 1))
"""The decks that have a table: (kinds, copies)."""


class HandTable(NamedTuple):
    """The table of one deck; rows are canonical hands.

    `keys`, int64 (n,), are the hand numbers in rising order. The chances are in units of 1/255, for
    the hand as declarer. `tricks`, uint8 (n, leads, 5, tricks + 1), has the chance of each number
    of tricks with partner: [row, leader to the first trick, strain, tricks]. `lone`, uint8
    (n, leads, 4, 5), has the chance of all the tricks alone: [row, leader, cards exchanged,
    strain]. The leader is 0 for the declarer, 1 for another seat; `leads` is 1 if only deals in
    which the declarer leads were played.
    """

    keys: Array
    tricks: Array
    lone: Array

    def row(self, hand: int) -> tuple[int, Array]:
        """Return the index of a hand's row, -1 if it has none, and its suit map.

        `hand` is a full hand as an integer (see `rules/cards.py`). The suit map, int64 (4,), has
        the suit in the table for each suit of the hand.
        """
        key, symmetry = canonical(int(hand))
        return int(find_row(self.keys, key)), SUIT_MAPS[symmetry]


@entry_kernel
def find_row(keys: Array, key: int) -> int:
    """Return the index of `key` in the sorted `keys`, int64 (n,); -1 if it is not there."""
    at = int(np.searchsorted(keys, key))
    return at if at < len(keys) and keys[at] == key else -1


@entry_kernel
def mirrored(hand: int, kinds: int) -> int:
    """Return the hand, as an integer, with its ranks reversed in a deck of `kinds` kinds.

    The lowest rank becomes the ace: the play of a deal at low no trump is that of the mirrored deal
    at no trump.
    """
    out = 0
    for copy in range(2):
        for rank in range(kinds // N_SUITS):
            suits = hand >> (copy * MAX_KINDS + N_SUITS * rank) & ((1 << N_SUITS) - 1)
            out |= suits << (copy * MAX_KINDS + kinds - N_SUITS * (rank + 1))
    return out


def omitted(tricks: int) -> int:
    """Return the number of tricks whose chance the file omits: the chances of a hand sum to 1."""
    return tricks // 2


@lru_cache(maxsize=len(DECKS))
def hand_table(kinds: int, copies: int) -> HandTable | None:
    """Return the table of the deck of `kinds` kinds in `copies` copies; None if it has none.

    Raises `TableError` if the data file is missing or damaged.
    """
    if (kinds, copies) not in DECKS:
        return None
    deck, tricks = f"{kinds}x{copies}", kinds * copies // N_SEATS
    keys = read_array(FILE, f"keys_{deck}", (-1,), np.int64)
    leads = 2 if copies == 1 else 1
    rows = len(keys), leads
    chances = read_array(FILE, f"tricks_{deck}", (*rows, STRAINS, tricks), np.uint8)
    rest = SCALE - chances.sum(axis=-1, dtype=np.int64)
    if len(rest) and rest.min() < 0:
        raise damaged(FILE, f"tricks_{deck}: chances above 1 in sum")
    chances = sealed(np.asfortranarray(np.insert(chances, omitted(tricks), rest, axis=-1)))
    lone = read_array(FILE, f"lone_{deck}", (*rows, N_EXCHANGES, STRAINS), np.uint8)
    return HandTable(keys, chances, lone)


def provenance() -> dict[str, Any]:
    """Return the provenance of the tables: script, command, seed, deals and players."""
    return read_provenance(FILE)
