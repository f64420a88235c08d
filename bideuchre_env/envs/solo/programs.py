"""What a GPU runs for one row with a learner: programs that call the kernels of `rows.py`.

This module is imported when a GPU is asked for.
"""

from __future__ import annotations

from typing import NamedTuple

from bideuchre_env.agents.rule.agent import own_workspace
from bideuchre_env.core.row_programs import FIRST
from bideuchre_env.core.rows import restart_row
from bideuchre_env.envs.solo.rows import (
    DONE,
    Draws,
    Results,
    SoloRows,
    SoloScratch,
    pay_rows,
    play_rows,
    play_rows_by_rule,
    result_rows,
    seat_learner,
    seed_solo,
    show_rows,
    take_rows,
)
from bideuchre_env.runtime.device import Program, lower_cell
from bideuchre_env.runtime.jit import Array, inline_kernel


class Seeding(NamedTuple):
    """Streams for chosen rows."""

    states: Array
    solos: Array
    streams: Array  # uint64 (n, 2)
    chosen: Array  # bool (n,)


@Program
def seed_one(job: Seeding, i: int) -> None:
    """Give row i its stream, and lots that follow from it, if it is chosen."""
    if job.chosen[i]:
        s = job.states[i]
        s.rng[0], s.rng[1] = job.streams[i, 0], job.streams[i, 1]
        seed_solo(s, job.solos[i])


class Dealing(NamedTuple):
    """New episodes in chosen rows, see `restart_rows` and `seat_learners`."""

    rows: SoloRows
    chosen: Array  # bool (n,)
    dealers: Array
    scores: Array
    deals: Array
    seats: Array
    draws: Draws


@Program
def deal_one(job: Dealing, i: int) -> None:
    """Start a game in row i and seat its learner if it is chosen."""
    if job.chosen[i]:
        rows = job.rows
        dealer = job.dealers[i]
        restart_row(rows.states[i], rows.tables[0], dealer, job.scores, job.deals, i)
        seat_learner(rows.solos[i], rows.setup[0], job.seats[i], job.draws, i)


class Turn(NamedTuple):
    """The learners' actions, what others do then, and what learners see after that."""

    rows: SoloRows
    acting: Array  # bool (n,): rows whose learner acts
    choices: Array  # int64 (n,)
    seen: Array  # bool (n,): rows that are shown
    scratch: SoloScratch  # a row for each; of what nobody needs, none


@inline_kernel
def own_scratch(scratch: SoloScratch, i: int) -> SoloScratch:
    """The scratch of one row."""
    return SoloScratch(
        scratch.observations[i : i + 1],
        scratch.masks[i : i + 1],
        scratch.draws[i : i + 1],
        scratch.choices[i : i + 1],
        own_workspace(scratch.rule, i),
    )


@Program
def play_one(job: Turn, i: int) -> None:
    """Carry out the learner's action in row i, let the others act, and show the row."""
    take_rows(job.rows, job.acting, job.choices, i, i + 1)
    play_rows(job.rows, i, i + 1, own_scratch(job.scratch, i))
    show_rows(job.rows, job.seen, i, i + 1)


@Program
def play_one_by_rule(job: Turn, i: int) -> None:
    """The same where the rule player is one of the others."""
    take_rows(job.rows, job.acting, job.choices, i, i + 1)
    play_rows_by_rule(job.rows, i, i + 1, own_scratch(job.scratch, i))
    show_rows(job.rows, job.seen, i, i + 1)


class Paying(NamedTuple):
    """What learners are owed, see `pay_rows`."""

    solos: Array
    rewards: Array
    terminated: Array
    truncated: Array


@Program
def pay_one(job: Paying, i: int) -> None:
    """Hand out what row i owes its learner."""
    pay_rows(job.solos, i, i + 1, job.rewards, job.terminated, job.truncated)


class Ends(NamedTuple):
    """Which episodes are over."""

    solos: Array
    done: Array  # bool (n,)
    cells: Array  # int64: in `FIRST` the first of them, as `lower_cell` leaves it


@Program
def find_done(job: Ends, i: int) -> None:
    """Enter whether the episode of row i is over."""
    job.done[i] = job.solos[i].stage == DONE
    if job.done[i]:
        lower_cell(job.cells, FIRST, i)


class Taking(NamedTuple):
    """Actions as they were given, to be checked and taken over."""

    given: Array  # whole numbers (n,)
    choices: Array  # int64 (n,)
    idle: Array  # bool (n,): rows whose action is not used
    acting: Array  # bool (n,): the others
    n_actions: int
    cells: Array  # int64: in `FIRST` the first row whose action is none of the game


@Program
def take_one(job: Taking, i: int) -> None:
    """Take the action of row i over, or say that it is no action."""
    action, idle = int(job.given[i]), job.idle[i]
    sound = 0 <= action < job.n_actions
    job.choices[i] = action if sound else 0
    job.acting[i] = not idle
    if not (sound or idle):
        lower_cell(job.cells, FIRST, i)


class Summing(NamedTuple):
    """Results of chosen rows, see `result_rows`."""

    states: Array
    solos: Array
    chosen: Array  # bool (n,)
    results: Results


@Program
def result_one(job: Summing, i: int) -> None:
    """Enter the result of row i if it is chosen."""
    result_rows(job.states, job.solos, job.chosen, i, i + 1, job.results)


class Picking(NamedTuple):
    """What chosen rows show, zeros where the others do."""

    rows: SoloRows
    chosen: Array  # bool (n,)
    observations: Array  # int8 (n, D)
    masks: Array  # int8 (n, A)
    seats: Array  # whole numbers (n,)


@Program
def pick_one(job: Picking, i: int) -> None:
    """Copy what row i shows if it is chosen."""
    rows, chosen = job.rows, job.chosen[i]
    for j in range(rows.observations.shape[1]):
        job.observations[i, j] = rows.observations[i, j] if chosen else 0
    for j in range(rows.masks.shape[1]):
        job.masks[i, j] = rows.masks[i, j] if chosen else 0
    job.seats[i] = rows.solos[i].seat if chosen else 0


class Seats(NamedTuple):
    """The learners' seats."""

    solos: Array
    seats: Array  # whole numbers (n,)


@Program
def seat_one(job: Seats, i: int) -> None:
    """Enter the learner's seat of row i."""
    job.seats[i] = job.solos[i].seat
