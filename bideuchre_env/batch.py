"""The same game over rows: seed, start, encode, choose and step, with no Python per row."""

from __future__ import annotations

import numpy as np

from bideuchre_env._jit import Array, Word, kernel, line_of, row_of
from bideuchre_env.deal import begin_hand, deal_hand, next_dealer, seed_stream, start_game
from bideuchre_env.observation import encode, encode_state
from bideuchre_env.state import DEAL
from bideuchre_env.step import apply, is_legal, legal


@kernel
def seed_rows(states: Array, low: Word, high: Word) -> None:
    """Seed row i with the 128-bit seed `high:low` + i."""
    for i in range(len(states)):
        word = low + np.uint64(i)
        carry = np.uint64(1) if word < low else np.uint64(0)
        seed_stream(states[i], word, high + carry)


@kernel
def start_rows(states: Array, tables: Array, dealers: Array) -> None:
    """Start a game in every row, up to its first deal; dealers (n,) are seats, -1 for a draw."""
    for i in range(len(states)):
        start_game(states[i], int(dealers[i]))


@kernel
def deal_rows(states: Array, tables: Array) -> None:
    """Deal the next hand in every row whose hand is over and whose game is not."""
    for i in range(len(states)):
        if int(states[i].phase) == DEAL:
            deal_hand(states[i], tables[0])


@kernel
def encode_rows(
    states: Array, tables: Array, offsets: Array, index: Array, observations: Array, masks: Array
) -> None:
    """For each row of `index` (m,) write what its seat to act sees and may do.

    `observations` (>= m, D) and `masks` (>= m, A) are int8 and rewritten from row 0 on.
    """
    for j in range(len(index)):
        s = states[index[j]]
        encode(s, tables[0], offsets[0], int(s.turn), row_of(observations, j))
        legal(s, tables[0], row_of(masks, j))


@kernel
def apply_rows(states: Array, tables: Array, index: Array, choices: Array) -> None:
    """Carry out `choices[j]`, legal, in row `index[j]`; a hand that ends is left undealt."""
    for j in range(len(index)):
        apply(states[index[j]], tables[0], int(choices[j]))


@kernel
def observe_row(
    states: Array, tables: Array, offsets: Array, seat: int, observation: Array
) -> None:
    """What a seat sees of the game in row 0, to `observation`, int8 (D,)."""
    encode(states[0], tables[0], offsets[0], seat, line_of(observation))


@kernel
def global_row(states: Array, tables: Array, offsets: Array, out: Array) -> None:
    """The global state of the game in row 0, to `out`, int8 (state_size,)."""
    encode_state(states[0], tables[0], offsets[0], line_of(out))


@kernel
def mask_row(states: Array, tables: Array, mask: Array) -> None:
    """The mask of the seat to act in row 0, to `mask`, int8 (A,)."""
    legal(states[0], tables[0], line_of(mask))


@kernel
def step_row(states: Array, tables: Array, action: int) -> None:
    """Carry out a legal action in row 0; a hand that ends is left undealt."""
    apply(states[0], tables[0], action)


@kernel
def deal_row(states: Array, tables: Array) -> None:
    """Deal the next hand in row 0."""
    deal_hand(states[0], tables[0])


@kernel
def deal_given_row(states: Array, tables: Array, hands: Array) -> None:
    """Deal these four hands, int64 (4,), as the next hand of row 0."""
    s = states[0]
    next_dealer(s, tables[0])
    s.hands[:] = hands
    begin_hand(s)


@kernel
def replay_row(states: Array, tables: Array, actions: Array) -> int:
    """Carry out actions, int64 (m,), in row 0 up to the first illegal one: its position, or -1.

    An action after the end of the hand is illegal.
    """
    for i in range(len(actions)):
        if not is_legal(states[0], tables[0], int(actions[i])):
            return i
        apply(states[0], tables[0], int(actions[i]))
    return -1
