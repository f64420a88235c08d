"""Kernels between the rows of learners and the arrays of a caller: actions, rewards, infos."""

from __future__ import annotations

from typing import NamedTuple

from bideuchre_env.core.episode import TERMINATED, TRUNCATED_THERE
from bideuchre_env.core.rows import FIRST
from bideuchre_env.core.state import WON
from bideuchre_env.envs.solo.rows import DONE
from bideuchre_env.runtime.intrinsics import lower_cell
from bideuchre_env.runtime.jit import Array, entry_kernel


@entry_kernel
def pay_rows(
    solos: Array,
    rewards: Array,
    terminated: Array,
    truncated: Array,
    start: int,
    stop: int,
) -> None:
    """Write the rewards and the ends of rows `start` to `stop` - 1; reset the rewards owed to 0.

    `rewards` (n,) float64, `terminated` and `truncated` (n,) bool are overwritten.
    """
    for i in range(start, stop):
        solo = solos[i]
        rewards[i] = solo.owed
        solo.owed = 0.0
        terminated[i] = solo.ending == TERMINATED
        truncated[i] = solo.ending == TRUNCATED_THERE


@entry_kernel
def find_done(solos: Array, done: Array, cells: Array, start: int, stop: int) -> None:
    """Set `done`, bool (n,), where the episode is over; lower `cells[FIRST]` to the first row."""
    for i in range(start, stop):
        done[i] = solos[i].stage == DONE
        if done[i]:
            lower_cell(cells, FIRST, i)


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

    `idle`, bool (n,), marks rows whose action is not used; `acting` becomes its negation.
    `cells[FIRST]` is lowered to the first other row with an action that does not exist.
    """
    for i in range(start, stop):
        action = int(actions[i])
        sound = 0 <= action < n_actions
        choices[i] = action if sound else 0
        acting[i] = not idle[i]
        if not (sound or idle[i]):
            lower_cell(cells, FIRST, i)


class Results(NamedTuple):
    """Results of episodes, by row."""

    hands: Array  # number finished
    score: Array  # of each side
    outcome: Array  # `Outcome`
    winner: Array  # a side, or -1
    illegal: Array  # whether an illegal action ended it


@entry_kernel
def result_rows(
    states: Array, solos: Array, chosen: Array, results: Results, start: int, stop: int
) -> None:
    """Write the results of rows `start` to `stop` - 1; zeros where `chosen`, (n,), is False."""
    for i in range(start, stop):
        s, solo, selected = states[i], solos[i], chosen[i]
        results.hands[i] = solo.hands if selected else 0
        for side in range(2):
            results.score[i, side] = s.score[side] if selected else 0
        results.outcome[i] = s.outcome if selected else 0
        winner = s.winner if s.outcome == WON else -1
        results.winner[i] = winner if selected else 0
        results.illegal[i] = selected and solo.illegal != 0


@entry_kernel
def pick_rows(values: Array, chosen: Array, out: Array, start: int, stop: int) -> None:
    """Copy the `chosen` rows, bool (n,), of an array, int8 (n, m), to another; zeros elsewhere."""
    for i in range(start, stop):
        for j in range(values.shape[1]):
            out[i, j] = values[i, j] if chosen[i] else 0


@entry_kernel
def seat_rows(solos: Array, chosen: Array, seats: Array, start: int, stop: int) -> None:
    """Write the learners' seats to `seats`, whole numbers (n,), where `chosen`; 0 elsewhere."""
    for i in range(start, stop):
        seats[i] = solos[i].seat if chosen[i] else 0
