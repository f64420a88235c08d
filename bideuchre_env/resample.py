"""Redeal everything a seat cannot know, uniformly among the deals its information allows.

The seat knows its own cards, every card played, every suit another seat has failed to follow, and
its own part of an exchange. Everything else is drawn anew: the other hands, the cards put aside in
an exchange, and the stream that deals the hands to come.

Suits are dealt one after another to the seats with a known void; `ways` counts, for the suits
still to come and the room left in those hands, the deals that remain, so that no draw is ever
rejected and every deal is as likely as any other.
"""

from __future__ import annotations

import math

import numpy as np

from bideuchre_env._jit import Array, Row, Word, kernel, popcount, records
from bideuchre_env.cards import (
    COPY_SHIFT,
    MAX_KINDS,
    MAX_TRICKS,
    N_SEATS,
    NO_TRUMP,
)
from bideuchre_env.deal import bounded, next_word, seed_stream
from bideuchre_env.state import PASSING, PLAY

MAX_IN_SUIT = 14  # trumps of a double deck: 12 and two left bowers
ROOM = MAX_TRICKS + 1
PLACES = 6  # the four seats (the observer's stays empty) and the two piles of an exchange
GIVEN_PILE, PASSED_PILE = 4, 5
_FACTORIAL = np.array([float(math.factorial(n)) for n in range(MAX_IN_SUIT + 1)])
_ULP = 2.0**-53

SCRATCH = np.dtype(
    [
        ("ways", np.float64, (5, ROOM, ROOM, ROOM)),  # [suits dealt, room of each void seat]
        ("unknown", np.int8, (4, MAX_IN_SUIT)),  # [suit]: kinds not known to the seat
        ("n_unknown", np.int64, (4,)),
        ("played", np.int64, (MAX_KINDS,)),  # copies played, by kind
        ("free", np.int8, (4 * MAX_TRICKS,)),  # kinds for the places without a known void
        ("room", np.int64, (PLACES,)),  # cards to deal to each place
        ("void_seats", np.int64, (3,)),
        ("hands", np.int64, (PLACES,)),  # what each place is dealt
        ("x", np.int64, (3,)),
    ],
    align=True,
)


def new_scratch() -> Array:
    """Working room for `resample_row`, an array of one record; reuse it freely."""
    return records(SCRATCH, 1)


@kernel
def put(hand: int, kind: int) -> int:
    """The hand with one more card."""
    return hand + (1 << (kind + COPY_SHIFT * ((hand >> kind) & 1)))


@kernel
def held(hand: int, kind: int) -> int:
    """Copies of a kind in the hand."""
    return (hand >> kind & 1) + (hand >> (kind + COPY_SHIFT) & 1)


@kernel
def played_by(s: Row, seat: int, kind: int) -> int:
    """Copies of a kind that a seat has played in this hand."""
    count = 0
    for trick in range(MAX_TRICKS):
        count += int(s.plays[seat * MAX_TRICKS + trick]) == kind
    return count


@kernel
def count_of(cards: Array, kind: int) -> int:
    """Copies of a kind among the cards put aside in one half of an exchange."""
    count = 0
    for i in range(len(cards)):
        count += int(cards[i]) == kind
    return count


