"""The same game over rows: seed, start, encode, choose and step, with no Python per row."""

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
from bideuchre_env.core.state import DEAL
from bideuchre_env.core.step import allows, apply, legal, legal_bits, pick_legal, write_mask
from bideuchre_env.rules.cards import N_SEATS
from bideuchre_env.runtime.intrinsics import row_of
from bideuchre_env.runtime.jit import Array, Row, Word, entry_kernel, inline_kernel, kernel

# What a row's actions are checked against, as one number: the legal bits, and the phase above.
KEY_SHIFT = 48
KEY_BITS = (1 << KEY_SHIFT) - 1

# An episode in a row: running, or as it ended.
TALLY = np.dtype(
    [
        ("reward", np.float64),  # side 0's
        ("score", np.int64, (2,)),  # points of each side at the end
        ("length", np.int32),  # decisions
        ("hands", np.int32),
        ("outcome", np.int8),  # Outcome
        ("winner", np.int8),  # side, or -1
    ],
    align=True,
)


@entry_kernel
def seed_rows(states: Array, low: Word, high: Word) -> None:
    """Seed row i with the 128-bit seed `high:low` + i."""
    for i in range(len(states)):
        word = low + np.uint64(i)
        carry = np.uint64(1) if word < low else np.uint64(0)
        seed_stream(states[i], word, high + carry)


@entry_kernel
def start_rows(states: Array, tables: Array, dealers: Array) -> None:
    """Start a game in every row, up to its first deal; dealers (n,) are seats, -1 for a draw."""
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
    """For each row of `index` (m,) write what its seat to act sees and may do.

    `observations` (>= m, D) and `masks` (>= m, A) are int8 and rewritten from row 0 on.
    """
    for j in range(len(index)):
        s = states[index[j]]
        encode(s, tables[0], offsets[0], s.turn, row_of(observations, j))
        legal(s, tables[0], row_of(masks, j))


@entry_kernel
def apply_rows(states: Array, tables: Array, index: Array, choices: Array) -> None:
    """Carry out `choices[j]`, legal, in row `index[j]`; a hand that ends is left undealt."""
    for j in range(len(index)):
        apply(states[index[j]], tables[0], choices[j])


@entry_kernel
def first_illegal(keys: Array, tables: Array, actions: Array) -> int:
    """The first row whose action, int64 (n,), its key does not allow, or -1."""
    t = tables[0]
    for i in range(len(keys)):
        key = keys[i]
        if not allows(t, key >> KEY_SHIFT, key & KEY_BITS, actions[i]):
            return i
    return -1


@entry_kernel
def sample_rows(keys: Array, tables: Array, low: Word, count: Word, actions: Array) -> None:
    """Fill `actions` (n,), int64, with uniform legal ones, by each row's key.

    The choice of row i is a function of the two words and i.
    """
    t = tables[0]
    for i in range(len(keys)):
        key = keys[i]
        word = mix(mix(low + np.uint64(i) * GOLDEN) + count * GOLDEN)
        actions[i] = pick_legal(t, key >> KEY_SHIFT, key & KEY_BITS, word)


@entry_kernel
def restart_rows(
    states: Array, tables: Array, chosen: Array, dealers: Array, scores: Array, deals: Array
) -> None:
    """Start a game in every chosen row and deal its first hand.

    `chosen` (n,) is 1 for such rows; dealers (n,) are seats or -1; scores (n, 2), int64, what the
    sides start with; deals (n, 4) the hands to deal, int64, or of length 0 to shuffle.
    """
    t = tables[0]
    for i in range(len(states)):
        if chosen[i]:
            s = states[i]
            start_game(s, dealers[i])
            for side in range(2):
                s.score[side] = scores[i, side]
            if len(deals) == 0:
                deal_hand(s, t)
            else:
                deal_given(s, t, deals[i])


