"""Measure an upper bound of the speed: a hand-written minimal game of trick-taking.

It has 24 cards, a trump and six tricks, but no auction, score, exchange or options. The fields of a
row, except the deck, are 64-bit words, accessed through bare pointers. Every decision writes an
observation of 256 bytes and a mask of 64, and sets the reward; a new deal follows the last trick.
Python calls it once per step, without checks.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

import numpy as np
from common import VEC, Program, Task, timed

from bideuchre_env.bench import tasks
from bideuchre_env.core.bits import spread_byte
from bideuchre_env.core.phases.deal import GOLDEN, mix, next_word, seed_stream
from bideuchre_env.core.records import State, Tables
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.rules.variants import CINCINNATI
from bideuchre_env.runtime.intrinsics import nth_bit, popcount, row_of, store_word
from bideuchre_env.runtime.jit import Array, Word, direct, entry_kernel, inline_kernel

STATE = np.dtype(
    [
        ("rng", np.uint64, (2,)),
        ("hands", np.int64, (4,)),
        ("played", np.int64, (4,)),
        ("table", np.int64, (4,)),
        ("legal", np.int64),
        ("deck", np.int8, (24,)),
        ("won", np.int64, (2,)),
        ("turn", np.int64),
        ("trump", np.int64),
        ("led", np.int64),
        ("winning", np.int64),
        ("best", np.int64),
        ("cards", np.int64),
    ]
)
OBSERVATION, MASK = 256, 64


@inline_kernel
def deal(s: State) -> None:
    """Shuffle, deal, draw a trump suit at random, and have seat 0 lead."""
    for i in range(24):
        s.deck[i] = i
    for last in range(23, 0, -1):
        j = int(((next_word(s) >> np.uint64(32)) * np.uint64(last + 1)) >> np.uint64(32))
        card = s.deck[j]
        s.deck[j] = s.deck[last]
        s.deck[last] = card
    for seat in range(4):
        hand = 0
        for i in range(6):
            hand |= 1 << s.deck[6 * seat + i]
        s.hands[seat], s.played[seat], s.table[seat] = hand, 0, 0
    s.trump = int(next_word(s) >> np.uint64(62))
    s.turn, s.led, s.best, s.cards, s.winning = 0, -1, 0, 0, 0
    s.won[0], s.won[1] = 0, 0
    s.legal = s.hands[0]


@inline_kernel
def play(s: State, t: Tables, card: int) -> bool:
    """Play a card to the trick; return True after the last card of the hand."""
    seat, bit = s.turn, 1 << card
    s.hands[seat] ^= bit
    s.played[seat] |= bit
    s.table[seat] = bit
    if s.led < 0:
        s.led = t.suit_of[s.trump, card]
    power = t.power[s.trump, s.led, card]
    if power > s.best:
        s.best, s.winning = power, seat
    s.cards += 1
    seat = (seat + 1) & 3
    if s.cards & 3 == 0:
        seat = s.winning
        s.won[seat & 1] += 1
        s.led, s.best = -1, 0
        for each in range(4):
            s.table[each] = 0
    s.turn = seat
    held = s.hands[seat]
    follow = held & t.suit_bits[s.trump, s.led] if s.led >= 0 else 0
    s.legal = follow if follow else held
    return s.cards == 24


@inline_kernel
def plane(out: Array, at: int, bits: int) -> None:
    """Write the 24 lowest bits of `bits` as bytes 0 or 1, from index `at` on."""
    word = np.uint64(bits)
    for i in range(3):
        store_word(out, at + 8 * i, spread_byte(word >> np.uint64(8 * i)))


@inline_kernel
def observe(s: State, out: Array, mask: Array) -> None:
    """Write the observation of the seat to act, with relative seats, and its mask."""
    me, unseen = s.turn, (1 << 24) - 1
    plane(out, 0, s.hands[me])
    for rel in range(4):
        plane(out, 24 + 24 * rel, s.played[(me + rel) & 3])
        unseen ^= s.played[(me + rel) & 3]
    for rel in range(1, 4):
        plane(out, 96 + 24 * rel, s.table[(me + rel) & 3])
    plane(out, 192, unseen ^ s.hands[me])
    store_word(out, 216, np.uint64(1) << np.uint64(8 * s.trump))
    store_word(out, 224, np.uint64(1) << np.uint64(8 * (s.led & 7)))
    store_word(out, 232, np.uint64(1) << np.uint64(8 * ((s.winning - me) & 3)))
    store_word(out, 240, np.uint64(s.won[me & 1] | s.won[1 - (me & 1)] << 8))
    store_word(out, 248, np.uint64(s.cards))
    plane(mask, 0, s.legal)
    for i in range(3, 8):
        store_word(mask, 8 * i, np.uint64(0))


@entry_kernel
def start(states: Array, observations: Array, masks: Array) -> None:
    """Seed and deal every row (row i with seed i), and write its observation and mask."""
    for i in range(len(states)):
        s = states[i]
        seed_stream(s, np.uint64(i), np.uint64(0))
        deal(s)
        observe(s, row_of(observations, i), row_of(masks, i))


@entry_kernel
def step(
    states: Array,
    tables: Array,
    actions: Array,
    observations: Array,
    masks: Array,
    rewards: Array,
    ended: Array,
) -> None:
    """Play `actions[i]` in every row i, and write its results; finished hands are dealt again.

    The reward is 0 until the end of the hand; then it is side 0's tricks minus side 1's.
    """
    t = tables[0]
    for i in range(len(states)):
        s = states[i]
        rewards[i], ended[i] = 0.0, False
        if play(s, t, actions[i]):
            rewards[i], ended[i] = s.won[0] - s.won[1], True
            deal(s)
        observe(s, row_of(observations, i), row_of(masks, i))


@entry_kernel
def draw(states: Array, count: Word, actions: Array) -> None:
    """Write a uniform legal action for every row, by a hash of the row's number and `count`."""
    for i in range(len(states)):
        legal = states[i].legal
        word = mix(np.uint64(i) * GOLDEN + count) >> np.uint64(32)
        actions[i] = nth_bit(legal, int(word * np.uint64(popcount(legal)) >> np.uint64(32)))


