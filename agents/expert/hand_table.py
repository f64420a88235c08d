"""What every hand of decks of up to 32 cards is worth as declarer, looked up in a table.

Hands that differ only by a renaming of the suits that keeps the colours apart are worth the same:
the *canonical* one (`learning/suits.py`) stands for them all. A table has a row for each, in order,
found by halving. There are two, of the same form. People are shown `worth_table`
(`hand_worth.npz`), played until its chances are sure by `experiments/fitting/build_hand_table.py`;
`provenance()` says how. The expert calls by `hand_table` (`hand_tables.npz`), some 100 deals a row
from an earlier form of that script, because the network of its calls was fitted with it. The decks
of 20 and of 16 cards, of no variant, have one table for both (`hand_worth_small.npz`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from bideuchre_env.agents.data import read_array, read_provenance
from bideuchre_env.learning.suits import SUIT_MAPS, canonical
from bideuchre_env.rules.cards import N_SEATS
from bideuchre_env.runtime.jit import Array, entry_kernel

FILE = "hand_tables.npz"
WORTH_FILE = "hand_worth.npz"
SMALL_FILE = "hand_worth_small.npz"
SCALE = 255  # a chance of 1 in the table
DECKS = ((24, 1), (16, 2))
"""The decks of the variants there are tables for: (kinds, copies)."""
SMALL_DECKS = ((20, 1), (16, 1))
"""Other decks there is one table for."""


@dataclass(frozen=True)
class HandTable:
    """The table of one deck; rows are canonical hands.

    `keys`, int64 (n,), rising, are the hands. `tricks`, uint8 (n, leads, 5, tricks + 1), are the
    chances of so many tricks with partner, of 255, by who leads first (0 the declarer, 1 another
    seat) and strain; `lone`, uint8 (n, leads, 4, 5), those of all the tricks alone after an
    exchange of 0 to 3 cards. `leads` is 1 where only the declarer leading was played.
    """

    keys: Array
    tricks: Array
    lone: Array

    def row(self, hand: int) -> tuple[int, Array]:
        """The row of a hand number and its suit map, int64 (4,); (-1, ...) if there is none."""
        key, symmetry = canonical(int(hand))
        return int(find_row(self.keys, key)), SUIT_MAPS[symmetry]


@entry_kernel
def find_row(keys: Array, key: int) -> int:
    """Where `key` stands in rising `keys`, int64 (n,); -1 if it does not."""
    low, high = 0, len(keys)
    while low < high:
        middle = (low + high) // 2
        if keys[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low if low < len(keys) and keys[low] == key else -1


def hand_table(kinds: int, copies: int) -> HandTable | None:
    """The expert's table of a deck, read-only; None where there is none."""
    small = (kinds, copies) in SMALL_DECKS
    return _table(SMALL_FILE if small else FILE, kinds, copies)


def worth_table(kinds: int, copies: int) -> HandTable | None:
    """The table of a deck that people are shown, read-only; None where there is none."""
    return _table(worth_file(kinds, copies), kinds, copies)


def worth_file(kinds: int, copies: int) -> str:
    """The file that `worth_table` of a deck is in."""
    return SMALL_FILE if (kinds, copies) in SMALL_DECKS else WORTH_FILE


@lru_cache(maxsize=2 * len(DECKS + SMALL_DECKS))
def _table(file: str, kinds: int, copies: int) -> HandTable | None:
    if (kinds, copies) not in DECKS + SMALL_DECKS:
        return None
    deck, tricks = f"{kinds}x{copies}", kinds * copies // N_SEATS
    keys = read_array(file, f"keys_{deck}", (-1,), np.int64)
    leads = 2 if copies == 1 else 1
    chances = read_array(file, f"tricks_{deck}", (len(keys), leads, 5, tricks + 1), np.uint8)
    lone = read_array(file, f"lone_{deck}", (len(keys), leads, 4, 5), np.uint8)
    return HandTable(keys, chances, lone)


def provenance(file: str = WORTH_FILE) -> dict[str, Any]:
    """How the tables of a file were made: script, seed, deals and by what play."""
    return read_provenance(file)
