"""Validation of external state rows, before a kernel uses them.

The hand of a row is replayed from its deal by the kernels of the game, and the result must equal
the row. numba checks no bounds, so every number of a row is checked before it is an index.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bideuchre_env._checks import brief
from bideuchre_env.core.hands import held, put
from bideuchre_env.core.records import State, Tables
from bideuchre_env.core.replay import deal_replay, play_again, wind_back
from bideuchre_env.core.state import DEAL, PLAY, STATE, new_states
from bideuchre_env.core.tables import ROUNDS
from bideuchre_env.errors import OptionError
from bideuchre_env.rules.cards import COPY_SHIFT, KIND_BITS, MAX_TRICKS, N_SEATS
from bideuchre_env.runtime.intrinsics import popcount
from bideuchre_env.runtime.jit import Array, entry_kernel, inline_kernel, kernel

MOST_POINTS = 10**16

# Faults of rows that cannot be replayed, by number.
_FAULTS = (
    "",
    "rng: all zeros, which no shuffle would ever leave",
    "dealer or declarer",
    "score, points, hands_dealt or hands_played",
    "hands: not the cards of this deck",
)
_SOUND, _RNG, _SEATS, _NUMBERS, _CARDS = range(len(_FAULTS))


def checked_states(states: Any, n: int, tables: Array) -> Array:
    """Return a copy of rows of `STATE`, shape (n,), each of which must be a position of the game.

    A position is valid if legal play from its deal leads to it. The score before the hand may be
    any of a plausible size. Raises `OptionError` for another dtype or shape; for an invalid
    position, it names the first such row and field.
    """
    whole = isinstance(states, np.ndarray) and not isinstance(states, np.ma.MaskedArray)
    if not whole or states.dtype != STATE or states.shape != (n,):
        actual = brief(states)
        if whole:
            actual = f"{states.dtype if states.dtype != STATE else 'STATE'} of shape {states.shape}"
        raise OptionError(f"states: expected rows of STATE of shape ({n},), not {actual}")
    fresh, again, faults = new_states(n), new_states(n), np.zeros(n, np.int64)
    fresh[:] = states
    play_rows_again(fresh, tables, new_states(1), again, faults)
    differs = {
        name: (again[name] != fresh[name]).reshape(n, -1).any(axis=1) for name in STATE.names or ()
    }
    wrong = np.flatnonzero(np.any([*differs.values(), faults != _SOUND], axis=0))
    if len(wrong):
        row = int(wrong[0])
        others = ", ".join(name for name, where in differs.items() if where[row])
        fault = _FAULTS[faults[row]] or f"its hand, played again, has another {others}"
        raise OptionError(f"states[{row}] is no position of this game: {fault}")
    return fresh


@entry_kernel
def play_rows_again(
    states: Array, tables: Array, replays: Array, again: Array, faults: Array
) -> None:
    """Replay the current hand of every row of `states` into the same row of `again`.

    `faults` (n,), int64, become indices of `_FAULTS`; a row with a fault is not replayed. `replays`
    is one scratch row.
    """
    t, replay = tables[0], replays[0]
    for i in range(len(states)):
        s, fresh = states[i], again[i]
        faults[i] = _SOUND
        if s.rng[0] == np.uint64(0) and s.rng[1] == np.uint64(0):
            faults[i] = _RNG
        elif outside(s.dealer, 0, 3) or outside(s.declarer, -1, 3):
            faults[i] = _SEATS
        elif not plausible_numbers(t, s):
            faults[i] = _NUMBERS
        else:
            replays[0] = states[i]
            wind_back(t, s, replay)
            if not sound_hands(t, replay, -1, t.tricks):
                faults[i] = _CARDS
                continue
            if s.phase >= DEAL:  # its points are in the score
                for side in range(2):
                    replay.score[side] -= s.points[side]
                replay.hands_played -= 1 if s.declarer >= 0 else 0
            deal_replay(replay, t, fresh)
            play_again(replay, t, fresh)
            fresh.padding = s.padding
            for word in range(2):
                fresh.rng[word] = s.rng[word]


@inline_kernel
def outside(value: int, low: int, high: int) -> bool:
    """Whether a number is below `low` or above `high`."""
    return value < low or value > high


@kernel
def plausible_numbers(t: Tables, s: State) -> bool:
    """Whether the scores and the counts of hands, which no replay can check, are within bounds.

    Before this hand, the game must not have reached its limit of deals or, in a game of rounds, of
    played hands.
    """
    for side in range(2):
        if outside(s.score[side], -MOST_POINTS, MOST_POINTS):
            return False
    before = s.hands_played - (1 if s.phase >= DEAL and s.declarer >= 0 else 0)
    if outside(s.hands_dealt, 1, t.max_hands) or outside(before, 0, s.hands_dealt - 1):
        return False
    return t.win_rule != ROUNDS or before < t.hands_to_play


@kernel
def sound_hands(t: Tables, s: State, absent: int, most: int) -> bool:
    """Whether all hands but the absent seat's have `most` cards, and the deck has all of these.

    `absent` is a seat, or -1 for none.
    """
    deck = (1 << t.kinds) - 1
    for seat in range(N_SEATS):
        if seat == absent:
            continue
        hand = s.hands[seat]
        one, two = hand & KIND_BITS, hand >> COPY_SHIFT
        if one & ~deck or two & ~one or (t.copies == 1 and two) or popcount(hand) != most:
            return False
    for kind in range(t.kinds):
        copies = 0
        for seat in range(N_SEATS):
            copies += 0 if seat == absent else held(s.hands[seat], kind)
        if copies > t.copies:
            return False
    return True


# An ending is a position in the play without its history: a strain, hands and a trick.
NOT_IN_PLAY, NO_HANDS, NO_TRICK = 1, 2, 3


@kernel
def ending_fault(t: Tables, s: State, fresh: State) -> int:
    """Return `NOT_IN_PLAY`, `NO_HANDS` or `NO_TRICK` for an invalid ending, else 0.

    An ending is a position in the play without its history: a strain, hands and a trick. The cards
    of the current trick are returned to the hands and replayed in `fresh`, a scratch row.
    """
    if s.phase != PLAY:
        return NOT_IN_PLAY
    if (
        outside(s.strain, 0, t.n_strains - 1)
        or outside(s.trick, 0, t.tricks - 1)
        or outside(s.turn, 0, 3)
    ):
        return NO_TRICK
    absent, leader = s.sitting_out, s.leaders[s.trick]
    if outside(absent, -1, 3) or outside(leader, 0, 3) or leader == absent:
        return NO_TRICK
    fresh.phase = PLAY
    fresh.strain = s.strain
    fresh.trick = s.trick
    fresh.sitting_out = absent
    fresh.leaders[s.trick] = leader
    fresh.turn = leader
    fresh.led = -1
    fresh.winning = -1
    fresh.winning_power = 0
    for seat in range(N_SEATS):
        kind = s.plays[seat * MAX_TRICKS + s.trick]
        if outside(kind, -1, t.kinds - 1):
            return NO_TRICK
        fresh.hands[seat] = put(s.hands[seat], kind) if kind >= 0 else s.hands[seat]
    if not sound_hands(t, fresh, absent, t.tricks - s.trick):
        return NO_HANDS
    play_again(s, t, fresh)
    alike = fresh.trick == s.trick and fresh.turn == s.turn and fresh.led == s.led
    for seat in range(N_SEATS):
        alike = alike and fresh.hands[seat] == s.hands[seat]
    return 0 if alike else NO_TRICK
