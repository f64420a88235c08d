"""Players of a row: their numbers by seat, and the draw of a learner's seat and of the others.

The learner is the caller of a row. Its three others act until it is its turn again. Players are
numbers, and each row has its own three. The stream of a row's players also draws the seat and the
players. So a row depends only on its seed and the learner's actions, unless a player called from
Python is random.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np

from bideuchre_env.core.phases.deal import bounded, fraction, next_word, seed_stream
from bideuchre_env.core.records import State
from bideuchre_env.rules.cards import N_SEATS
from bideuchre_env.runtime.jit import Array, Row, inline_kernel, kernel

CALLER = -1
"""Number of the player that acts through `Callers`; all other numbers are from 0."""
SEATING = np.dtype(  # beside each STATE
    [
        ("rng", np.uint64, (2,)),  # random stream of the players
        ("owed", np.float64),  # reward of `seat` that is not paid yet
        ("hands", np.int32),  # finished in this episode
        ("player", np.int32, (N_SEATS,)),  # number of each seat's player, or CALLER
        ("asked", np.int32),  # player whose choice is awaited
        ("seat", np.int8),  # the seat that is paid and shown its observation, or -1
        ("stage", np.int8),
        ("settled", np.int8),  # 1: the hand that is over is in `owed` and in the sums
        ("ending", np.int8),  # of an episode that is over, see `episode`
        ("illegal", np.int8),  # 1: it ended with an illegal action
        ("decided", np.int8),  # 1: the caller has acted in this episode
    ],
    align=True,
)
ENTRY = np.dtype(  # a candidate: the players of two seats; a partner is in both
    [
        ("upto", np.float64),  # upper bound of the random numbers that draw it
        ("left", np.int64),
        ("right", np.int64),
    ],
    align=True,
)
Seating: TypeAlias = Row  # SEATING


class Draws(NamedTuple):
    """The candidates from which each row draws its players."""

    entries: Array  # `ENTRY`
    spans: Array  # int64 (c, 2): first and last entry of choice c
    rows: Array  # int64 (n, 2): a row's choice of opponents, and of its partner


@inline_kernel
def seat_learner(row: Seating, seat: int, draws: Draws, i: int) -> None:
    """Seat the learner of row i in `seat`, random for -1, and its players.

    A seat is always drawn, so that a fixed seat does not change later draws. Players are drawn if
    there are several candidates.
    """
    drawn = bounded(row, N_SEATS)
    row.seat = seat if seat >= 0 else drawn
    pair = draw_entry(row, draws, draws.rows[i, 0])
    row.player[row.seat] = CALLER
    row.player[(row.seat + 1) & 3] = draws.entries[pair].left
    row.player[(row.seat + 3) & 3] = draws.entries[pair].right
    partner = draw_entry(row, draws, draws.rows[i, 1])
    row.player[(row.seat + 2) & 3] = draws.entries[partner].left


@kernel
def draw_entry(row: Seating, draws: Draws, choice: int) -> int:
    """Return the index of an entry of `choice`, drawn from the row's stream if it has several."""
    entry: int = draws.spans[choice, 0]
    last = draws.spans[choice, 1]
    if entry < last:
        number = fraction(next_word(row))
        while entry < last and number >= draws.entries[entry].upto:
            entry += 1
    return entry


@inline_kernel
def seed_players(s: State, row: Seating) -> None:
    """Seed the stream of a row's players from that of its game, before anything is drawn.

    The swapped words seed a second stream, far from the first.
    """
    seed_stream(row, s.rng[1], s.rng[0])
