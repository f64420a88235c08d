"""Whether a row of state from outside is a position of the game, before a kernel trusts it."""

from __future__ import annotations

from typing import Any

import numpy as np

from bideuchre_env._jit import Array, Row, inline_kernel, kernel
from bideuchre_env.cards import COPY_SHIFT, KIND_BITS, MAX_TRICKS, N_SEATS
from bideuchre_env.errors import OptionError, shown
from bideuchre_env.state import (
    AUCTION,
    DEAL,
    GIVING,
    NAMING,
    OVER,
    PASSING,
    PLAY,
    STATE,
    new_states,
)

# What `row_fault` finds, by number; 0 is a sound row.
FAULTS = (
    "nothing",
    "phase",
    "turn",
    "dealer",
    "declarer",
    "level",
    "strain",
    "sitting_out",
    "calls",
    "call_strains",
    "calls_made",
    "picks",
    "given or passed",
    "trick",
    "led, winning or winning_power",
    "tricks_won",
    "voids",
    "leaders",
    "plays",
    "outcome or winner",
    "score, points, hands_dealt or hands_played",
    "hands: not the cards of this deck that are left",
    "rng: all zeros, which no shuffle would ever leave",
)
(
    _FINE,
    _PHASE,
    _TURN,
    _DEALER,
    _DECLARER,
    _LEVEL,
    _STRAIN,
    _SITTING_OUT,
    _CALLS,
    _CALL_STRAINS,
    _CALLS_MADE,
    _PICKS,
    _GIVEN,
    _TRICK,
    _LED,
    _TRICKS_WON,
    _VOIDS,
    _LEADERS,
    _PLAYS,
    _OUTCOME,
    _NUMBERS,
    _CARDS,
    _RNG,
) = range(len(FAULTS))
MOST_POINTS = 10**16
MOST_HANDS = 2**31


def checked_states(states: Any, n: int, tables: Array) -> Array:
    """A copy of rows of `STATE`, shape (n,); `OptionError` unless each is a position of the game.

    Whether a position can come about by legal play alone is not asked: only that it is one.
    """
    if not isinstance(states, np.ndarray) or states.dtype != STATE or states.shape != (n,):
        given = shown(states)
        if isinstance(states, np.ndarray):
            given = f"{states.dtype if states.dtype != STATE else 'STATE'} of shape {states.shape}"
        raise OptionError(f"states: rows of STATE of shape ({n},) are wanted, not {given}")
    fresh = new_states(n)
    fresh[:] = states
    found = int(first_fault(fresh, tables))
    if found >= 0:
        row, fault = divmod(found, 100)
        raise OptionError(f"states[{row}] is no position of this game: {FAULTS[fault]}")
    return fresh


@inline_kernel
def outside(value: int, low: int, high: int) -> bool:
    """Whether a number is below `low` or above `high`."""
    return value < low or value > high


@kernel
def first_fault(states: Array, tables: Array) -> int:
    """The first row that is no position of the game, as row * 100 + its fault; -1 for none."""
    for i in range(len(states)):
        fault = row_fault(states[i], tables[0])
        if fault != _FINE:
            return i * 100 + fault
    return -1


@kernel
def row_fault(s: Row, t: Row) -> int:
    """0, or what is wrong with a row (`FAULTS`); nothing is indexed by a number not yet checked."""
    fault = small_fault(s, t)
    if fault == _FINE:
        fault = table_fault(s, t)
    if fault == _FINE and not whole_deck(s, t):
        return _CARDS
    return fault


