"""Kernels of rollouts: play whole hands at many tables, with counts per table."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bideuchre_env.agents.rule.agent import RuleWorkspace, act_by_rule, own_workspace
from bideuchre_env.core.observation.encode import encode
from bideuchre_env.core.observation.layout import layout_of
from bideuchre_env.core.phases.deal import GOLDEN, deal_hand, mix, start_game
from bideuchre_env.core.rows import seed_rows, start_rows
from bideuchre_env.core.state import DEAL, OVER, new_states
from bideuchre_env.core.step import apply, legal, legal_bits, pick_legal
from bideuchre_env.core.table.loop import SUM, add_hand
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.rules import actions
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.intrinsics import row_of
from bideuchre_env.runtime.jit import Array, Word, entry_kernel, inline_kernel, new_rows


class Workspace(NamedTuple):
    """Arrays of a rollout; row i belongs to table i, except in `tables` and `offsets`.

    `quotas` has the number of hands to play at each table, `sums` (`SUM`) the results.
    """

    tables: Array
    offsets: Array
    states: Array
    quotas: Array  # hands to play
    observations: Array
    masks: Array
    decisions: Array  # int64: so far
    sums: Array  # `SUM`


def new_workspace(
    rules: Rules, hands: int, at_once: int, words: tuple[np.uint64, np.uint64]
) -> Workspace:
    """Return the arrays of a rollout, with a game started, but not dealt, at each table.

    There are `at_once` tables, or `hands` if that is less; the hands are distributed over them.
    `words` are the low and the high 64 bits of the seed.
    """
    m = min(at_once, hands)
    tables, layout = compile_tables(rules), layout_of(rules)
    space = Workspace(
        tables,
        layout.offsets,
        states=new_states(m),
        quotas=np.array([hands * (i + 1) // m - hands * i // m for i in range(m)]),
        observations=np.zeros((m, layout.size), np.int8),
        masks=np.zeros((m, actions.of(rules).n), np.int8),
        decisions=np.zeros(m, np.int64),
        sums=new_rows(SUM, m),
    )
    seed_rows(space.states, *words)
    start_rows(space.states, tables, np.full(m, -1))
    return space


@entry_kernel
def random_hands(
    space: Workspace, low: Word, observe: bool, most: int, start: int, stop: int
) -> None:
    """Play hands with random actions at each table i from `start` to `stop` - 1.

    A call plays up to `most` hands at a table, the next call the hands after them, until it has
    had `quotas[i]`. The actions of table i are seeded by `low` and i. `observe` encodes its rows of
    `observations` and `masks` at every decision.
    """
    for i in range(start, stop):
        if observe:  # a single loop for both cases would slow the other one down
            hands_at_random(space, i, low, True, most)
        else:
            hands_at_random(space, i, low, False, most)


@inline_kernel
def hands_at_random(space: Workspace, i: int, low: Word, observe: bool, most: int) -> None:
    """Play up to `most` hands of table i with random actions, see `random_hands`."""
    t, o = space.tables[0], space.offsets[0]
    s, hands = space.states[i], space.sums[i].hands
    draw = mix(low + GOLDEN * np.uint64(i + 1)) + GOLDEN * np.uint64(space.decisions[i])
    observation, mask = row_of(space.observations, i), row_of(space.masks, i)
    for _ in range(min(most, space.quotas[i] - hands)):
        deal_hand(s, t)
        n = 0
        while s.phase < DEAL:
            if observe:
                encode(s, t, o, s.turn, observation)
                legal(s, t, mask)
            draw += GOLDEN
            apply(s, t, pick_legal(t, s.phase, legal_bits(s, t), mix(draw)))
            n += 1
        close_hand(space, i, n)


@entry_kernel
def rule_hands(space: Workspace, work: RuleWorkspace, most: int, start: int, stop: int) -> None:
    """Play hands by the rule player at each table from `start` to `stop` - 1, as `random_hands`."""
    t, own = space.tables[0], own_workspace(work, start)
    for i in range(start, stop):
        s, hands = space.states[i], space.sums[i].hands
        for _ in range(min(most, space.quotas[i] - hands)):
            deal_hand(s, t)
            n = 0
            while s.phase < DEAL:
                act_by_rule(s, own)
                n += 1
            close_hand(space, i, n)


@inline_kernel
def close_hand(space: Workspace, i: int, decisions: int) -> None:
    """Add the finished hand of table i, of so many actions; after a game, start a new one."""
    s = space.states[i]
    space.decisions[i] += decisions
    add_hand(s, space.tables[0], space.sums[i])
    if s.phase == OVER:
        start_game(s, -1)
