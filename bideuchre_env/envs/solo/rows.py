"""Kernels that begin episodes of rows with one learner each: its seat, and the draw of players.

The learner is the caller of a table (see `core/table`); its three others act until it is the
learner's turn again. Players are numbers, and each row has its own three. The stream of a row's
players also draws the seat and the players. So a row depends only on its seed and the learner's
actions, unless a player called from Python is random.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bideuchre_env.agents.table.simple import fraction
from bideuchre_env.core.phases.deal import bounded, next_word
from bideuchre_env.core.rows import restart_row
from bideuchre_env.core.table.loop import CALLER, Seating, Setup, Table, begin_episode, seed_players
from bideuchre_env.rules.cards import N_SEATS
from bideuchre_env.runtime.jit import Array, entry_kernel, inline_kernel, kernel

ENTRY = np.dtype(  # a candidate: the players of two seats; a partner is in both
    [
        ("upto", np.float64),  # upper bound of the random numbers that draw it
        ("left", np.int64),
        ("right", np.int64),
    ],
    align=True,
)


class Draws(NamedTuple):
    """The candidates from which each row draws its players."""

    entries: Array  # `ENTRY`
    spans: Array  # int64 (c, 2): first and last entry of choice c
    rows: Array  # int64 (n, 2): a row's choice of opponents, and of its partner


@inline_kernel
def seat_learner(row: Seating, setup: Setup, seat: int, draws: Draws, i: int) -> None:
    """Seat the learner of row i in `seat`, or for -1 in the seat of `setup`, and its players.

    If that is -1 too, the seat is random. A seat is always drawn, so that a fixed seat does not
    change later draws. Players are drawn if there are several candidates.
    """
    drawn = bounded(row, N_SEATS)
    fixed = seat if seat >= 0 else setup.seat
    row.seat = fixed if fixed >= 0 else drawn
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


@entry_kernel
def seed_learners(
    states: Array, seating: Array, streams: Array, chosen: Array, start: int, stop: int
) -> None:
    """Set the game's random stream of the `chosen` rows, bool (n,), to `streams`, uint64 (n, 2).

    The stream of the players is derived from it.
    """
    for i in range(start, stop):
        if chosen[i]:
            s = states[i]
            s.rng[0], s.rng[1] = streams[i, 0], streams[i, 1]
            seed_players(s, seating[i])


@entry_kernel
def begin_rows(
    table: Table,
    draws: Draws,
    chosen: Array,
    dealers: Array,
    scores: Array,
    deals: Array,
    seats: Array,
    start: int,
    stop: int,
) -> None:
    """Start a game in the `chosen` rows; the others have not acted yet.

    For -1 in `dealers` the dealer is random; for -1 in `seats` see `seat_learner`. `deals` has no
    rows if hands are random.
    """
    for i in range(start, stop):
        if chosen[i]:
            row = table.seating[i]
            restart_row(table.states[i], table.tables[0], dealers[i], scores, deals, i)
            seat_learner(row, table.setup[0], seats[i], draws, i)
            begin_episode(row)