@kernel
def small_fault(s: Row, t: Row) -> int:
    """What is wrong with the single numbers of a row, by range and against each other."""
    phase, level = int(s.phase), int(s.level)
    if outside(phase, AUCTION, OVER) or (phase == NAMING and int(t.strains_per_bid) > 1):
        return _PHASE
    if s.rng[0] == np.uint64(0) and s.rng[1] == np.uint64(0):
        return _RNG
    if outside(int(s.turn), 0, 3):
        return _TURN
    if outside(int(s.dealer), 0, 3):
        return _DEALER
    if outside(level, -1, int(t.n_levels) - 1) or (AUCTION < phase < DEAL and level < 0):
        return _LEVEL
    if outside(int(s.declarer), -1, 3) or (level < 0) != (int(s.declarer) < 0):
        return _DECLARER
    named = level >= 0 and (int(t.strains_per_bid) > 1 or phase > NAMING)
    if outside(int(s.strain), -1, 4) or named != (int(s.strain) >= 0):
        return _STRAIN
    if outside(int(s.calls_made), 0, 4) or (phase == AUCTION) != (int(s.calls_made) < 4):
        return _CALLS_MADE
    if phase < PLAY and int(s.turn) != due_to_act(s):
        return _TURN
    lone = level >= 0 and int(s.calls_made) == 4 and int(t.alone[level]) != 0
    if int(s.sitting_out) != ((int(s.declarer) + 2) & 3 if lone else -1):
        return _SITTING_OUT
    wanted = int(t.exchange[level]) if level >= 0 else 0
    if outside(int(s.picks), 0, wanted) or (NAMING < phase < PLAY and int(s.picks) >= wanted):
        return _PICKS
    tricks = int(t.tricks)
    if outside(int(s.trick), 0, tricks) or (phase < DEAL and int(s.trick) == tricks):
        return _TRICK
    if phase < PLAY and int(s.trick) > 0:
        return _TRICK
    if outside(int(s.led), -1, 3) or outside(int(s.winning), -1, 3):
        return _LED
    if (int(s.led) < 0) != (int(s.winning) < 0) or outside(int(s.winning_power), 0, 127):
        return _LED
    if outside(int(s.outcome), 0, 3) or outside(int(s.winner), -1, 1):
        return _OUTCOME
    if outside(int(s.hands_dealt), 0, MOST_HANDS) or outside(int(s.hands_played), 0, MOST_HANDS):
        return _NUMBERS
    for side in range(2):
        if outside(int(s.score[side]), -MOST_POINTS, MOST_POINTS):
            return _NUMBERS
        if outside(int(s.tricks_won[side]), 0, int(s.trick)):
            return _TRICKS_WON
    if int(s.tricks_won[0]) + int(s.tricks_won[1]) != int(s.trick):
        return _TRICKS_WON
    return _FINE


@inline_kernel
def due_to_act(s: Row) -> int:
    """The seat to act before the play, by the other single numbers of a row."""
    phase = int(s.phase)
    if phase == AUCTION:
        return (int(s.dealer) + 1 + int(s.calls_made)) & 3
    return (int(s.declarer) + (2 if phase == PASSING else 0)) & 3


@kernel
def table_fault(s: Row, t: Row) -> int:
    """What is wrong with the arrays of a row, whose single numbers are sound."""
    kinds, trick = int(t.kinds), int(s.trick)
    for seat in range(N_SEATS):
        called = ((seat - int(s.dealer) - 1) & 3) < int(s.calls_made)
        if outside(int(s.calls[seat]), -1, int(t.n_levels)) or called != (int(s.calls[seat]) >= 0):
            return _CALLS
        strained = int(s.calls[seat]) > 0 and int(t.strains_per_bid) > 1
        strain = int(s.call_strains[seat])
        if outside(strain, -1, 4) or strained != (strain >= 0):
            return _CALL_STRAINS
        if outside(int(s.voids[seat]), 0, 15):
            return _VOIDS
    for i in range(len(s.given)):
        if outside(int(s.given[i]), -1, kinds - 1) or outside(int(s.passed[i]), -1, kinds - 1):
            return _GIVEN
        if (int(s.given[i]) >= 0) != (i < put_aside(s, t, GIVING)):
            return _GIVEN
        if (int(s.passed[i]) >= 0) != (i < put_aside(s, t, PASSING)):
            return _GIVEN
    for n in range(MAX_TRICKS):
        led = n < trick or (n == trick and int(s.phase) == PLAY)
        if outside(int(s.leaders[n]), 0 if led else -1, 3 if led else -1):
            return _LEADERS
        for seat in range(N_SEATS):
            least = 0 if n < trick and seat != int(s.sitting_out) else -1
            most = kinds - 1 if n < trick or (n == trick and int(s.led) >= 0) else -1
            if seat == int(s.sitting_out):
                most = -1
            if outside(int(s.plays[seat * MAX_TRICKS + n]), least, most):
                return _PLAYS
    return play_fault(s, t)


