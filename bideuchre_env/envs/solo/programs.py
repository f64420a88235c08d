"""GPU programs, a thread for each row with a learner: they call the kernels of `rows.py`.

Masks of rows are bool (n,).

This module is imported when a GPU is asked for.
"""

from __future__ import annotations

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


@Program
def seed_one(states: Array, solos: Array, streams: Array, chosen: Array, i: int) -> None:
    """Give row i its stream, of uint64 (n, 2), and lots that follow from it, if it is chosen."""
    if chosen[i]:
        s = states[i]
        s.rng[0], s.rng[1] = streams[i, 0], streams[i, 1]
        seed_solo(s, solos[i])


@Program
def deal_one(
    rows: SoloRows,
    chosen: Array,
    draws: Draws,
    dealers: Array,
    scores: Array,
    deals: Array,
    seats: Array,
    i: int,
) -> None:
    """Start a game in row i and seat its learner if it is chosen.

    See `restart_rows` and `seat_learners`.
    """
    if chosen[i]:
        restart_row(rows.states[i], rows.tables[0], dealers[i], scores, deals, i)
        seat_learner(rows.solos[i], rows.setup[0], seats[i], draws, i)


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
def play_one(
    rows: SoloRows, acting: Array, choices: Array, seen: Array, scratch: SoloScratch, i: int
) -> None:
    """Carry out the learner's action in row i, let the others act, and show the row.

    The learner acts in rows of `acting`, by `choices`, int64 (n,). Rows of `seen` are shown. The
    scratch has a row for each.
    """
    take_rows(rows, acting, choices, i, i + 1)
    play_rows(rows, i, i + 1, own_scratch(scratch, i))
    show_rows(rows, seen, i, i + 1)


@Program
def play_one_by_rule(
    rows: SoloRows, acting: Array, choices: Array, seen: Array, scratch: SoloScratch, i: int
) -> None:
    """`play_one` where the rule player is one of the others."""
    take_rows(rows, acting, choices, i, i + 1)
    play_rows_by_rule(rows, i, i + 1, own_scratch(scratch, i))
    show_rows(rows, seen, i, i + 1)


@Program
def pay_one(solos: Array, rewards: Array, terminated: Array, truncated: Array, i: int) -> None:
    """Pay row i what it owes its learner, see `pay_rows`."""
    pay_rows(solos, i, i + 1, rewards, terminated, truncated)


@Program
def find_done(solos: Array, done: Array, cells: Array, i: int) -> None:
    """Enter whether the episode of row i is over; `FIRST` of the cells has the lowest such row."""
    done[i] = solos[i].stage == DONE
    if done[i]:
        lower_cell(cells, FIRST, i)


@Program
def take_one(
    actions: Array,
    choices: Array,
    idle: Array,
    acting: Array,
    n_actions: int,
    cells: Array,
    i: int,
) -> None:
    """Copy the action of row i, of whole numbers (n,), to `choices`, int64 (n,).

    `idle` are the rows whose action is not used, and `acting` becomes the others. `FIRST` of the
    cells has the lowest row whose action is none of the game.
    """
    action = int(actions[i])
    sound = 0 <= action < n_actions
    choices[i] = action if sound else 0
    acting[i] = not idle[i]
    if not (sound or idle[i]):
        lower_cell(cells, FIRST, i)


@Program
def result_one(states: Array, solos: Array, chosen: Array, results: Results, i: int) -> None:
    """Enter the result of row i if it is chosen, see `result_rows`."""
    result_rows(states, solos, chosen, i, i + 1, results)


@Program
def pick_one(
    rows: SoloRows, chosen: Array, observations: Array, masks: Array, seats: Array, i: int
) -> None:
    """Copy the observation, the mask and the seat of row i if it is chosen; zeros otherwise."""
    picked = chosen[i]
    for j in range(rows.observations.shape[1]):
        observations[i, j] = rows.observations[i, j] if picked else 0
    for j in range(rows.masks.shape[1]):
        masks[i, j] = rows.masks[i, j] if picked else 0
    seats[i] = rows.solos[i].seat if picked else 0


@Program
def seat_one(solos: Array, seats: Array, i: int) -> None:
    """Enter the learner's seat of row i in `seats`, whole numbers (n,)."""
    seats[i] = solos[i].seat
