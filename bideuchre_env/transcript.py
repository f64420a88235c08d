"""A hand as the JSON object of the notation, written by a kernel from its state row.

A finished hand is a function of its final state row, and so is one in progress of the row it has
reached. Self-play writes tens of thousands of hands a second, so this is one pass that copies
words; dicts are read back from it.
"""

from __future__ import annotations

import json
from functools import lru_cache

import numpy as np

from bideuchre_env import actions
from bideuchre_env._jit import Array, Row, kernel
from bideuchre_env.cards import COPY_SHIFT, MAX_KINDS, MAX_TRICKS, N_SEATS, STRAINS
from bideuchre_env.rules import MAX_EXCHANGE, Rules
from bideuchre_env.state import PLAY
from bideuchre_env.tables import compile_tables

_PHRASES = (
    '{"dealer": ',
    ', "deal": [[',
    "], [",
    ']], "actions": [',
    '], "declarer": ',
    ', "contract": ',
    ', "tricks": [',
    '], "points": [',
    '], "score": [',
    "]}",
    ", ",
    "null",
)
(DEALER, DEAL, NEXT_HAND, ACTIONS, DECLARER, CONTRACT, TRICKS, POINTS, SCORE, END, COMMA, NULL) = (
    range(len(_PHRASES))
)
N_PHRASES = len(_PHRASES)
CONTRACTS = 1 + len(STRAINS)  # of a bid: its strain not named yet, or named
_DIGITS = 20


class Scribe:
    """Writes the hands of one game's state rows; `of(rules)` keeps one per `Rules`."""

    def __init__(self, rules: Rules) -> None:
        acts = actions.of(rules)
        contracts = [
            json.dumps(acts.contract(level, strain))
            for level in range(len(rules.ladder))
            for strain in range(-1, len(STRAINS))
        ]
        words = [*_PHRASES, *map(json.dumps, acts.names), *contracts]
        coded = [word.encode("ascii") for word in words]
        self.lengths = np.array([len(word) for word in coded], np.int64)
        self.words = np.zeros((len(coded), int(self.lengths.max())), np.uint8)
        for row, word in zip(self.words, coded, strict=True):
            row[: len(word)] = np.frombuffer(word, np.uint8)
        self.tables = compile_tables(rules)
        most = N_SEATS + 1 + 2 * MAX_EXCHANGE + 2 * N_SEATS * MAX_TRICKS  # actions and cards dealt
        self.room = (most + N_PHRASES + 20) * (self.words.shape[1] + 2) + 9 * _DIGITS

    def texts(self, states: Array, index: Array) -> list[bytes]:
        """The JSON object of the hand in each row of `index`, finished or in progress."""
        out = np.empty(len(index) * self.room, np.uint8)  # nothing shared: threads may write
        ends, held = np.empty(len(index), np.int64), np.empty(MAX_KINDS, np.int64)
        write_hands(states, self.tables, index, self.words, self.lengths, held, out, ends)
        stops: list[int] = ends.tolist()
        text = out[: max(stops, default=0)].tobytes()
        return [
            text[start:stop] for start, stop in zip([0, *stops[:-1]], stops, strict=bool(stops))
        ]


@lru_cache(maxsize=16)
def of(rules: Rules) -> Scribe:
    """The scribe of these rules."""
    return Scribe(rules)


@kernel
def write_hands(
    states: Array,
    tables: Array,
    index: Array,
    words: Array,
    lengths: Array,
    held: Array,
    out: Array,
    ends: Array,
) -> None:
    """Write the hand of row `index[j]` to `out`, one after another; `ends[j]` is where it ends.

    `words` (n, width) are the phrases, then the action names, then the contracts, uint8, of
    `lengths`; `held` (24,) is scratch.
    """
    at = 0
    for j in range(len(index)):
        s, t = states[index[j]], tables[0]
        at = put(out, at, words, lengths, DEALER)
        at = put_number(out, at, int(s.dealer))
        at = put_deal(s, t, words, lengths, held, out, at)
        at = put_actions(s, t, words, lengths, out, at)
        at = put_result(s, t, words, lengths, out, at)
        ends[j] = at


@kernel
def put(out: Array, at: int, words: Array, lengths: Array, word: int) -> int:
    """Copy a word to `out[at:]`; where it ends."""
    for i in range(lengths[word]):
        out[at + i] = words[word, i]
    return at + int(lengths[word])


@kernel
def put_number(out: Array, at: int, number: int) -> int:
    """Write a whole number in decimal to `out[at:]`; where it ends."""
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
def put_pair(
    out: Array, at: int, words: Array, lengths: Array, phrase: int, first: int, second: int
) -> int:
    """Write a phrase and two numbers after it."""
    at = put(out, at, words, lengths, phrase)
    at = put_number(out, at, first)
    at = put(out, at, words, lengths, COMMA)
    return put_number(out, at, second)


