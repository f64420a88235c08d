"""The entry kernel of tables that contains the expert or the net.

A separate file, so that tables without them do not import and compile their kernels.
"""

from __future__ import annotations

from bideuchre_env.agents.expert.decision import PlayerWorkspace, decide
from bideuchre_env.core.step import apply, apply_forced
from bideuchre_env.core.table.loop import OUTSIDE, Table, enter, next_kind, show
from bideuchre_env.core.view import see
from bideuchre_env.runtime.jit import Array, entry_kernel


@entry_kernel
def advance_player(table: Table, kinds: Array, work: PlayerWorkspace, start: int, stop: int) -> int:
    """Advance rows `start` to `stop` - 1; contains one player. Returns its number of decisions."""
    count, t, view = 0, table.tables[0], work.views[0]
    for i in range(start, stop):
        moving = enter(table, kinds, i)
        while moving:
            while next_kind(table, kinds, i) != OUTSIDE:
                s = table.states[i]
                bits = apply_forced(s, t)
                if bits != 0:
                    see(s, t, s.turn, view)
                    apply(s, t, decide(s, s.turn, view, bits, work))
                count += 1
            moving = show(table, table.callers, i)
    return count
