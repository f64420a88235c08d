"""The network that weighs a call: two layers of rectified sums, and a straight way past them.

It says how many points a call brings beyond what its contract brings if it is played.
"""

from __future__ import annotations

import numpy as np

from bideuchre_env.agents.expert.call_features import CALL, N_COUNTS, N_INPUTS
from bideuchre_env.agents.rule.bidding import N_AUCTION_FEATURES
from bideuchre_env.runtime.jit import Array, Row, kernel

FIRST, SECOND = 64, 32  # sums in the two layers
SCALE = 8.0  # points for each 1 the network says

NETWORK = np.dtype(
    [
        # [trumps / no trump]: tricks beyond the table's, for its mean, the hand's counts, the signs
        ("shifts", np.float64, (2, 1 + N_COUNTS + N_AUCTION_FEATURES)),
        ("first", np.float32, (N_INPUTS, FIRST)),
        ("first_base", np.float32, (FIRST,)),
        ("second", np.float32, (FIRST, SECOND)),
        ("second_base", np.float32, (SECOND,)),
        ("last", np.float32, (SECOND,)),
        ("straight", np.float32, (N_INPUTS,)),
        ("base", np.float32),
    ],
    align=True,
)
"""All numbers of the expert's auction in one game."""

LAYERS = tuple(name for name in NETWORK.names or () if name != "shifts")


@kernel
def add_rows(x: Array, first: int, last: int, weights: Array, out: Array) -> None:
    """Add `x[first:last]`, each times its row of the weights, to `out`; four rows at a time."""
    i = first
    while i + 3 < last:
        p, q, r, s = x[i], x[i + 1], x[i + 2], x[i + 3]
        if p != 0.0 or q != 0.0 or r != 0.0 or s != 0.0:
            for j in range(len(out)):
                out[j] += (p * weights[i, j] + q * weights[i + 1, j]) + (
                    r * weights[i + 2, j] + s * weights[i + 3, j]
                )
        i += 4
    while i < last:
        p = x[i]
        for j in range(len(out)):
            out[j] += p * weights[i, j]
        i += 1


@kernel
def copy(x: Array, out: Array) -> None:
    """Write `x` to `out`; assigning it whole would make another copy on the way."""
    for i in range(len(out)):
        out[i] = x[i]


@kernel
def rectify(x: Array) -> None:
    """Set what is negative to 0."""
    for i in range(len(x)):
        if x[i] < 0.0:
            x[i] = 0.0


@kernel
def dot(x: Array, weights: Array, first: int, last: int) -> float:
    """The sum of `x[first:last]`, each times its weight."""
    total = 0.0
    for i in range(first, last):
        total += x[i] * weights[i]
    return total


@kernel
def weigh_table(n: Row, b: Row) -> None:
    """Fill in what the first layer makes of everything but the call."""
    copy(n.first_base, b.table_sums)
    add_rows(b.inputs, 0, CALL, n.first, b.table_sums)
    b.table_straight = n.base + dot(b.inputs, n.straight, 0, CALL)


@kernel
def network_points(n: Row, b: Row) -> float:
    """The points the network adds for the call in `b.inputs`, after `weigh_table`."""
    copy(b.table_sums, b.first_sums)
    add_rows(b.inputs, CALL, N_INPUTS, n.first, b.first_sums)
    rectify(b.first_sums)
    copy(n.second_base, b.second_sums)
    add_rows(b.first_sums, 0, FIRST, n.second, b.second_sums)
    rectify(b.second_sums)
    straight = b.table_straight + dot(b.inputs, n.straight, CALL, N_INPUTS)
    return SCALE * float(straight + dot(b.second_sums, n.last, 0, SECOND))