@kernel
def gather(s: Row, t: Row, seat: int, w: Row) -> None:
    """Collect the cards the seat does not know, by suit, and the room for them in each place."""
    declarer, phase = int(s.declarer), int(s.phase)
    partner = (declarer + 2) & 3
    exchanged = declarer >= 0 and s.given[0] >= 0
    strain = int(s.strain) if s.strain >= 0 else NO_TRUMP
    w.n_unknown[:] = 0
    w.hands[:] = 0
    w.room[:] = 0
    for place in range(N_SEATS):
        if place != seat:
            w.room[place] = popcount(int(s.hands[place]))
    knows_given = not exchanged or seat == declarer
    knows_passed = not exchanged or seat == partner or (seat == declarer and phase != PASSING)
    for i in range(len(s.given)):
        w.room[GIVEN_PILE] += s.given[i] >= 0 and not knows_given
        w.room[PASSED_PILE] += s.passed[i] >= 0 and phase == PASSING and not knows_passed
    w.played[:] = 0
    for i in range(len(s.plays)):
        if s.plays[i] >= 0:
            w.played[int(s.plays[i])] += 1
    for kind in range(int(t.kinds)):
        unknown = int(t.copies) - held(int(s.hands[seat]), kind) - int(w.played[kind])
        if exchanged and knows_given:
            unknown -= count_of(s.given, kind)
        if exchanged and seat == partner:
            # what it passed is with the declarer, as far as it has not been played since
            kept = count_of(s.passed, kind)
            if phase >= PLAY:
                kept = max(0, kept - played_by(s, declarer, kind))
                for _ in range(kept):
                    w.hands[declarer] = put(int(w.hands[declarer]), kind)
                w.room[declarer] -= kept
            unknown -= kept
        suit = int(t.suit_of[strain, kind])
        for _ in range(unknown):
            w.unknown[suit, w.n_unknown[suit]] = kind
            w.n_unknown[suit] += 1


@kernel
def shuffle_run(s: Row, cards: Array, n: int) -> None:
    """Fisher-Yates on `cards[:n]`, in place, from the row's stream."""
    for last in range(n - 1, 0, -1):
        chosen = bounded(s, last + 1)
        card = cards[chosen]
        cards[chosen] = cards[last]
        cards[last] = card


@kernel
def cap(s: Row, w: Row, i: int, suit: int) -> int:
    """The most cards of a suit the i-th void seat may be dealt: none of a suit it is out of."""
    if w.void_seats[i] < 0:
        return 0
    seat = int(w.void_seats[i])
    if int(s.voids[seat]) >> suit & 1:
        return 0
    return min(int(w.room[seat]), int(w.n_unknown[suit]))


@kernel
def split_ways(n: int, x: int, y: int, z: int) -> float:
    """How many ways n cards split into runs of x, y, z and the rest."""
    rest = _FACTORIAL[n - x - y - z]
    return float(_FACTORIAL[n] / (_FACTORIAL[x] * _FACTORIAL[y] * _FACTORIAL[z] * rest))


@kernel
def ways_from(s: Row, w: Row, suit: int, a: int, b: int, c: int) -> float:
    """The deals of suits `suit`.. that fill rooms a, b, c of the void seats exactly."""
    total = 0.0
    n = int(w.n_unknown[suit])
    for x in range(min(a, cap(s, w, 0, suit)) + 1):
        for y in range(min(b, cap(s, w, 1, suit), n - x) + 1):
            for z in range(min(c, cap(s, w, 2, suit), n - x - y) + 1):
                later = w.ways[suit + 1, a - x, b - y, c - z]
                if later > 0.0:
                    total += split_ways(n, x, y, z) * later
    return total


@kernel
def count_ways(s: Row, w: Row, rooms: Array) -> None:
    """Fill `w.ways`, the last suit first."""
    w.ways[:] = 0.0
    w.ways[4, 0, 0, 0] = 1.0
    for back in range(4):
        suit = 3 - back
        for a in range(rooms[0] + 1):
            for b in range(rooms[1] + 1):
                for c in range(rooms[2] + 1):
                    w.ways[suit, a, b, c] = ways_from(s, w, suit, a, b, c)


@kernel
def draw_split(s: Row, w: Row, suit: int, rooms: Array) -> None:
    """Draw into `w.x` how many cards of a suit each void seat gets."""
    n = int(w.n_unknown[suit])
    a, b, c = int(rooms[0]), int(rooms[1]), int(rooms[2])
    mark = float(next_word(s) >> np.uint64(11)) * _ULP * w.ways[suit, a, b, c]
    for x in range(min(a, cap(s, w, 0, suit)) + 1):
        for y in range(min(b, cap(s, w, 1, suit), n - x) + 1):
            for z in range(min(c, cap(s, w, 2, suit), n - x - y) + 1):
                later = w.ways[suit + 1, a - x, b - y, c - z]
                if later <= 0.0:
                    continue
                w.x[0] = x  # kept when rounding leaves the mark a hair past the last split
                w.x[1] = y
                w.x[2] = z
                mark -= split_ways(n, x, y, z) * later
                if mark < 0.0:
                    return


