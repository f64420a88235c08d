"""The numbers of the rule player's bidding, by deck."""

from __future__ import annotations

import numpy as np

from bideuchre_env._jit import Array, records
from bideuchre_env.agents.bidding import N_SIGNS
from bideuchre_env.agents.hand_value import N_FEATURES

WEIGHTS = np.dtype(
    [
        # [role, 0 trumps / 1 no trump, count]: tricks of the declarer's side
        ("tricks", np.float64, (3, 2, N_FEATURES)),
        ("spread", np.float64, (3, 2)),  # [role, trumps / no trump]: deviation of those tricks
        ("signs", np.float64, (2, N_SIGNS)),  # [trumps / no trump, sign]: tricks
        ("lone", np.float64, (2, 4, N_FEATURES)),  # [trumps / no trump, exchange, count]: logit
        ("passing", np.float64, (4, 2)),  # [calls made]: points after a pass, base and per trick
        ("caution", np.float64),  # chance of winning a bid must gain over a pass
        ("press", np.float64),  # chance of winning an early bid may risk to shut others out
        ("lone_caution", np.float64),  # chance of winning a lone bid must gain over another bid
    ],
    align=True,
)


def rough_weights(kinds: int, copies: int) -> Array:
    """Round numbers a player would start from; one `WEIGHTS` record."""
    table = records(WEIGHTS, 1)
    w = table[0]
    n = kinds * copies // 4
    trumps = [0.18 * n, 0.9, 0.8, 0.7, 0.5, 0.4, 0.35, 0.1, 0.1, 0.7, 0.4, 0.5, 0.2, 0.1, 0.0, 0.0]
    plain = [0.3 * n, 0.8, 0.6, -0.3, 0.2, 0.7, 0.8, 0.3, 0.2, 0.1, 0.1, 0, 0, 0, 0.3, 0.0]
    w["tricks"][0] = [trumps, plain]
    w["tricks"][1, :, 0], w["tricks"][1, :, 15] = 0.5, 1.0
    w["tricks"][2, :, 0], w["tricks"][2, :, 15] = 0.5, 1.0
    w["spread"][:] = 0.18 * n
    w["lone"][:, :, 0] = -20.0
    return table
