"""Weights of the rule player's bidding, by deck, from `rule_weights.npz`.

The file is frozen; `agents/README.md` describes how it was made.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from bideuchre_env.agents.data import read_record, sealed
from bideuchre_env.agents.rule.bidding import N_AUCTION_FEATURES
from bideuchre_env.agents.rule.hand_features import N_FEATURES
from bideuchre_env.runtime.jit import Array

FILE = "rule_weights.npz"

WEIGHTS = np.dtype(
    [
        # [role, 0 trumps / 1 no trump, hand feature]: tricks of the declarer's side
        ("tricks", np.float64, (3, 2, N_FEATURES)),
        ("deviation", np.float64, (3, 2)),  # [role, trumps / no trump]: of those tricks
        ("auction", np.float64, (2, N_AUCTION_FEATURES)),  # [trumps / no trump, feature]: tricks
        # [trumps / no trump, exchange, hand feature]: logit of all the tricks alone
        ("lone", np.float64, (2, 4, N_FEATURES)),
        ("passing", np.float64, (4, 2)),  # [calls made]: points after a pass, base and per trick
    ],
    align=True,
)

DECKS = tuple((kinds, copies) for copies in (1, 2) for kinds in (16, 20, 24))


@lru_cache(maxsize=len(DECKS))
def load_weights(kinds: int, copies: int) -> Array:
    """Return the weights for this deck, read-only: one `WEIGHTS` record."""
    return sealed(read_record(FILE, f"{kinds}x{copies}", WEIGHTS))
