"""The entry kernel of tables that contains random players and the rule player."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bideuchre_env.agents.random_agents import cautious_choice
from bideuchre_env.agents.rule.agent import RuleWorkspace, act_by_rule, own_workspace
from bideuchre_env.core.phases.deal import GOLDEN, fraction, mix, next_word
from bideuchre_env.core.step import apply, legal, legal_bits, pick_legal
from bideuchre_env.core.table.loop import OUTSIDE, Seating, Table, enter, next_kind, show
from bideuchre_env.runtime.intrinsics import row_of
from bideuchre_env.runtime.jit import Array, Word, entry_kernel, inline_kernel

RANDOM, CAUTIOUS, RULE = range(3)
"""Kinds of players in this kernel."""


class Draws(NamedTuple):
    """Scratch of cautious players: one row for a thread, or one for each row of a table."""

    masks: Array  # int8 (m, A)
    numbers: Array  # float64 (m, 2)


def new_draws(n_actions: int, m: int = 1) -> Draws:
    """Return scratch with m rows."""
    return Draws(np.zeros((m, n_actions), np.int8), np.zeros((m, 2)))


@entry_kernel
def advance_simple(
    table: Table, kinds: Array, draws: Draws, rule: RuleWorkspace | None, start: int, stop: int
) -> int:
    """Advance rows `start` to `stop` - 1; contains random, cautious and, unless None, rule players.

    Returns the number of their decisions.
    """
    count, own = 0, min(start, len(draws.masks) - 1)
    work = own_workspace(rule, start)
    for i in range(start, stop):
        moving = enter(table, kinds, i)
        while moving:
            while True:
                kind = next_kind(table, kinds, i)
                if kind == OUTSIDE:
                    break
                if kind == RULE:
                    act_by_rule(table.states[i], work)
                else:
                    act_at_random(table, i, kind, draws, own)
                count += 1
            moving = show(table, table.callers, i)
    return count


@inline_kernel
def act_at_random(table: Table, i: int, kind: int, draws: Draws, own: int) -> None:
    """Apply the action of a RANDOM or CAUTIOUS player, drawn from the stream of row i."""
    s, row, t = table.states[i], table.seating[i], table.tables[0]
    if kind == RANDOM:
        apply(s, t, pick_legal(t, s.phase, legal_bits(s, t), draw_word(row, s.turn)))
        return
    mask, numbers = draws.masks[own], draws.numbers[own]
    legal(s, t, row_of(draws.masks, own))
    for j in range(2):
        numbers[j] = fraction(draw_word(row, s.turn))
    apply(s, t, cautious_choice(mask, t, numbers))


@inline_kernel
def draw_word(row: Seating, seat: int) -> Word:
    """Return 64 bits from the row's stream of players, for the player of a seat.

    Without a caller the bits depend on the side: the two tables of a board have the same stream,
    and an agent, which has the other seats at the second table, should not repeat its choices.
    """
    word = next_word(row)
    return mix(word + GOLDEN) if row.seat < 0 and seat & 1 else word
