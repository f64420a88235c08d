"""Who is likely to hold an unseen card, by deck: the file `holder_odds.npz`.

The declarer has most of the trumps, hardly a jack beside them, and has played its aces by the end:
a layout that deals the unseen cards alike to all is not like the truth. The numbers were counted
by `experiments/fitting/build_holder_odds.py`; `provenance()` says how.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from bideuchre_env.agents.data import PROVENANCE, read_array, read_file, read_provenance
from bideuchre_env.agents.expert.sampled_deals import MOST_HELD, N_CONTRACTS, N_HOLDERS, N_RANKS
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.jit import Array

FILE = "holder_odds.npz"
SHAPE = (N_CONTRACTS, MOST_HELD, N_HOLDERS, N_RANKS)


def leanings(rules: Rules) -> Array:
    """How likely each holder is to have a card, uint8 `SHAPE`, read-only.

    The indices are those of `layouts.LAYOUT`; zeros, which say nothing, for a deck that is not in
    the file and for contracts that no registered variant of the deck has. `TableError` if the file
    is missing or damaged.
    """
    return deck_leanings(rules.kinds, rules.copies)


@lru_cache(maxsize=64)
def deck_leanings(kinds: int, copies: int) -> Array:
    """The same by deck."""
    name = f"{kinds}x{copies}"
    if name in known_decks():
        return read_array(FILE, name, SHAPE, np.uint8)
    unknown = np.zeros(SHAPE, np.uint8)
    unknown.flags.writeable = False
    return unknown


def known_decks() -> tuple[str, ...]:
    """The decks of the file, as "kinds x copies": `24x1` and so on."""
    return tuple(name for name in read_file(FILE) if name != PROVENANCE)


def provenance() -> dict[str, Any]:
    """How the numbers were made: script, command, version, seed, hands and rounds, games."""
    return read_provenance(FILE)
