"""GPU programs, a thread for each row: they call the functions that loops on the CPU are made of.

This module is imported when a GPU is asked for.
"""

from __future__ import annotations

from bideuchre_env.core.observation.encode import encode, encode_state
from bideuchre_env.core.observation.scaling import scale_row
from bideuchre_env.core.rows import (
    Rows,
    present_row,
    restart_row,
    row_allows,
    sample_row,
    seed_row,
    step_rows,
)
from bideuchre_env.rules.cards import N_SEATS
from bideuchre_env.runtime.device import Program, lower_cell
from bideuchre_env.runtime.intrinsics import row_of
from bideuchre_env.runtime.jit import Array, Word

# The cells of a step's outcome.
FIRST, ENDED = 0, 1
N_CELLS = 2


@Program
def seed_one(states: Array, chosen: Array, low: Word, high: Word, i: int) -> None:
    """Seed row i if it is chosen, by 1 in int64 (n,), see `seed_rows`."""
    if chosen[i]:
        seed_row(states[i], low, high, i)


@Program
def restart_one(
    rows: Rows, chosen: Array, dealers: Array, scores: Array, deals: Array, i: int
) -> None:
    """Start a game in row i if it is chosen, see `restart_rows`; present the row in any case.

    No row is paid.
    """
    if chosen[i]:
        tally = rows.tallies[i]
        tally.length, tally.hands, tally.reward = 0, 0, 0.0
        dealer, t = dealers[i], rows.tables[0]
        restart_row(rows.states[i], t, dealer, scores, deals, i)
    for seat in range(N_SEATS):
        rows.rewards[i, seat] = 0.0
    rows.terminated[i] = rows.truncated[i] = rows.ended[i] = False
    present_row(rows, i)


@Program
def present_one(rows: Rows, i: int) -> None:
    """Write what the seat to act of row i sees and may do."""
    present_row(rows, i)


@Program
def open_cells(cells: Array, n: int, i: int) -> None:
    """Reset the cells of an outcome of `n` rows: none refuses its action, none has ended."""
    cells[FIRST] = n
    cells[ENDED] = 0


@Program
def take_one(rows: Rows, actions: Array, cells: Array, i: int) -> None:
    """Take the action of row i over, or enter in `FIRST` of the cells that it is not legal.

    `actions` are whole numbers (n,). `FIRST` of the cells, int64, has the lowest such row.
    """
    action = int(actions[i])
    if row_allows(rows, i, action):
        rows.actions[i] = action
    else:
        lower_cell(cells, FIRST, i)


@Program
def step_one(rows: Rows, cells: Array, i: int) -> None:
    """Carry out the action taken over in row i, unless some row has refused its own.

    `ENDED` of the cells is set to 1 where an episode ends.
    """
    if cells[FIRST] == len(rows.states) and step_rows(rows, i, i + 1):
        cells[ENDED] = 1


@Program
def sample_one(rows: Rows, low: Word, count: Word, actions: Array, i: int) -> None:
    """Draw an action for row i, see `sample_rows`."""
    actions[i] = sample_row(rows.keys[i], rows.tables[0], low, count, i)


@Program
def observe_one(rows: Rows, seats: Array, out: Array, i: int) -> None:
    """Write what seat `seats[i]` sees of row i, see `observe_rows`."""
    encode(rows.states[i], rows.tables[0], rows.offsets[0], seats[i], row_of(out, i))


@Program
def global_one(rows: Rows, out: Array, i: int) -> None:
    """Write the global state of row i, see `global_rows`."""
    encode_state(rows.states[i], rows.tables[0], rows.offsets[0], row_of(out, i))


@Program
def scale_one(observations: Array, scale: Array, out: Array, i: int) -> None:
    """Scale the observation of row i, see `scale_rows`."""
    scale_row(observations, scale, out, i)