@kernel
def dealt(s: Row, seat: int, held: Array) -> None:
    """Count the cards a seat was dealt, by kind, to `held`: held, played and exchanged since."""
    hand = int(s.hands[seat])
    for kind in range(len(held)):
        held[kind] = (hand >> kind & 1) + (hand >> (kind + COPY_SHIFT) & 1)
    for trick in range(MAX_TRICKS):
        kind = int(s.plays[seat * MAX_TRICKS + trick])
        if kind >= 0:
            held[kind] += 1
    declarer = int(s.declarer)
    if declarer < 0 or s.given[0] < 0:
        return
    for i in range(len(s.given)):
        if seat == declarer and s.given[i] >= 0:
            held[int(s.given[i])] += 1
        if seat == declarer and s.passed[i] >= 0 and int(s.phase) >= PLAY:
            held[int(s.passed[i])] -= 1
        if seat == (declarer + 2) & 3 and s.passed[i] >= 0:
            held[int(s.passed[i])] += 1


@kernel
def put_deal(s: Row, t: Row, words: Array, lengths: Array, held: Array, out: Array, at: int) -> int:
    """Write the four hands as dealt, each fanned: spades first, high cards first."""
    cards, kinds = N_PHRASES + int(t.card_offset), int(t.kinds)
    for seat in range(N_SEATS):
        at = put(out, at, words, lengths, DEAL if seat == 0 else NEXT_HAND)
        dealt(s, seat, held)
        first = True
        for i in range(kinds):
            kind = i % (kinds // 4) * 4 + 3 - i // (kinds // 4)
            for _ in range(held[kind]):
                if not first:
                    at = put(out, at, words, lengths, COMMA)
                first = False
                at = put(out, at, words, lengths, cards + kind)
    return put(out, at, words, lengths, ACTIONS)


@kernel
def put_actions(s: Row, t: Row, words: Array, lengths: Array, out: Array, at: int) -> int:
    """Write every action of the hand, in order."""
    names = N_PHRASES
    cards = names + int(t.card_offset)
    per_bid = int(t.strains_per_bid)
    for turn in range(int(s.calls_made)):
        seat = (int(s.dealer) + 1 + turn) & 3
        if turn > 0:
            at = put(out, at, words, lengths, COMMA)
        action = 0
        if s.calls[seat] > 0:
            action = 1 + (int(s.calls[seat]) - 1) * per_bid + max(int(s.call_strains[seat]), 0)
        at = put(out, at, words, lengths, names + action)
    if per_bid == 1 and int(s.strain) >= 0:
        at = put(out, at, words, lengths, COMMA)
        at = put(out, at, words, lengths, names + int(t.trump_offset) + int(s.strain))
    for i in range(2 * len(s.given)):
        kind = int(s.given[i]) if i < len(s.given) else int(s.passed[i - len(s.given)])
        if kind >= 0:
            at = put(out, at, words, lengths, COMMA)
            at = put(out, at, words, lengths, cards + kind)
    for i in range(N_SEATS * int(t.tricks)):
        trick = i // N_SEATS
        if int(s.leaders[trick]) < 0:
            break
        seat = (int(s.leaders[trick]) + i) & 3
        kind = int(s.plays[seat * MAX_TRICKS + trick])
        if kind >= 0:
            at = put(out, at, words, lengths, COMMA)
            at = put(out, at, words, lengths, cards + kind)
    return at


@kernel
def put_result(s: Row, t: Row, words: Array, lengths: Array, out: Array, at: int) -> int:
    """Write the contract, and the tricks, points and score of both sides."""
    at = put(out, at, words, lengths, DECLARER)
    if int(s.level) < 0 or int(s.calls_made) < N_SEATS:
        at = put(out, at, words, lengths, NULL)
        at = put(out, at, words, lengths, CONTRACT)
        at = put(out, at, words, lengths, NULL)
    else:
        contracts = N_PHRASES + int(t.n_actions)
        at = put_number(out, at, int(s.declarer))
        at = put(out, at, words, lengths, CONTRACT)
        word = contracts + int(s.level) * CONTRACTS + 1 + int(s.strain)
        at = put(out, at, words, lengths, word)
    at = put_pair(out, at, words, lengths, TRICKS, int(s.tricks_won[0]), int(s.tricks_won[1]))
    at = put_pair(out, at, words, lengths, POINTS, int(s.points[0]), int(s.points[1]))
    at = put_pair(out, at, words, lengths, SCORE, int(s.score[0]), int(s.score[1]))
    return put(out, at, words, lengths, END)
