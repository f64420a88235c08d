"""Rows of learners with the net among the other players.

A separate file, so that environments without a net do not import and compile its kernels.
"""

from __future__ import annotations

from bideuchre_env.agents.learned.net import NetWorkspace, net_decision
from bideuchre_env.agents.rule.agent import act_by_rule
from bideuchre_env.core.records import State
from bideuchre_env.core.step import apply, legal_bits
from bideuchre_env.core.view import see
from bideuchre_env.envs.solo.rows import (
    ASKED,
    MOVING,
    NET,
    RULE,
    SOMEBODY,
    SoloRows,
    SoloScratch,
    Turn,
    apply_forced,
    play_on,
    show_row,
    take_action,
)
from bideuchre_env.runtime.jit import entry_kernel, kernel


@entry_kernel
def play_rows_by_net(
    rows: SoloRows,
    turn: Turn,
    scratch: SoloScratch,
    first: NetWorkspace,
    second: NetWorkspace,
    start: int,
    stop: int,
) -> None:
    """Like `rows.play_rows_by_rule`, and nets act too.

    Players of kind `NET` act by the net of the workspace `first`, other nets by that of `second`.
    """
    kinds, t = rows.kinds, rows.tables[0]
    for i in range(start, stop):
        s, solo = rows.states[i], rows.solos[i]
        take_action(rows, turn, i)
        play_on(rows, i, scratch)
        while solo.stage == ASKED and kinds[solo.asked] != SOMEBODY:
            kind = kinds[solo.asked]
            if not apply_forced(s, t):
                if kind == RULE:
                    act_by_rule(s, scratch.rule)
                elif kind == NET:
                    act_by_net(s, first)
                else:
                    act_by_net(s, second)
            solo.stage = MOVING
            play_on(rows, i, scratch)
        show_row(rows, turn, i)


@kernel
def act_by_net(s: State, work: NetWorkspace) -> None:
    """Apply the net's action to state `s`."""
    t = work.expert.tables[0]
    see(s, t, s.turn, work.expert.views[0])
    apply(s, t, net_decision(s, s.turn, legal_bits(s, t), work))
