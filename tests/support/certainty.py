"""Decisions that are certain, and calls that are surely worse, as the rule player finds them."""

from __future__ import annotations

import numpy as np
from support.agent_games import look
from support.positions import Position, redrawn

from bideuchre_env.agents.rule.agent import call_bits, certain_action
from bideuchre_env.core.observation.layout import layout_of
from bideuchre_env.core.rows import apply_rows
from bideuchre_env.core.state import AUCTION, DEAL
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.learning.view import new_view, read_view
from bideuchre_env.rules.cards import hand_kinds
from bideuchre_env.runtime.intrinsics import row_of
from bideuchre_env.runtime.jit import entry_kernel


@entry_kernel
def settle(observations, masks, tables, offsets, views, certain, kept):
    """Fill `certain` with actions or -1, and take calls that are surely worse out of `kept`."""
    t, view = tables[0], views[0]
    for i in range(len(observations)):
        read_view(row_of(observations, i), t, offsets[0], view)
        certain[i] = certain_action(view, t, row_of(masks, i))
        bits = call_bits(view, row_of(masks, i), t)
        for action in range(t.trump_offset if view.phase == AUCTION else 0):
            call = 0 if action == 0 else 1 + (action - 1) // t.strains_per_bid
            if bits >> call & 1 == 0:
                kept[i, action] = 0


def settled(rules, rows, masks):
    """By row: the action that takes every trick left, or -1; the masks of calls worth making."""
    certain, kept = np.zeros(len(rows), np.int64), masks.copy()
    rows, masks = np.ascontiguousarray(rows), np.ascontiguousarray(masks)
    tables, offsets = compile_tables(rules), layout_of(rules).offsets
    settle(rows, masks, tables, offsets, new_view(), certain, kept)
    return certain, kept


def play_out(rules, agent, states, seed):
    """Let an agent play the seat to act of each row, and chance the others, to the hand's end."""
    tables, rng = compile_tables(rules), np.random.default_rng(seed)
    seats = np.asarray(states["turn"]).copy()
    while len(live := np.flatnonzero(np.asarray(states["phase"]) < DEAL)):
        rows, masks = look(rules, states, live)
        own = np.asarray(states["turn"])[live] == seats[live]
        actions = (masks * rng.random(masks.shape)).argmax(axis=1)
        if own.any():
            actions[own] = agent.act_rows(rows[own], masks[own])
        apply_rows(states, tables, live, actions)


def wins_the_rest(rules, agent, row, deals=40):
    """Whether an agent takes all tricks left from a row, however the hidden cards lie."""
    position = Position(rules, {}, agent="random")
    position.states[0] = row
    states, side = redrawn(position, deals, seed=2), int(row["turn"]) & 1
    play_out(rules, agent, states, seed=4)
    lost = rules.tricks - (
        row["tricks_won"][side] + len(hand_kinds(int(row["hands"][row["turn"]])))
    )
    return bool((np.asarray(states["tricks_won"])[:, 1 - side] == lost).all())
