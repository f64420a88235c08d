"""Certain actions and dominated calls, as the rule player finds them."""

import numpy as np
from support.agent_games import live_rows, look, redeals

from bideuchre_env.agents.rule.agent import call_bits, certain_action
from bideuchre_env.core.observation.layout import layout_of
from bideuchre_env.core.rows import apply_rows
from bideuchre_env.core.state import AUCTION
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.learning.view import new_view, read_view
from bideuchre_env.rules.cards import hand_kinds
from bideuchre_env.runtime.intrinsics import row_of
from bideuchre_env.runtime.jit import entry_kernel


@entry_kernel
def settle(observations, masks, tables, offsets, views, certain, reduced):
    """Write to `certain`, for each row, the action that certainly takes all tricks left, or -1.

    Set the dominated calls in `reduced`, a copy of the masks, to 0.
    """
    t, view = tables[0], views[0]
    for i in range(len(observations)):
        read_view(row_of(observations, i), t, offsets[0], view)
        certain[i] = certain_action(view, t, row_of(masks, i))
        bits = call_bits(view, row_of(masks, i), t)
        for action in range(t.trump_offset if view.phase == AUCTION else 0):
            call = 0 if action == 0 else 1 + (action - 1) // t.strains_per_bid
            if bits >> call & 1 == 0:
                reduced[i, action] = 0


def settled(rules, rows, masks):
    """Return the actions, (n,), that certainly take all tricks left, or -1.

    Also return the masks, (n, A), without dominated calls.
    """
    certain, reduced = np.zeros(len(rows), np.int64), masks.copy()
    rows, masks = np.ascontiguousarray(rows), np.ascontiguousarray(masks)
    tables, offsets = compile_tables(rules), layout_of(rules).offsets
    settle(rows, masks, tables, offsets, new_view(), certain, reduced)
    return certain, reduced


def wins_the_rest(rules, agent, row, deals=40):
    """Whether an agent takes all tricks left in each of `deals` redeals of the hidden cards.

    The agent plays the seat to act in the state row; all other seats play at random.
    """
    states, tables = redeals(rules, row, deals, seed=2), compile_tables(rules)
    seat, side, rng = int(row["turn"]), int(row["turn"]) & 1, np.random.default_rng(4)
    while len(live := live_rows(states)):
        rows, masks = look(rules, states, live)
        own = np.asarray(states["turn"])[live] == seat
        actions = (masks * rng.random(masks.shape)).argmax(axis=1)
        if own.any():
            actions[own] = agent.act_rows(rows[own], masks[own])
        apply_rows(states, tables, live, actions)
    lost = rules.tricks - row["tricks_won"][side] - len(hand_kinds(int(row["hands"][seat])))
    return bool((np.asarray(states["tricks_won"])[:, 1 - side] == lost).all())
