"""Kernels over many rows: seed, start, encode, sample and step, with no Python per row.

A kernel whose last parameters are `start` and `stop` works on rows `start` to `stop` - 1: the share
of one CPU thread, or one row for each thread of a GPU, see `runtime/devices.py`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bideuchre_env.core.episode import GOES_ON, TERMINATED, TRUNCATED_THERE, ending, side_0_reward
from bideuchre_env.core.observation.encode import encode, encode_state
from bideuchre_env.core.phases.deal import (
    GOLDEN,
    deal_given,
    deal_hand,
    mix,
    seed_stream,
    start_game,
)
from bideuchre_env.core.records import Offsets, State, Tables
from bideuchre_env.core.state import DEAL, WON
from bideuchre_env.core.step import (
    allows,
    apply,
    legal,
    legal_bits,
    pick_legal,
    play_forced,
    write_mask,
)
from bideuchre_env.rules.cards import N_SEATS
from bideuchre_env.runtime.intrinsics import lower_cell, row_of
from bideuchre_env.runtime.jit import Array, Row, Word, entry_kernel, inline_kernel, kernel

# The key of a row: its legal bits, and above them its phase. It validates actions.
KEY_SHIFT = 48
KEY_BITS = (1 << KEY_SHIFT) - 1

# Totals of the running episode of a row.
EPISODE_TALLY = np.dtype(
    [
        ("reward", np.float64),  # side 0's
        ("length", np.int32),  # decisions
        ("hands", np.int32),
    ],
    align=True,
)


@entry_kernel
def seed_rows(states: Array, low: Word, high: Word) -> None:
    """Seed row i with the 128-bit seed `high:low` + i."""
    for i in range(len(states)):
        seed_row(states[i], low, high, i)


@entry_kernel
def seed_chosen_rows(
    states: Array, chosen: Array, low: Word, high: Word, start: int, stop: int
) -> None:
    """Seed each row i that is `chosen`, bool (n,), as `seed_rows` does."""
    for i in range(start, stop):
        if chosen[i]:
            seed_row(states[i], low, high, i)


@inline_kernel
def seed_row(s: State, low: Word, high: Word, i: int) -> None:
    """Seed a row with the 128-bit seed `high:low` + i."""
    word = low + np.uint64(i)
    carry = np.uint64(1) if word < low else np.uint64(0)
    seed_stream(s, word, high + carry)


@entry_kernel
def start_rows(states: Array, tables: Array, dealers: Array) -> None:
    """Start a game in every row, up to its first deal; dealers (n,) are seats or -1 (random)."""
    for i in range(len(states)):
        start_game(states[i], dealers[i])


@entry_kernel
def deal_rows(states: Array, tables: Array) -> None:
    """Deal the next hand in every row whose hand is over and whose game is not."""
    for i in range(len(states)):
        if states[i].phase == DEAL:
            deal_hand(states[i], tables[0])


@entry_kernel
def encode_rows(
    states: Array, tables: Array, offsets: Array, index: Array, observations: Array, masks: Array
) -> None:
    """Write the observation and the mask of the seat to act in each row of `index` (m,).

    `observations` (>= m, D) and `masks` (>= m, A) are int8; their first m rows are overwritten.
    """
    for j in range(len(index)):
        s = states[index[j]]
        encode(s, tables[0], offsets[0], s.turn, row_of(observations, j))
        legal(s, tables[0], row_of(masks, j))


@entry_kernel
def apply_rows(states: Array, tables: Array, index: Array, choices: Array) -> None:
    """Apply the legal action `choices[j]` to row `index[j]`; no next hand is dealt."""
    for j in range(len(index)):
        apply(states[index[j]], tables[0], choices[j])


@entry_kernel
def sample_rows(
    keys: Array, tables: Array, low: Word, count: Word, actions: Array, start: int, stop: int
) -> None:
    """Write uniform legal actions to rows `start` to `stop` - 1 of `actions`, int64 (n,).

    `keys`, int64 (n,), has the legal bits and the phase of each row, see `KEY_SHIFT`. The action of
    row i is a function of its key, of i, and of two numbers: `low`, of a seed, and `count`, of the
    draw.
    """
    t = tables[0]
    for i in range(max(start, 0), stop):  # `max` spares tests for negative indices
        word = mix(mix(low + np.uint64(i) * GOLDEN) + count * GOLDEN)
        actions[i] = pick_legal(t, keys[i] >> KEY_SHIFT, keys[i] & KEY_BITS, word)


@inline_kernel
def restart_row(s: State, t: Tables, dealer: int, scores: Array, deals: Array, i: int) -> None:
    """Start a game in a row and deal its first hand.

    The sides start with `scores[i]`. The hands are `deals[i]`, or random if `deals` is empty.
    """
    start_game(s, dealer)
    for side in range(2):
        s.score[side] = scores[i, side]
    if len(deals) == 0:
        deal_hand(s, t)
    else:
        deal_given(s, t, deals[i])


class Episodes(NamedTuple):
    """The result of the last finished episode of each row.

    `r` has the rewards by seat, `l` the number of decisions, `hands` the number of hands. `winner`
    is a side, or -1; `outcome` is an `Outcome`.
    """

    r: Array  # float32 (n, 4): the rewards by seat
    l: Array  # int32 (n,): decisions  # noqa: E741
    hands: Array  # int32 (n,)
    score: Array  # int64 (n, 2): points of each side at the end
    winner: Array  # int8 (n,): side, or -1
    outcome: Array  # int8 (n,): Outcome


class Rows(NamedTuple):
    """Rows of one game with the observations, masks and rewards that a step writes.

    `by_hand`: an episode is one hand, not a game. `by_points`: rewards are points, see
    `side_0_reward`. `seats` are the seats to act, `keys` the rows' legal bits and phases (see
    `KEY_SHIFT`). `ended` is `terminated` or `truncated`; `tallies` has sums over the running
    episodes.
    """

    states: Array  # STATE (n,)
    tables: Array  # TABLES (1,)
    offsets: Array  # OFFSETS (1,)
    by_hand: bool  # an episode is a hand
    by_points: bool  # a reward is points
    skip_forced: bool  # a step also applies the actions that follow while only one is legal
    actions: Array  # int64 (n,): to be applied
    observations: Array  # int8 (n, D)
    masks: Array  # int8 (n, A)
    seats: Array  # int8 (n,): to act
    keys: Array  # int64 (n,): legal bits and phase
    rewards: Array  # float32 (n, 4)
    terminated: Array  # bool (n,)
    truncated: Array  # bool (n,)
    ended: Array  # bool (n,): either
    tallies: Array  # EPISODE_TALLY (n,)
    episodes: Episodes


# Indices of `cells`, int64: results of a kernel over all rows.
FIRST, ENDED = 0, 1
N_CELLS = 2


@entry_kernel
def restart_rows(
    rows: Rows, chosen: Array, dealers: Array, scores: Array, deals: Array, start: int, stop: int
) -> None:
    """Start a game in every `chosen` row, bool (n,), see `restart_row`.

    The rewards and the end flags become 0 in all rows from `start` to `stop` - 1, also in rows that
    are not chosen. Observations and masks are not written, see `present_rows`. `dealers` (n,) are
    seats or -1; `scores` (n, 2), int64, are the sides' first scores; `deals` (n, 4), int64, are the
    hands to deal, or has length 0 for random deals.
    """
    for i in range(start, stop):
        if chosen[i]:
            tally = rows.tallies[i]
            tally.length, tally.hands, tally.reward = 0, 0, 0.0
            restart_row(rows.states[i], rows.tables[0], dealers[i], scores, deals, i)
        clear_payment(rows, i)


@inline_kernel
def clear_payment(rows: Rows, i: int) -> None:
    """Set the rewards and the end flags of row i to zero."""
    for seat in range(N_SEATS):
        rows.rewards[i, seat] = 0.0
    rows.terminated[i] = rows.truncated[i] = rows.ended[i] = False


@entry_kernel
def present_rows(rows: Rows, start: int, stop: int) -> None:
    """Write the observation, the mask and the key of the seat to act, and the seat itself.

    Only rows `start` to `stop` - 1 are written.
    """
    for i in range(start, stop):
        present_row(rows, i)


@inline_kernel
def present_row(rows: Rows, i: int) -> None:
    """Write the seat to act in row i, its observation and mask, and the row's key."""
    s, t = rows.states[i], rows.tables[0]
    rows.seats[i] = s.turn
    seen, mask = row_of(rows.observations, i), row_of(rows.masks, i)
    rows.keys[i] = present(s, t, rows.offsets[0], seen, mask)


