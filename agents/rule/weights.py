"""The numbers of the rule player's bidding, by deck: the file `rule_weights.npz`.

It is frozen; `agents/README.md` describes how it was made.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from bideuchre_env.agents.data import read_record
from bideuchre_env.agents.rule.bidding import N_AUCTION_FEATURES
from bideuchre_env.agents.rule.hand_features import N_FEATURES
from bideuchre_env.runtime.jit import Array

FILE = "rule_weights.npz"
CAUTION = 0.0
PRESS = 1.5
LONE_CAUTION = 0.0

WEIGHTS = np.dtype(
    [
        # [role, 0 trumps / 1 no trump, hand feature]: tricks of the declarer's side
        ("tricks", np.float64, (3, 2, N_FEATURES)),
        ("deviation", np.float64, (3, 2)),  # [role, trumps / no trump]: of those tricks
        ("auction", np.float64, (2, N_AUCTION_FEATURES)),  # [trumps / no trump, feature]: tricks
        # [trumps / no trump, exchange, hand feature]: logit of all the tricks alone
        ("lone", np.float64, (2, 4, N_FEATURES)),
        ("passing", np.float64, (4, 2)),  # [calls made]: points after a pass, base and per trick
        ("caution", np.float64),  # chance of winning a bid must gain over a pass
        ("press", np.float64),  # points an early bid may give up to shut others out
        ("lone_caution", np.float64),  # chance of winning a lone bid must gain over another bid
    ],
    align=True,
)

FITTED = ("tricks", "deviation", "auction", "lone", "passing")
DECKS = tuple((kinds, copies) for copies in (1, 2) for kinds in (16, 20, 24))


@lru_cache(maxsize=len(DECKS))
def load_weights(kinds: int, copies: int) -> Array:
    """The numbers for this deck, read-only: one `WEIGHTS` record."""
    weights = read_record(FILE, f"{kinds}x{copies}", WEIGHTS, FITTED)
    weights["caution"], weights["press"], weights["lone_caution"] = CAUTION, PRESS, LONE_CAUTION
    weights.flags.writeable = False
    return weights
