"""Kernels between the rows of learners and the arrays of a caller: actions and infos."""

from __future__ import annotations

from typing import NamedTuple

from bideuchre_env.core.rows import FIRST
from bideuchre_env.core.state import WON
from bideuchre_env.core.table.loop import Table
from bideuchre_env.runtime.intrinsics import lower_cell
from bideuchre_env.runtime.jit import Array, entry_kernel


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
def result_rows(table: Table, chosen: Array, results: Results, start: int, stop: int) -> None:
    """Write the results of rows `start` to `stop` - 1; zeros where `chosen`, (n,), is False."""
    for i in range(start, stop):
        s, selected = table.states[i], chosen[i]
        results.hands[i] = table.seating[i].hands if selected else 0
        for side in range(2):
            results.score[i, side] = s.score[side] if selected else 0
        results.outcome[i] = s.outcome if selected else 0
        winner = s.winner if s.outcome == WON else -1
        results.winner[i] = winner if selected else 0
        results.illegal[i] = selected and table.seating[i].illegal != 0


@entry_kernel
def pick_rows(values: Array, chosen: Array, out: Array, start: int, stop: int) -> None:
    """Copy the `chosen` rows, bool (n,), of an array, int8 (n, m), to another; zeros elsewhere."""
    for i in range(start, stop):
        for j in range(values.shape[1]):
            out[i, j] = values[i, j] if chosen[i] else 0