# Return values of `take_rows` and `step_all_rows` that are not rows.
NONE_ENDED, SOME_ENDED = -1, -2


@entry_kernel
def take_rows(rows: Rows, actions: Array) -> int:
    """Copy the actions, int64 (n,), to `rows.actions`; return the first illegal row, or -1.

    If a row is illegal on the first pass, nothing has changed. Each action is checked again as it
    is copied, because another thread may write to `actions` meanwhile.
    """
    for taking in range(2):
        for i in range(len(rows.keys)):
            action = actions[i]
            if not row_allows(rows, i, action):
                return i
            if taking:
                rows.actions[i] = action
    return NONE_ENDED


@inline_kernel
def row_allows(rows: Rows, i: int, action: int) -> bool:
    """Whether an action, any whole number, is legal in row i."""
    key = rows.keys[i]
    return allows(rows.tables[0], key >> KEY_SHIFT, key & KEY_BITS, action)


@entry_kernel
def step_all_rows(rows: Rows, actions: Array) -> int:
    """Apply one action in every row, int64 (n,), see `step_rows`.

    Returns `NONE_ENDED` or `SOME_ENDED`, depending on whether an episode ended. If an action is
    illegal, returns the first such row, and no row has changed.
    """
    row = take_rows(rows, actions)
    if row >= 0:
        return row
    return SOME_ENDED if step_rows(rows, 0, len(rows.states)) else NONE_ENDED


