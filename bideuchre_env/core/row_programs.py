"""What a GPU runs for one row: programs `(job, i)` that call what loops on the CPU are made of.

A job names all that a program reads and writes. This module is imported when a GPU is asked for.
"""

from __future__ import annotations

from typing import NamedTuple

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


class Seeding(NamedTuple):
    """Streams for chosen rows, see `seed_rows`."""

    states: Array
    chosen: Array  # int64 (n,): 1 or 0
    low: Word
    high: Word


@Program
def seed_one(job: Seeding, i: int) -> None:
    """Seed row i if it is chosen."""
    if job.chosen[i]:
        seed_row(job.states[i], job.low, job.high, i)


class Restarting(NamedTuple):
    """New games in chosen rows, see `restart_rows`."""

    rows: Rows
    chosen: Array  # int64 (n,): 1 or 0
    dealers: Array
    scores: Array
    deals: Array


@Program
def restart_one(job: Restarting, i: int) -> None:
    """Start a game in row i if it is chosen; nothing is paid, and the row is presented."""
    rows = job.rows
    if job.chosen[i]:
        tally = rows.tallies[i]
        tally.length, tally.hands, tally.reward = 0, 0, 0.0
        dealer, t = job.dealers[i], rows.tables[0]
        restart_row(rows.states[i], t, dealer, job.scores, job.deals, i)
    for seat in range(N_SEATS):
        rows.rewards[i, seat] = 0.0
    rows.terminated[i] = rows.truncated[i] = rows.ended[i] = False
    present_row(rows, i)


@Program
def present_one(job: Rows, i: int) -> None:
    """Write what the seat to act of row i sees and may do."""
    present_row(job, i)


class Step(NamedTuple):
    """A step of all rows: checked first, then carried out."""

    rows: Rows
    actions: Array  # whole numbers (n,)
    cells: Array  # int64: by `FIRST` the first row whose action is not legal, by `ENDED` 1 or 0


class Opening(NamedTuple):
    """The cells of an outcome that is not known yet."""

    cells: Array
    n: int  # rows


@Program
def open_cells(job: Opening, i: int) -> None:
    """No row is known to refuse its action, none to have ended."""
    job.cells[FIRST] = job.n
    job.cells[ENDED] = 0


@Program
def take_one(job: Step, i: int) -> None:
    """Take the action of row i over, or say that it is not legal."""
    action = int(job.actions[i])
    if row_allows(job.rows, i, action):
        job.rows.actions[i] = action
    else:
        lower_cell(job.cells, FIRST, i)


@Program
def step_one(job: Step, i: int) -> None:
    """Carry out the action taken over in row i, unless some row has refused its own."""
    if job.cells[FIRST] == len(job.rows.states) and step_rows(job.rows, i, i + 1):
        job.cells[ENDED] = 1


class Sampling(NamedTuple):
    """Uniform legal actions, see `sample_rows`."""

    rows: Rows
    low: Word
    count: Word
    actions: Array  # int64 (n,)


@Program
def sample_one(job: Sampling, i: int) -> None:
    """Draw an action for row i."""
    rows = job.rows
    job.actions[i] = sample_row(rows.keys[i], rows.tables[0], job.low, job.count, i)


class Viewing(NamedTuple):
    """What seats see of their rows, see `observe_rows` and `global_rows`."""

    rows: Rows
    seats: Array  # int64 (n,)
    out: Array  # int8 (n, D), or (n, state_size)


@Program
def observe_one(job: Viewing, i: int) -> None:
    """Write what seat `seats[i]` sees of row i."""
    rows = job.rows
    encode(rows.states[i], rows.tables[0], rows.offsets[0], job.seats[i], row_of(job.out, i))


@Program
def global_one(job: Viewing, i: int) -> None:
    """Write the global state of row i."""
    rows = job.rows
    encode_state(rows.states[i], rows.tables[0], rows.offsets[0], row_of(job.out, i))


class Scaling(NamedTuple):
    """Observations as numbers in [-1, 1], see `scale_rows`."""

    observations: Array
    scale: Array
    out: Array  # float32 (n, D)


@Program
def scale_one(job: Scaling, i: int) -> None:
    """Scale row i."""
    scale_row(job.observations, job.scale, job.out, i)
