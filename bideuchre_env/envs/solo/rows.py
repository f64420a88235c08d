"""Kernels of rows with a learner each: seeds, new episodes, and actions of a caller."""

from __future__ import annotations

from bideuchre_env.core.phases.deal import seed_players
from bideuchre_env.core.rows import FIRST, restart_row
from bideuchre_env.core.table.loop import Callers, Table, begin_episode, seat_learner
from bideuchre_env.runtime.intrinsics import lower_cell
from bideuchre_env.runtime.jit import Array, entry_kernel


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
    callers: Callers,
    chosen: Array,
    dealers: Array,
    scores: Array,
    deals: Array,
    seats: Array,
    start: int,
    stop: int,
) -> None:
    """Start a game in the `chosen` rows; the others have not acted yet.

    For -1 in `dealers` the dealer is random, for -1 in `seats` the seat is that of the setup.
    `deals` has no rows if hands are random.
    """
    for i in range(start, stop):
        if chosen[i]:
            row = table.seating[i]
            restart_row(table.states[i], table.tables[0], dealers[i], scores, deals, i)
            seat = seats[i] if seats[i] >= 0 else table.setup[0].seat
            seat_learner(row, seat, callers.draws, i)
            begin_episode(row)
            callers.acting[i] = callers.done[i] = False


@entry_kernel
def check_actions(
    actions: Array,
    idle: Array,
    n_actions: int,
    choices: Array,
    acting: Array,
    cells: Array,
    start: int,
    stop: int,
) -> None:
    """Copy actions, whole numbers (n,), to `choices`, int64 (n,); 0 for one that does not exist.

    `idle`, bool (n,), marks rows whose action is not used. `acting`, bool (n,), becomes True.
    `cells[FIRST]` is lowered to the first other row with an action that does not exist.
    """
    for i in range(start, stop):
        action = int(actions[i])
        sound = 0 <= action < n_actions
        choices[i] = action if sound else 0
        acting[i] = True
        if not (sound or idle[i]):
            lower_cell(cells, FIRST, i)


@entry_kernel
def pick_rows(values: Array, chosen: Array, out: Array, start: int, stop: int) -> None:
    """Copy the `chosen` rows, bool (n,), of an array (n, m) to another; zeros elsewhere."""
    for i in range(start, stop):
        for j in range(values.shape[1]):
            out[i, j] = values[i, j] if chosen[i] else 0