@kernel
def flag_rows(rows: Rows, actions: Array, cells: Array, start: int, stop: int) -> None:
    """Copy the legal actions among `actions`, whole numbers (n,), to `rows.actions`.

    Several threads may call it for different rows. `cells`, int64 (2,), holds the number of rows at
    `FIRST` before the call; it is lowered to the first row with an illegal action.
    """
    for i in range(start, stop):
        action = int(actions[i])
        if row_allows(rows, i, action):
            rows.actions[i] = action
        else:
            lower_cell(cells, FIRST, i)


@kernel
def step_unflagged_rows(rows: Rows, cells: Array, start: int, stop: int) -> None:
    """Call `step_rows`, unless `flag_rows` has found an illegal action in any row.

    Sets `cells[ENDED]` to 1 if an episode ends; otherwise `cells` is not changed.
    """
    if cells[FIRST] == len(rows.states) and step_rows(rows, start, stop):
        cells[ENDED] = 1


@kernel
def step_rows(rows: Rows, start: int, stop: int) -> bool:
    """Apply `rows.actions` in rows `start` to `stop` - 1; return whether an episode ended.

    With `skip_forced`, the actions that follow are applied while only one is legal, up to the end
    of the hand.
    After the end of a hand the next one is dealt. After the end of an episode its result is
    written to `episodes` and a new game starts (autoreset within the step).
    """
    t, ended = rows.tables[0], False
    for i in range(start, stop):
        s, tally = rows.states[i], rows.tallies[i]
        clear_payment(rows, i)
        tally.length += 1
        apply(s, t, rows.actions[i])
        if rows.skip_forced:
            play_forced(s, t)
        if s.phase >= DEAL:
            reward, end = side_0_reward(s, rows.by_points), ending(s, rows.by_hand)
            for seat in range(N_SEATS):
                rows.rewards[i, seat] = -reward if seat & 1 else reward
            tally.hands += 1
            tally.reward += reward
            if end != GOES_ON:
                rows.terminated[i] = end == TERMINATED
                rows.truncated[i] = end == TRUNCATED_THERE
                rows.ended[i] = ended = True
                close_episode(s, tally, rows.episodes, i)
                start_game(s, -1)
            deal_hand(s, t)
        present_row(rows, i)
    return ended


@inline_kernel
def present(s: State, t: Tables, o: Offsets, observation: Array, mask: Array) -> int:
    """Write the observation and mask of the seat to act; return the row's key, see `KEY_SHIFT`."""
    phase, bits = s.phase, legal_bits(s, t)
    encode(s, t, o, s.turn, observation)
    write_mask(t, phase, bits, mask)
    return bits | phase << KEY_SHIFT


@kernel
def close_episode(s: State, tally: Row, episodes: Episodes, i: int) -> None:
    """Write the result of the finished episode of row i to `episodes`, and reset the tally."""
    for seat in range(N_SEATS):
        episodes.r[i, seat] = -tally.reward if seat & 1 else tally.reward
    episodes.l[i], episodes.hands[i] = tally.length, tally.hands
    for side in range(2):
        episodes.score[i, side] = s.score[side]
    episodes.outcome[i] = s.outcome
    episodes.winner[i] = s.winner if s.outcome == WON else -1
    tally.length, tally.hands, tally.reward = 0, 0, 0.0


@entry_kernel
def observe_rows(
    states: Array, tables: Array, offsets: Array, seats: Array, out: Array, start: int, stop: int
) -> None:
    """Write the observation of seat `seats[i]` in row i to `out`, int8 (n, D).

    Only rows `start` to `stop` - 1 are written.
    """
    for i in range(start, stop):
        encode(states[i], tables[0], offsets[0], seats[i], row_of(out, i))


@entry_kernel
def global_rows(
    states: Array, tables: Array, offsets: Array, out: Array, start: int, stop: int
) -> None:
    """Write the global state of rows `start` to `stop` - 1 to `out`, int8 (n, state_size)."""
    for i in range(start, stop):
        encode_state(states[i], tables[0], offsets[0], row_of(out, i))