@entry_kernel
def play_on(states: Array, tables: Array, decisions: int) -> None:
    """Play a number of random decisions in row 0 inside the kernel, without observations."""
    s, t, word = states[0], tables[0], GOLDEN
    for _ in range(decisions):
        word += GOLDEN
        high = mix(word) >> np.uint64(32)
        choice = int(high * np.uint64(popcount(s.legal)) >> np.uint64(32))
        if play(s, t, nth_bit(s.legal, choice)):
            deal(s)


def stepping(rows: int, *, drawn: bool) -> Task:
    """Return a task: steps of `rows` games from Python; drawing actions is timed if `drawn`."""
    states, tables = np.zeros(rows, STATE), compile_tables(CINCINNATI)
    actions = np.zeros(rows, np.int64)
    views = np.zeros((rows, OBSERVATION), np.int8), np.zeros((rows, MASK), np.int8)
    pay = np.zeros(rows, np.float32), np.zeros(rows, bool)
    start(states, *views)
    act: Callable[..., None] = direct(step, states, tables, actions, *views, *pay)
    choose: Callable[..., None] = direct(draw, states, np.uint64(0), actions)
    drawings, steps = count(1), max(1, 16_384 // rows)

    def choices() -> None:
        choose(states, np.uint64(next(drawings)), actions)

    def moves() -> None:
        act(states, tables, actions, *views, *pay)

    return tasks.in_turn(choices, moves, steps, rows, drawn=drawn)


def alone() -> Task:
    """Return a task: 100,000 random decisions of one game in a kernel, without observations."""
    states, tables = np.zeros(1, STATE), compile_tables(CINCINNATI)
    start(states, np.zeros((1, OBSERVATION), np.int8), np.zeros((1, MASK), np.int8))

    def run() -> int:
        play_on(states, tables, 100_000)
        return 100_000

    return timed(run)


def main() -> None:
    """Serve the tasks of the minimal game that correspond to those of `vec` and the rollouts."""
    program = Program()
    for like, (rows, drawn) in VEC.items():
        name = like.partition(", ")[2]
        program.add(name, like, lambda r=rows, d=drawn: stepping(r, drawn=d))
    program.add("inside a kernel, nothing written", "rollouts", alone)
    program.serve()


if __name__ == "__main__":
    main()