@inline_kernel
def put_aside(s: Row, t: Row, half: int) -> int:
    """How many cards of one half of the exchange, GIVING or PASSING, have left their hand."""
    phase = int(s.phase)
    if phase < half or int(s.level) < 0:
        return 0
    return int(s.picks) if phase == half else int(t.exchange[int(s.level)])


@kernel
def play_fault(s: Row, t: Row) -> int:
    """Whether the cards of the trick in progress are those of the seats from its leader to turn."""
    if int(s.phase) != PLAY:
        return _FINE if int(s.led) < 0 else _LED
    trick, seat = int(s.trick), int(s.leaders[int(s.trick)])
    if seat == int(s.sitting_out) or int(s.turn) == int(s.sitting_out):
        return _TURN
    waiting = False
    for _ in range(N_SEATS):
        if seat == int(s.turn):
            waiting = True
        played = int(s.plays[seat * MAX_TRICKS + trick]) >= 0
        if seat != int(s.sitting_out) and played == waiting:
            return _TURN
        seat = (seat + 1) & 3
    leader = int(s.leaders[trick])
    if (int(s.led) < 0) != (int(s.turn) == leader):
        return _LED
    return _FINE if int(s.led) < 0 or trick_is_right(s, t) else _LED


@kernel
def trick_is_right(s: Row, t: Row) -> bool:
    """Whether suit led, winner and its power are those of the cards of the trick in progress."""
    strain, trick, led = int(s.strain), int(s.trick), int(s.led)
    first = int(s.plays[int(s.leaders[trick]) * MAX_TRICKS + trick])
    winner = int(s.plays[int(s.winning) * MAX_TRICKS + trick])
    if winner < 0 or led != int(t.suit_of[strain, first]):
        return False
    if int(s.winning_power) != int(t.power[strain, led, winner]):
        return False
    for seat in range(N_SEATS):
        kind = int(s.plays[seat * MAX_TRICKS + trick])
        if kind >= 0 and int(t.power[strain, led, kind]) > int(s.winning_power):
            return False
    return True


@kernel
def whole_deck(s: Row, t: Row) -> bool:
    """Whether hands, cards played and cards put aside are the deck, and each hand has its size."""
    kinds, copies = int(t.kinds), int(t.copies)
    deck = (1 << kinds) - 1
    for seat in range(N_SEATS):
        hand = int(s.hands[seat])
        one, two = hand & KIND_BITS, hand >> COPY_SHIFT
        if hand < 0 or one & ~deck or two & ~one or (copies == 1 and two):
            return False
    for kind in range(kinds):
        if cards_of_kind(s, kind) != copies:
            return False
    if int(s.phase) >= DEAL:
        return True
    for seat in range(N_SEATS):
        # one who sits out keeps what is left of the cards, whose number is right then
        if seat == int(s.sitting_out) and int(s.phase) == PLAY:
            continue
        hand, held = int(s.hands[seat]), 0
        for kind in range(kinds):
            held += (hand >> kind & 1) + (hand >> (kind + COPY_SHIFT) & 1)
        if held != cards_to_hold(s, t, seat):
            return False
    return True


@kernel
def cards_to_hold(s: Row, t: Row, seat: int) -> int:
    """How many cards a seat holds before the end of the hand, unless it sits the play out."""
    if int(s.phase) == PLAY:  # a card for each trick to come
        played = int(s.plays[seat * MAX_TRICKS + int(s.trick)]) >= 0
        return int(t.tricks) - int(s.trick) - (1 if played else 0)
    if seat == int(s.declarer):
        return int(t.tricks) - put_aside(s, t, GIVING)
    if seat == int(s.sitting_out):
        return int(t.tricks) - put_aside(s, t, PASSING)
    return int(t.tricks)


@kernel
def cards_of_kind(s: Row, kind: int) -> int:
    """How many cards of a kind a row accounts for: held, played, put aside, on their way."""
    n = 0
    for seat in range(N_SEATS):
        hand = int(s.hands[seat])
        n += (hand >> kind & 1) + (hand >> (kind + COPY_SHIFT) & 1)
    for i in range(len(s.plays)):
        n += 1 if int(s.plays[i]) == kind else 0
    for i in range(len(s.given)):
        n += 1 if int(s.given[i]) == kind else 0
        n += 1 if int(s.phase) == PASSING and int(s.passed[i]) == kind else 0
    return n
