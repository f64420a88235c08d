"""Actions of agents that are called from Python: which rows ask them, the check, and the effect."""

from __future__ import annotations

from collections.abc import Callable

from bideuchre_env.core.legality import illegal
from bideuchre_env.core.step import apply, is_legal
from bideuchre_env.core.table.loop import ASKED, MOVING, Table, next_kind, show
from bideuchre_env.errors import IllegalActionError
from bideuchre_env.rules import actions
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.jit import Array, entry_kernel


@entry_kernel
def list_rows(seating: Array, stage: int, player: int, index: Array) -> int:
    """Write the rows of a stage to `index`, int64 (n,); return their number.

    Of the stage ASKED, only the rows that ask `player` are written.
    """
    count = 0
    for i in range(len(seating)):
        row = seating[i]
        if row.stage == stage and (stage != ASKED or row.asked == player):
            index[count] = i
            count += 1
    return count


@entry_kernel
def first_illegal(states: Array, tables: Array, index: Array, choices: Array) -> int:
    """Return the first j whose action `choices[j]`, any int64, is illegal in row `index[j]`, or -1.

    Legality is computed from the state, because an agent may have changed its mask.
    """
    for j in range(len(index)):
        if not is_legal(states[index[j]], tables[0], choices[j]):
            return j
    return -1


@entry_kernel
def answer_rows(table: Table, kinds: Array, index: Array, choices: Array) -> None:
    """Apply the legal action `choices[j]` in row `index[j]`; advance it to the next player."""
    for j in range(len(index)):
        i = index[j]
        apply(table.states[i], table.tables[0], choices[j])
        table.seating[i].stage = MOVING
        next_kind(table, kinds, i)
        while show(table, table.callers, i):
            next_kind(table, kinds, i)


@entry_kernel
def continue_rows(table: Table, kinds: Array, index: Array) -> None:
    """Continue the rows `index`, new ones or paused at the end of a hand; see `next_kind`."""
    for j in range(len(index)):
        table.seating[index[j]].stage = MOVING
        next_kind(table, kinds, index[j])


def require_legal(
    rules: Rules,
    states: Array,
    tables: Array,
    index: Array,
    choices: Array,
    where: Callable[[int, int], str],
) -> None:
    """Raise `IllegalActionError` unless each `choices[j]`, int64, is legal in row `index[j]`.

    The message names the seat, the action and the legal ones. `where(j, index[j])` is its
    beginning, which names who has chosen.
    """
    at = int(first_illegal(states, tables, index, choices))
    if at >= 0:
        row, names, choice = int(index[at]), actions.of(rules).names, int(choices[at])
        action = names[choice] if 0 <= choice < len(names) else choice
        raise IllegalActionError(illegal(states[row], rules, action, f"{where(at, row)}: "))
