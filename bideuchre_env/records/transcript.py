"""Kernels that write the hand in a state row as the JSON object of the notation.

A state row determines the whole hand, finished or in progress. The kernels restore its deal, replay
it, and write every action. A match writes tens of thousands of hands per second, so words are
copied in a single pass; dicts are parsed from the text. `at` is an index in the text `out`; the
`put` kernels return the index after the text that they write.
"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from bideuchre_env.core.hands import held, put_cards
from bideuchre_env.core.records import State, Tables
from bideuchre_env.core.replay import deal_replay, next_action, wind_back
from bideuchre_env.core.state import new_states
from bideuchre_env.core.step import apply
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.rules import actions
from bideuchre_env.rules.bids import MAX_EXCHANGE, MOST_CALLS
from bideuchre_env.rules.cards import MAX_TRICKS, N_SEATS, STRAINS
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.jit import Array, entry_kernel, kernel

HAND_FIELDS = ("dealer", "deal", "actions", "declarer", "contract", "tricks", "points", "score")
"""The fields of a hand in order; they are the first entries of `Writing.words`."""
(DEALER, DEAL, ACTIONS, DECLARER, CONTRACT, TRICKS, POINTS, SCORE) = range(len(HAND_FIELDS))
_MARKS = ("[", "]", ", ", "}", "null", ', "kitty": ')
(OPEN, CLOSE, COMMA, END, NULL, KITTY) = range(len(HAND_FIELDS), len(HAND_FIELDS) + len(_MARKS))
NAMES = KITTY + 1  # index of the first action name; the contracts follow the names
CONTRACTS = 1 + len(STRAINS)  # contracts per bid: without a strain, or with each
_DIGITS = 20
_MOST_WORDS = 3 * (MOST_CALLS + 1 + 2 * MAX_EXCHANGE + 2 * N_SEATS * MAX_TRICKS) + 44


class Writing(NamedTuple):
    """The workspace of the kernels that write transcripts."""

    words: Array  # uint8 (n, width): fields, marks, action names, contracts
    lengths: Array  # int64 (n,)
    replay: Array  # state rows (1,): scratch
    fresh: Array  # state rows (1,): scratch
    out: Array  # uint8: the text


class HandWriter:
    """Writes hands from state rows of a game; `of(rules)` caches a writer for each `Rules`."""

    def __init__(self, rules: Rules) -> None:
        acts = actions.of(rules)
        contracts = [
            json.dumps(acts.contract(level, strain))
            for level in range(len(rules.ladder))
            for strain in range(-1, len(STRAINS))
        ]
        fields = [("{" if name == HAND_FIELDS[0] else ", ") + f'"{name}": ' for name in HAND_FIELDS]
        words = [*fields, *_MARKS, *map(json.dumps, acts.names), *contracts]
        coded = [word.encode("ascii") for word in words]
        self.lengths = np.array([len(word) for word in coded], np.int64)
        self.words = np.zeros((len(coded), int(self.lengths.max())), np.uint8)
        for row, word in zip(self.words, coded, strict=True):
            row[: len(word)] = np.frombuffer(word, np.uint8)
        self.tables = compile_tables(rules)
        self.most_bytes = _MOST_WORDS * self.words.shape[1] + 9 * _DIGITS

    def texts(self, states: Array, index: Array) -> list[bytes]:
        """Return the JSON text of the hand in each row of `index`, finished or in progress.

        `index` is int64 (m,), row numbers of `states`. Thread-safe.
        """
        # new arrays in each call, so that it is thread-safe
        out, ends = np.empty(len(index) * self.most_bytes, np.uint8), np.empty(len(index), np.int64)
        writing = Writing(self.words, self.lengths, new_states(1), new_states(1), out)
        write_hands(states, self.tables, index, writing, ends)
        stops: list[int] = ends.tolist()
        text = out[: max(stops, default=0)].tobytes()
        return [text[start:stop] for start, stop in zip([0, *stops], stops, strict=False)]


@lru_cache(maxsize=16)
def of(rules: Rules) -> HandWriter:
    """Return the cached writer for these rules."""
    return HandWriter(rules)


@entry_kernel
def write_hands(states: Array, tables: Array, index: Array, writing: Writing, ends: Array) -> None:
    """Write the hands of rows `index` to `writing.out` in sequence; hand j ends at `ends[j]`."""
    t, replay, at = tables[0], writing.replay[0], 0
    for j in range(len(index)):
        s = states[index[j]]
        writing.replay[0] = states[index[j]]
        wind_back(t, s, replay)
        at = put_number(writing, put(writing, at, DEALER), s.dealer)
        at = put_deal(writing, at, t, replay)
        if t.kitty > 0:
            at = put_hand(writing, put(writing, at, KITTY), t, put_cards(0, replay.kitty))
        at = put_actions(writing, at, t, replay)
        at = put_result(writing, at, t, s)
        ends[j] = at


@kernel
def put(writing: Writing, at: int, word: int) -> int:
    """Copy row `word` of `writing.words` to `out[at:]`; return the index after it."""
    for i in range(writing.lengths[word]):
        writing.out[at + i] = writing.words[word, i]
    return at + writing.lengths[word]


@kernel
def put_number(writing: Writing, at: int, number: int) -> int:
    """Write an integer in decimal to `out[at:]`; return the index after it."""
    out = writing.out
    if number < 0:
        out[at] = 45
        at += 1
        number = -number
    digits, rest = 1, number // 10
    while rest > 0:
        digits += 1
        rest //= 10
    for i in range(digits):
        out[at + digits - 1 - i] = 48 + number % 10
        number //= 10
    return at + digits


@kernel
def put_pair(writing: Writing, at: int, field: int, pair: Array) -> int:
    """Write the field name `words[field]` with a list of two numbers, one for each side."""
    at = put_number(writing, put(writing, put(writing, at, field), OPEN), pair[0])
    at = put_number(writing, put(writing, at, COMMA), pair[1])
    return put(writing, at, CLOSE)


@kernel
def put_deal(writing: Writing, at: int, t: Tables, replay: State) -> int:
    """Write the four hands as dealt, each sorted: spades first, high cards first."""
    at = put(writing, put(writing, at, DEAL), OPEN)
    for seat in range(N_SEATS):
        at = put_hand(writing, at, t, replay.hands[seat])
        if seat + 1 < N_SEATS:
            at = put(writing, at, COMMA)
    return put(writing, at, CLOSE)


@kernel
def put_hand(writing: Writing, at: int, t: Tables, hand: int) -> int:
    """Write the cards of a hand integer as a list, as `put_deal` sorts them."""
    ranks, cards = t.kinds // 4, 0
    at = put(writing, at, OPEN)
    for i in range(t.kinds):
        kind = (i % ranks) * 4 + 3 - i // ranks
        for _ in range(held(hand, kind)):
            if cards > 0:
                at = put(writing, at, COMMA)
            at = put(writing, at, NAMES + t.card_offset + kind)
            cards += 1
    return put(writing, at, CLOSE)


@kernel
def put_actions(writing: Writing, at: int, t: Tables, replay: State) -> int:
    """Write every action of the hand, in order, by replaying it."""
    at = put(writing, put(writing, at, ACTIONS), OPEN)
    fresh, first = writing.fresh[0], True
    deal_replay(replay, t, fresh)
    action = next_action(replay, t, fresh)
    while action >= 0:
        if not first:
            at = put(writing, at, COMMA)
        first = False
        at = put(writing, at, NAMES + action)
        apply(fresh, t, action)
        action = next_action(replay, t, fresh)
    return put(writing, at, CLOSE)


@kernel
def put_result(writing: Writing, at: int, t: Tables, s: State) -> int:
    """Write declarer and contract (null without a contract), and both sides' tricks, points, score.

    It also closes the JSON object.
    """
    at = put(writing, at, DECLARER)
    if s.level < 0 or s.calls_made < N_SEATS:
        at = put(writing, put(writing, at, NULL), CONTRACT)
        at = put(writing, at, NULL)
    else:
        contract = NAMES + t.n_actions + s.level * CONTRACTS + 1 + s.strain
        at = put(writing, put_number(writing, at, s.declarer), CONTRACT)
        at = put(writing, at, contract)
    at = put_pair(writing, at, TRICKS, s.tricks_won)
    at = put_pair(writing, at, POINTS, s.points)
    at = put_pair(writing, at, SCORE, s.score)
    return put(writing, at, END)