@kernel
def deal_unknown(s: Row, w: Row, rooms: Array) -> None:
    """Deal the unknown cards: to the seats with a void suit by suit, then to all other places."""
    n_voids = 0
    w.void_seats[:] = -1
    rooms[:] = 0
    for seat in range(N_SEATS):
        if s.voids[seat] and w.room[seat] > 0:
            w.void_seats[n_voids] = seat
            rooms[n_voids] = w.room[seat]
            n_voids += 1
    if n_voids > 0:
        count_ways(s, w, rooms)
    n_free = 0
    w.x[:] = 0
    for suit in range(4):
        n = int(w.n_unknown[suit])
        shuffle_run(s, w.unknown[suit], n)
        if n_voids > 0:
            draw_split(s, w, suit, rooms)
        next_card = 0
        for i in range(n_voids):
            place = int(w.void_seats[i])
            for _ in range(int(w.x[i])):
                w.hands[place] = put(int(w.hands[place]), int(w.unknown[suit, next_card]))
                next_card += 1
            rooms[i] -= w.x[i]
            w.room[place] -= w.x[i]
        for i in range(next_card, n):
            w.free[n_free] = w.unknown[suit, i]
            n_free += 1
    shuffle_run(s, w.free, n_free)
    next_card = 0
    for place in range(PLACES):
        for _ in range(int(w.room[place])):
            w.hands[place] = put(int(w.hands[place]), int(w.free[next_card]))
            next_card += 1


@kernel
def lay_out(s: Row, hand: int, cards: Array) -> None:
    """Write the cards of a pile into one half of the exchange, in random order."""
    n = 0
    for kind in range(MAX_KINDS):
        for _ in range(held(hand, kind)):
            cards[n] = kind
            n += 1
    shuffle_run(s, cards, n)


@kernel
def choose_passed(s: Row, w: Row, wanted: int) -> None:
    """For a defender: any of the cards the declarer has held since may be the ones passed."""
    declarer = int(s.declarer)
    n = 0
    for kind in range(MAX_KINDS):
        for _ in range(held(int(s.hands[declarer]), kind) + played_by(s, declarer, kind)):
            w.free[n] = kind
            n += 1
    shuffle_run(s, w.free, n)
    for i in range(wanted):
        s.passed[i] = w.free[i]


@kernel
def resample_row(
    states: Array,
    tables: Array,
    seat: int,
    scratch: Array,
    rooms: Array,
    low: Word,
    high: Word,
) -> None:
    """Redeal in row 0 all that the seat cannot know, from the 128-bit seed `high:low`.

    `scratch` is `new_scratch()`, `rooms` int64 (3,). Rewrites the other hands, the hidden half of
    an exchange and the random stream, and nothing else.
    """
    s, t, w = states[0], tables[0], scratch[0]
    seed_stream(s, low, high)
    gather(s, t, seat, w)
    hides_given, hides_passed = w.room[GIVEN_PILE] > 0, w.room[PASSED_PILE] > 0
    deal_unknown(s, w, rooms)
    for who in range(N_SEATS):
        if who != seat:
            s.hands[who] = w.hands[who]
    if hides_given:
        lay_out(s, int(w.hands[GIVEN_PILE]), s.given)
    if hides_passed:
        lay_out(s, int(w.hands[PASSED_PILE]), s.passed)
    defends = (seat ^ int(s.declarer)) & 1
    if s.declarer >= 0 and defends and s.passed[0] >= 0 and int(s.phase) >= PLAY:
        choose_passed(s, w, int(t.exchange[int(s.level)]))
