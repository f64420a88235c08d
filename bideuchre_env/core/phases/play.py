"""The play of the cards: leading, following, winning a trick."""

from __future__ import annotations

from bideuchre_env.core.hands import take_card
from bideuchre_env.core.records import State, Tables
from bideuchre_env.core.state import PLAY
from bideuchre_env.core.tables import DECLARER_LEADS, LEFT_LEADS
from bideuchre_env.rules.cards import KIND_BITS, MAX_KINDS, MAX_TRICKS
from bideuchre_env.runtime.jit import inline_kernel, kernel


@kernel
def opening_leader(t: Tables, dealer: int, declarer: int, sitting_out: int) -> int:
    """Return the seat of the opening lead; the seats may be relative to any seat.

    It is the declarer, the seat left of the declarer, or, if the eldest hand leads by the rules,
    the first seat left of the dealer that does not sit out.
    """
    if t.opening_lead == DECLARER_LEADS:
        return declarer
    if t.opening_lead == LEFT_LEADS:
        return (declarer + 1) & 3
    eldest = (dealer + 1) & 3
    return (eldest + 1) & 3 if eldest == sitting_out else eldest


@kernel
def begin_play(s: State, t: Tables) -> None:
    """Start the play with the opening leader to act."""
    s.phase = PLAY
    leader = opening_leader(t, s.dealer, s.declarer, s.sitting_out)
    s.turn = leader
    s.leaders[0] = leader


@inline_kernel
def legal_card(s: State, t: Tables) -> int:
    """Return the kinds that the seat to act may play, as bits: of the suit led, or else any."""
    held = s.hands[s.turn] & KIND_BITS
    if s.led < 0:
        return held
    follow = held & t.suit_bits[s.strain, s.led]
    return follow if follow else held


@inline_kernel
def tag(seat: int, trick: int) -> int:
    """Return the tag of a card played: bits 0 and 1 are the seat, the rest `trick` (from 0) + 1."""
    return (trick + 1) << 2 | seat


@inline_kernel
def apply_card(s: State, t: Tables, kind: int) -> bool:
    """Play a card to the trick; return True if it is the last card of the last trick.

    The first strictly most powerful card wins, so of two identical cards the first played does.
    """
    seat, strain, trick = s.turn, s.strain, s.trick
    take_card(s, seat, kind)
    s.plays[seat * MAX_TRICKS + trick] = kind
    s.tags[kind + (MAX_KINDS if s.tags[kind] else 0)] = tag(seat, trick)
    suit = t.suit_of[strain, kind]
    led = s.led
    if led < 0:
        led = suit
        s.led = suit
    elif suit != led:
        s.voids[seat] |= 1 << led
    power = t.power[strain, led, kind]
    if power > s.winning_power:
        s.winning_power = power
        s.winning = seat
    seat = (seat + 1) & 3
    if seat == s.sitting_out:
        seat = (seat + 1) & 3
    if seat != s.leaders[trick]:
        s.turn = seat
        return False
    return end_trick(s, t, trick + 1)


@inline_kernel
def end_trick(s: State, t: Tables, done: int) -> bool:
    """Credit the trick to its winner, who leads the next; return True if it was the last.

    `done` is the number of complete tricks, this one included.
    """
    winner = s.winning
    s.tricks_won[winner & 1] += 1
    s.trick = done
    s.turn = winner
    s.led = -1
    s.winning = -1
    s.winning_power = 0
    if done == t.tricks:
        return True
    s.leaders[done] = winner
    return False
