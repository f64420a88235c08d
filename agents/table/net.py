"""The entry kernel of tables that contains the net.

A separate file, so that tables without a net do not import and compile its kernels.
"""

from __future__ import annotations

from bideuchre_env.agents.learned.net import NetWorkspace, net_decision
from bideuchre_env.core.step import apply, apply_forced
from bideuchre_env.core.table.loop import OUTSIDE, Table, enter, next_kind, show
from bideuchre_env.core.view import see
from bideuchre_env.runtime.jit import Array, entry_kernel


@entry_kernel
def advance_net(table: Table, kinds: Array, work: NetWorkspace, start: int, stop: int) -> int:
    """Advance rows `start` to `stop` - 1; contains the net. Returns its number of decisions."""
    count, t, view = 0, table.tables[0], work.expert.views[0]
    for i in range(start, stop):
        moving = enter(table, kinds, i)
        while moving:
            while next_kind(table, kinds, i) != OUTSIDE:
                s = table.states[i]
                bits = apply_forced(s, t)
                if bits != 0:
                    see(s, t, s.turn, view)
                    apply(s, t, net_decision(s, s.turn, bits, work))
                count += 1
            moving = show(table, table.callers, i)
    return count
