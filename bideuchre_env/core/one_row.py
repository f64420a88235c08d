"""Kernels on row 0 only: for single environments, and for replaying games."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from bideuchre_env.core.episode import ending, side_0_reward
from bideuchre_env.core.observation.encode import encode, encode_state
from bideuchre_env.core.observation.layout import OFFSETS
from bideuchre_env.core.phases.deal import deal_given, deal_hand, start_game
from bideuchre_env.core.state import DEAL, new_states
from bideuchre_env.core.step import apply, is_legal, legal
from bideuchre_env.core.tables import TABLES
from bideuchre_env.runtime.intrinsics import line_of
from bideuchre_env.runtime.jit import Array, direct, entry_kernel, new_rows

# Return values of `play_row` that are not seats.
NOT_LEGAL, HAND_OVER = -1, -2


@entry_kernel
def play_row(
    states: Array, tables: Array, offsets: Array, action: int, observation: Array, mask: Array
) -> int:
    """Apply an action, any whole number, to row 0 and return the next seat to act.

    Writes the observation of that seat, int8 (D,), and its `mask`, int8 (A,). Returns `NOT_LEGAL`
    for an illegal action, which changes nothing, and `HAND_OVER` after the last action of a hand;
    the next hand is not dealt. In both cases the two arrays are not written.
    """
    s = states[0]
    if not is_legal(s, tables[0], action):
        return NOT_LEGAL
    apply(s, tables[0], action)
    if s.phase >= DEAL:
        return HAND_OVER
    encode(s, tables[0], offsets[0], s.turn, line_of(observation))
    legal(s, tables[0], line_of(mask))
    return s.turn


@entry_kernel
def reward_row(states: Array, by_points: bool) -> float:
    """Return side 0's reward for the finished hand of row 0, see `episode.side_0_reward`."""
    return side_0_reward(states[0], by_points)


@entry_kernel
def ending_row(states: Array, by_hand: bool) -> int:
    """Return `episode.ending` for the finished hand of row 0."""
    return ending(states[0], by_hand)


@entry_kernel
def look_row(states: Array, tables: Array, offsets: Array, observation: Array, mask: Array) -> int:
    """Write the observation and the mask of the seat to act in row 0; return that seat.

    `observation` is int8 (D,), `mask` int8 (A,).
    """
    s = states[0]
    encode(s, tables[0], offsets[0], s.turn, line_of(observation))
    legal(s, tables[0], line_of(mask))
    return s.turn


@entry_kernel
def observe_row(
    states: Array, tables: Array, offsets: Array, seat: int, observation: Array
) -> None:
    """Write the observation of a seat of row 0 to `observation`, int8 (D,)."""
    encode(states[0], tables[0], offsets[0], seat, line_of(observation))


@entry_kernel
def global_row(states: Array, tables: Array, offsets: Array, out: Array) -> None:
    """Write the global state of row 0 to `out`, int8 (state_size,)."""
    encode_state(states[0], tables[0], offsets[0], line_of(out))


@entry_kernel
def mask_row(states: Array, tables: Array, mask: Array) -> None:
    """Write the mask of the seat to act in row 0 to `mask`, int8 (A,)."""
    legal(states[0], tables[0], line_of(mask))


@entry_kernel
def step_row(states: Array, tables: Array, action: int) -> None:
    """Apply a legal action to row 0; after the end of a hand, the next one is not dealt."""
    apply(states[0], tables[0], action)


@entry_kernel
def start_row(states: Array, dealer: int, score_0: int, score_1: int) -> None:
    """Start a game in row 0 with these scores of the sides, but deal no hand yet.

    `dealer` is a seat, or -1 for a random one. The row must have been seeded.
    """
    s = states[0]
    start_game(s, dealer)
    s.score[0] = score_0
    s.score[1] = score_1


@entry_kernel
def next_row(states: Array, tables: Array, offsets: Array, observation: Array, mask: Array) -> int:
    """Deal the next hand in row 0, and do as `look_row` for the first seat to act."""
    deal_hand(states[0], tables[0])
    return look_row(states, tables, offsets, observation, mask)


@entry_kernel
def deal_given_row(states: Array, tables: Array, hands: Array) -> None:
    """Deal these four hands, int64 (4,), as the next hand of row 0."""
    deal_given(states[0], tables[0], hands)


@entry_kernel
def replay_row(states: Array, tables: Array, actions: Array) -> int:
    """Apply actions, int64 (m,), to row 0 up to the first illegal one; return its index, or -1.

    An action after the end of the hand is illegal.
    """
    for i in range(len(actions)):
        if not is_legal(states[0], tables[0], actions[i]):
            return i
        apply(states[0], tables[0], actions[i])
    return -1


@lru_cache(maxsize=1)
def direct_kernels() -> tuple[Callable[..., Any], ...]:
    """Return `play_row`, `next_row`, `look_row`, `observe_row`, `reward_row` and `ending_row`.

    The order is that of this list. They are in a form with faster calls (`jit.direct`), which does
    not check its arguments: rows, observations and masks must be writable arrays, tables and
    offsets read-only ones.
    """
    tables, offsets, view = new_rows(TABLES, 1), new_rows(OFFSETS, 1), np.zeros(1, np.int8)
    tables.flags.writeable = offsets.flags.writeable = False
    game = (new_states(1), tables, offsets)
    return (
        direct(play_row, *game, 0, view, view),
        direct(next_row, *game, view, view),
        direct(look_row, *game, view, view),
        direct(observe_row, *game, 0, view),
        direct(reward_row, game[0], True),
        direct(ending_row, game[0], True),
    )
