"""Kernels between the rows of learners and the arrays of a caller."""

from __future__ import annotations

from bideuchre_env.core.rows import FIRST
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
    """Copy the `chosen` rows, bool (n,), of an array, int8 (n, m), to another; zeros elsewhere."""
    for i in range(start, stop):
        for j in range(values.shape[1]):
            out[i, j] = values[i, j] if chosen[i] else 0