class Rows(NamedTuple):
    """Many games of one kind, and what the seats to act see, may do and are paid."""

    states: Array  # STATE (n,)
    tables: Array  # TABLES (1,)
    offsets: Array  # OFFSETS (1,)
    by_hand: bool  # an episode is a hand
    by_points: bool  # a reward is points
    actions: Array  # int64 (n,): to be carried out
    observations: Array  # int8 (n, D)
    masks: Array  # int8 (n, A)
    seats: Array  # int8 (n,): to act
    keys: Array  # int64 (n,): what actions are checked against
    rewards: Array  # float32 (n, 4)
    terminated: Array  # bool (n,)
    truncated: Array  # bool (n,)
    tallies: Array  # TALLY (n,)
    ended: Array  # TALLY (n,): of the episode that ended last


@entry_kernel
def present_rows(rows: Rows) -> None:
    """Write what the seat to act of every row sees and may do."""
    for i in range(len(rows.states)):
        present_row(rows, i)


@inline_kernel
def present_row(rows: Rows, i: int) -> None:
    """Write what the seat to act of row i sees and may do."""
    s, t = rows.states[i], rows.tables[0]
    rows.seats[i] = s.turn
    seen, mask = row_of(rows.observations, i), row_of(rows.masks, i)
    rows.keys[i] = present(s, t, rows.offsets[0], seen, mask)


@kernel
def step_rows(rows: Rows, start: int, stop: int) -> None:
    """Carry out the actions, legal, in rows `start` to `stop` - 1, and present what comes next.

    A hand that ends is followed by the next deal, an episode that ends by a new game (autoreset
    within the step); its tally is left in `ended`.
    """
    t = rows.tables[0]
    for i in range(start, stop):
        s, tally = rows.states[i], rows.tallies[i]
        for seat in range(N_SEATS):
            rows.rewards[i, seat] = 0.0
        rows.terminated[i] = False
        rows.truncated[i] = False
        tally.length += 1
        apply(s, t, rows.actions[i])
        if s.phase >= DEAL:
            reward, end = side_0_reward(s, rows.by_points), ending(s, rows.by_hand)
            for seat in range(N_SEATS):
                rows.rewards[i, seat] = -reward if seat & 1 else reward
            rows.terminated[i] = end == TERMINATED
            rows.truncated[i] = end == TRUNCATED_THERE
            count_hand(s, tally, reward)
            if end != GOES_ON:
                close_episode(s, tally, rows.ended[i])
                start_game(s, -1)
            deal_hand(s, t)
        present_row(rows, i)


@inline_kernel
def present(s: Row, t: Row, o: Row, observation: Array, mask: Array) -> int:
    """Write what the seat to act sees and may do; the row's key."""
    phase, bits = s.phase, legal_bits(s, t)
    encode(s, t, o, s.turn, observation)
    write_mask(t, phase, bits, mask)
    return bits | phase << KEY_SHIFT


@kernel
def count_hand(s: Row, tally: Row, reward: float) -> None:
    """Enter a hand that is over in the tally of its episode."""
    tally.hands += 1
    tally.reward += reward


@kernel
def close_episode(s: Row, tally: Row, kept: Row) -> None:
    """Leave the tally of a finished episode in `kept` and begin the next one's."""
    kept.length, kept.hands, kept.reward = tally.length, tally.hands, tally.reward
    for side in range(2):
        kept.score[side] = s.score[side]
    kept.outcome, kept.winner = s.outcome, s.winner
    tally.length, tally.hands, tally.reward = 0, 0, 0.0


@entry_kernel
def observe_rows(
    states: Array, tables: Array, offsets: Array, seats: Array, observations: Array
) -> None:
    """Write what seat `seats[i]` sees of row i to `observations`, int8 (n, D)."""
    for i in range(len(states)):
        encode(states[i], tables[0], offsets[0], seats[i], row_of(observations, i))


@entry_kernel
def global_rows(states: Array, tables: Array, offsets: Array, out: Array) -> None:
    """Write the global state of every row to `out`, int8 (n, state_size)."""
    for i in range(len(states)):
        encode_state(states[i], tables[0], offsets[0], row_of(out, i))
