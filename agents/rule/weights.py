"""The numbers of the rule player's bidding, by deck."""

from __future__ import annotations

import numpy as np

from bideuchre_env.agents.rule.bidding import N_SIGNS
from bideuchre_env.agents.rule.hand_features import N_FEATURES
from bideuchre_env.agents.rule.hand_numbers import HAND_NUMBERS
from bideuchre_env.runtime.jit import Array, new_rows

CAUTION = 0.0
PRESS = 1.5
LONE_CAUTION = 0.0

WEIGHTS = np.dtype(
    [
        # [role, 0 trumps / 1 no trump, count]: tricks of the declarer's side
        ("tricks", np.float64, (3, 2, N_FEATURES)),
        ("spread", np.float64, (3, 2)),  # [role, trumps / no trump]: deviation of those tricks
        ("signs", np.float64, (2, N_SIGNS)),  # [trumps / no trump, sign]: tricks
        ("lone", np.float64, (2, 4, N_FEATURES)),  # [trumps / no trump, exchange, count]: logit
        ("passing", np.float64, (4, 2)),  # [calls made]: points after a pass, base and per trick
        ("caution", np.float64),  # chance of winning a bid must gain over a pass
        ("press", np.float64),  # points an early bid may give up to shut others out
        ("lone_caution", np.float64),  # chance of winning a lone bid must gain over another bid
    ],
    align=True,
)


DECKS = tuple((kinds, copies) for copies in (1, 2) for kinds in (16, 20, 24))
"""The decks there are numbers for, in their order: (kinds, copies)."""


def load_weights(kinds: int, copies: int) -> Array:
    """The numbers for this deck as one `WEIGHTS` record."""
    table = new_rows(WEIGHTS, 1)
    w = table[0]
    numbers = HAND_NUMBERS[DECKS.index((kinds, copies))]
    for name in ("tricks", "spread", "signs", "lone", "passing"):
        shape = w[name].shape
        w[name] = np.array(numbers[name], np.float64).reshape(shape)
    w["caution"], w["press"], w["lone_caution"] = CAUTION, PRESS, LONE_CAUTION
    table.flags.writeable = False
    return table
