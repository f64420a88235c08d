"""The entry kernel of tables that contains the expert."""

from __future__ import annotations

from bideuchre_env.agents.expert.agent import ExpertWorkspace, expert_decision
from bideuchre_env.core.step import apply, apply_forced
from bideuchre_env.core.table.loop import OUTSIDE, Table, enter, next_kind, show
from bideuchre_env.core.view import see
from bideuchre_env.runtime.jit import Array, entry_kernel


@entry_kernel
def advance_expert(table: Table, kinds: Array, work: ExpertWorkspace, start: int, stop: int) -> int:
    """Advance rows `start` to `stop` - 1; contains the expert. Returns its number of decisions."""
    count, t, view = 0, table.tables[0], work.views[0]
    for i in range(start, stop):
        moving = enter(table, kinds, i)
        while moving:
            while next_kind(table, kinds, i) != OUTSIDE:
                s = table.states[i]
                bits = apply_forced(s, t)
                if bits != 0:
                    see(s, t, s.turn, view)
                    apply(s, t, expert_decision(view, bits, work))
                count += 1
            moving = show(table, table.callers, i)
    return count
