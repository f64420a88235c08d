"""Redeal everything a seat cannot know, uniformly among the deals its information allows.

The seat knows its own cards, every card played, every suit another seat has failed to follow, and
its own part of an exchange. The rest is drawn at random: the other hands, the kitty or the cards
laid away for it, those put aside in an exchange, and the random stream that deals the next hands.

Suits are dealt one after another to the seats with a known void. `ways` counts the possible deals
of the remaining suits into the remaining room of these hands, so that sampling is uniform without
rejection. The distribution is uniform over physical cards: the two copies in a double deck count as
different cards, as they do when cards are dealt.
"""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np

from bideuchre_env.core.hands import held, put, put_cards, take
from bideuchre_env.core.phases.deal import bounded, next_word, seed_stream
from bideuchre_env.core.phases.exchange import has_kitty
from bideuchre_env.core.records import State, Tables
from bideuchre_env.core.state import PASSING, PLAY
from bideuchre_env.rules.cards import MAX_KINDS, MAX_TRICKS, N_SEATS, NO_TRUMP
from bideuchre_env.runtime.intrinsics import popcount
from bideuchre_env.runtime.jit import (
    Array,
    Row,
    Word,
    entry_kernel,
    inline_kernel,
    kernel,
    new_rows,
)

MAX_IN_SUIT = 14  # trumps of a double deck: 12 and two left bowers
ROOM = MAX_TRICKS + 1
# the four seats (the observer's stays empty), the two piles of an exchange, and the cards that lie
# face down: the kitty, and later those laid away for it
PLACES = 7
GIVEN_PILE, PASSED_PILE, KITTY_PILE = 4, 5, 6
_FACTORIAL = np.array([float(math.factorial(n)) for n in range(MAX_IN_SUIT + 1)])
_ULP = 2.0**-53

REDEAL = np.dtype(
    [
        ("ways", np.float64, (5, ROOM, ROOM, ROOM)),  # [suits dealt, room of each void seat]
        # the same in every redeal of a row
        ("unknown", np.int8, (4, MAX_IN_SUIT)),  # [suit]: kinds not known to the seat
        ("n_unknown", np.int64, (4,)),
        ("played", np.int64, (MAX_KINDS,)),  # copies played, by kind
        ("room", np.int64, (PLACES,)),  # cards to deal to each place
        ("known", np.int64, (PLACES,)),  # known cards of each place
        ("n_voids", np.int64),  # seats with a known void that need cards
        ("void_seats", np.int64, (3,)),
        # one redeal
        ("cards", np.int8, (4, MAX_IN_SUIT)),  # the unknown ones in the order they are dealt in
        ("free", np.int8, (4 * MAX_TRICKS,)),  # kinds for the places without a known void
        ("left", np.int64, (PLACES,)),  # cards still to deal to each place
        ("hands", np.int64, (PLACES,)),  # cards dealt to each place
        ("void_room", np.int64, (3,)),  # cards to deal to each void seat, until all suits are dealt
        ("split", np.int64, (3,)),  # cards of one suit for each void seat
    ],
    align=True,
)
Redeal: TypeAlias = Row  # of REDEAL


def new_redeal() -> Array:
    """Return reusable scratch space for `resample_row`, an array of one record."""
    return new_rows(REDEAL, 1)


@kernel
def count_played(s: State, seat: int, kind: int) -> int:
    """Count the copies of a kind that a seat has played in this hand."""
    count = 0
    for trick in range(MAX_TRICKS):
        count += s.plays[seat * MAX_TRICKS + trick] == kind
    return count


@kernel
def count_of(cards: Array, kind: int) -> int:
    """Count the copies of a kind in `cards`, the kinds laid away, given up or passed."""
    count = 0
    for i in range(len(cards)):
        count += cards[i] == kind
    return count


@inline_kernel
def is_joined(s: State, t: Tables) -> bool:
    """Whether the cards that the declarer gave up have joined partner's hand."""
    return t.open_exchange and s.declarer >= 0 and s.given[0] >= 0 and s.phase >= PASSING


@kernel
def gather(s: State, t: Tables, seat: int, redeal: Redeal) -> None:
    """Write to `redeal` the cards that the seat does not know, by suit, and the room of each place.

    A place is a seat or a pile of an exchange (`PLACES`), its room the number of cards to deal to
    it. The fields `unknown`, `n_unknown`, `played`, `room` and `known` are written.
    """
    declarer, phase = s.declarer, s.phase
    partner = (declarer + 2) & 3
    exchanged = declarer >= 0 and s.given[0] >= 0
    strain = s.strain if s.strain >= 0 else NO_TRUMP
    redeal.n_unknown[:] = 0
    redeal.known[:] = 0
    redeal.room[:] = 0
    for place in range(N_SEATS):
        if place != seat:
            redeal.room[place] = popcount(s.hands[place])
    joined = exchanged and is_joined(s, t)
    knows_given = not exchanged or seat == declarer or joined
    knows_passed = not exchanged or seat == partner or (seat == declarer and phase != PASSING)
    for i in range(len(s.given)):
        redeal.room[GIVEN_PILE] += s.given[i] >= 0 and not knows_given
        if s.passed[i] >= 0 and phase == PASSING and not knows_passed:
            redeal.room[partner if joined else PASSED_PILE] += 1  # `split_hand` divides them
    taken = has_kitty(s, t)
    for i in range(t.kitty):
        hidden = seat != declarer and s.laid[i] >= 0 if taken else True
        redeal.room[KITTY_PILE] += hidden
    redeal.played[:] = 0
    for i in range(len(s.plays)):
        if s.plays[i] >= 0:
            redeal.played[s.plays[i]] += 1
    for kind in range(t.kinds):
        unknown = t.copies - held(s.hands[seat], kind) - redeal.played[kind]
        if exchanged and seat == declarer:
            given = count_of(s.given, kind)
            if joined:
                given -= min(given, count_of(s.passed, kind)) if phase >= PLAY else 0
                for _ in range(given):
                    redeal.known[partner] = put(redeal.known[partner], kind)
                redeal.room[partner] -= given
            unknown -= given
        if taken and seat == declarer:
            unknown -= count_of(s.laid, kind)
        if exchanged and seat == partner:
            # the passed cards are with the declarer, without those played since
            remaining = count_of(s.passed, kind)
            if phase >= PLAY:
                remaining = max(0, remaining - count_played(s, declarer, kind))
                for _ in range(remaining):
                    redeal.known[declarer] = put(redeal.known[declarer], kind)
                redeal.room[declarer] -= remaining
            unknown -= remaining
        suit = t.suit_of[strain, kind]
        for _ in range(unknown):
            redeal.unknown[suit, redeal.n_unknown[suit]] = kind
            redeal.n_unknown[suit] += 1


@kernel
def shuffle_run(s: State, cards: Array, n: int) -> None:
    """Shuffle `cards[:n]` in place (Fisher-Yates), with the row's random stream."""
    for last in range(n - 1, 0, -1):
        chosen = bounded(s, last + 1)
        card = cards[chosen]
        cards[chosen] = cards[last]
        cards[last] = card


@kernel
def cap(s: State, redeal: Redeal, i: int, suit: int) -> int:
    """Return an upper limit of the cards of a suit that can be dealt to the i-th void seat.

    It is 0 if the seat is void in the suit, or if there is no i-th void seat.
    """
    if redeal.void_seats[i] < 0:
        return 0
    seat = redeal.void_seats[i]
    if s.voids[seat] >> suit & 1:
        return 0
    return min(redeal.room[seat], redeal.n_unknown[suit])


@kernel
def split_ways(n: int, x: int, y: int, z: int) -> float:
    """Return the number of ways to split n cards into groups of x, y, z and the rest."""
    rest = _FACTORIAL[n - x - y - z]
    return float(_FACTORIAL[n] / (_FACTORIAL[x] * _FACTORIAL[y] * _FACTORIAL[z] * rest))


@kernel
def ways_from(s: State, redeal: Redeal, suit: int, a: int, b: int, c: int) -> float:
    """Count the deals of `suit` and later suits that give the void seats a, b and c cards.

    `redeal.ways` of the following suit must be filled in.
    """
    total = 0.0
    n = redeal.n_unknown[suit]
    for x in range(min(a, cap(s, redeal, 0, suit)) + 1):
        for y in range(min(b, cap(s, redeal, 1, suit), n - x) + 1):
            for z in range(min(c, cap(s, redeal, 2, suit), n - x - y) + 1):
                later = redeal.ways[suit + 1, a - x, b - y, c - z]
                if later > 0.0:
                    total += split_ways(n, x, y, z) * later
    return total


@kernel
def count_ways(s: State, redeal: Redeal) -> None:
    """Fill `redeal.ways`, the last suit first.

    `ways[suit, a, b, c]` is the number of deals of this suit and the following ones that give
    exactly a, b and c cards to the void seats.
    """
    for back in range(5):
        suit = 4 - back
        for a in range(redeal.void_room[0] + 1):
            for b in range(redeal.void_room[1] + 1):
                for c in range(redeal.void_room[2] + 1):
                    ways = 1.0 if a + b + c == 0 else 0.0  # no suit is left to fill the room
                    if suit < 4:
                        ways = ways_from(s, redeal, suit, a, b, c)
                    redeal.ways[suit, a, b, c] = ways


@kernel
def draw_split(s: State, redeal: Redeal, suit: int) -> None:
    """Draw the number of cards of a suit for each void seat, and write it to `redeal.split`."""
    n = redeal.n_unknown[suit]
    a, b, c = redeal.void_room[0], redeal.void_room[1], redeal.void_room[2]
    mark = float(next_word(s) >> np.uint64(11)) * _ULP * redeal.ways[suit, a, b, c]
    for x in range(min(a, cap(s, redeal, 0, suit)) + 1):
        for y in range(min(b, cap(s, redeal, 1, suit), n - x) + 1):
            for z in range(min(c, cap(s, redeal, 2, suit), n - x - y) + 1):
                later = redeal.ways[suit + 1, a - x, b - y, c - z]
                if later <= 0.0:
                    continue
                redeal.split[0] = x  # stays if rounding puts the mark past the last split
                redeal.split[1] = y
                redeal.split[2] = z
                mark -= split_ways(n, x, y, z) * later
                if mark < 0.0:
                    return


@kernel
def prepare_redeal(s: State, t: Tables, seat: int, redeal: Redeal) -> None:
    """Fill in the fields that are the same in every redeal of a row for a seat."""
    gather(s, t, seat, redeal)
    redeal.n_voids = 0
    redeal.void_seats[:] = -1
    for place in range(N_SEATS):
        if s.voids[place] and redeal.room[place] > 0:
            redeal.void_seats[redeal.n_voids] = place
            redeal.n_voids += 1
    if redeal.n_voids > 0:
        fill_void_room(redeal)
        count_ways(s, redeal)


@kernel
def fill_void_room(redeal: Redeal) -> None:
    """Set `redeal.void_room[i]` to the number of cards that the i-th void seat gets in all.

    It is 0 if there is no i-th void seat.
    """
    for i in range(3):
        seat = redeal.void_seats[i]
        redeal.void_room[i] = redeal.room[seat] if seat >= 0 else 0


@kernel
def deal_unknown(s: State, redeal: Redeal) -> None:
    """Deal the unknown cards at random; write the other hands and the piles to `redeal.hands`.

    Seats with a known void get their cards first, suit by suit, then all other places.
    """
    n_voids = redeal.n_voids
    fill_void_room(redeal)
    for place in range(PLACES):
        redeal.left[place] = redeal.room[place]
        redeal.hands[place] = redeal.known[place]
    n_free = 0
    redeal.split[:] = 0
    for suit in range(4):
        n = redeal.n_unknown[suit]
        for i in range(n):
            redeal.cards[suit, i] = redeal.unknown[suit, i]
        shuffle_run(s, redeal.cards[suit], n)
        if n_voids > 0:
            draw_split(s, redeal, suit)
        next_card = 0
        for i in range(n_voids):
            place = redeal.void_seats[i]
            for _ in range(redeal.split[i]):
                redeal.hands[place] = put(redeal.hands[place], redeal.cards[suit, next_card])
                next_card += 1
            redeal.void_room[i] -= redeal.split[i]
            redeal.left[place] -= redeal.split[i]
        for i in range(next_card, n):
            redeal.free[n_free] = redeal.cards[suit, i]
            n_free += 1
    shuffle_run(s, redeal.free, n_free)
    next_card = 0
    for place in range(PLACES):
        for _ in range(redeal.left[place]):
            redeal.hands[place] = put(redeal.hands[place], redeal.free[next_card])
            next_card += 1


@kernel
def lay_out(s: State, hand: int, cards: Array) -> None:
    """Write the cards of `hand`, a hand integer, to `cards`, int8, by kind in random order."""
    n = 0
    for kind in range(MAX_KINDS):
        for _ in range(held(hand, kind)):
            cards[n] = kind
            n += 1
    shuffle_run(s, cards, n)


@kernel
def choose_passed(s: State, redeal: Redeal, cards: int) -> None:
    """Draw this number of cards that partner passed, and write their kinds to `s.passed`.

    Used for the view of a defender, who does not know them. They are uniform among all cards that
    the declarer has held since the exchange.
    """
    declarer = s.declarer
    n = 0
    for kind in range(MAX_KINDS):
        for _ in range(held(s.hands[declarer], kind) + count_played(s, declarer, kind)):
            redeal.free[n] = kind
            n += 1
    shuffle_run(s, redeal.free, n)
    for i in range(cards):
        s.passed[i] = redeal.free[i]


@kernel
def split_hand(s: State, redeal: Redeal) -> None:
    """Draw the cards passed so far from the partner's hand, which has them, in an open exchange."""
    partner = (s.declarer + 2) & 3
    lay_out(s, s.hands[partner], redeal.free)
    for i in range(s.picks):
        s.passed[i] = redeal.free[i]
        s.hands[partner] = take(s.hands[partner], redeal.free[i])


@kernel
def choose_given(s: State, redeal: Redeal, cards: int) -> None:
    """Draw this number of cards that the declarer gave in an open exchange, for a defender's view.

    They are uniform among all cards that the partner has held since.
    """
    hand = s.hands[(s.declarer + 2) & 3]
    for i in range(cards):
        if s.passed[i] >= 0:
            hand = put(hand, s.passed[i])
    lay_out(s, hand, redeal.free)
    for i in range(cards):
        s.given[i] = redeal.free[i]


@kernel
def choose_kitty(s: State, t: Tables, redeal: Redeal) -> None:
    """Draw the cards that the declarer took up from the kitty, for the view of another seat.

    They are uniform among all cards that the declarer held when it had taken them up. The hands,
    and the cards laid away, given up and passed must have been dealt.
    """
    declarer = s.declarer
    hand = s.hands[declarer]
    for trick in range(t.tricks):
        kind = s.plays[declarer * MAX_TRICKS + trick]
        if kind >= 0:
            hand = put(hand, kind)
    for i in range(len(s.passed)):
        if s.passed[i] >= 0 and s.phase >= PLAY:
            hand = take(hand, s.passed[i])
    lay_out(s, put_cards(put_cards(hand, s.given), s.laid), redeal.free)
    for i in range(t.kitty):
        s.kitty[i] = redeal.free[i]


@kernel
def sort_kinds(kinds: Array) -> None:
    """Sort a few kinds, ascending."""
    for last in range(1, len(kinds)):
        for i in range(last, 0, -1):
            if kinds[i - 1] > kinds[i]:
                kinds[i - 1], kinds[i] = kinds[i], kinds[i - 1]


@entry_kernel
def resample_row(
    states: Array, tables: Array, seat: int, redeals: Array, low: Word, high: Word
) -> None:
    """Redeal in row 0 all that the seat cannot know, from the 128-bit seed `high:low`.

    `redeals` is `new_redeal()`. Rewrites the other hands, the cards of an exchange that the seat
    has not seen, and the random stream, and nothing else.
    """
    prepare_redeal(states[0], tables[0], seat, redeals[0])
    redeal_row(states[0], tables[0], seat, redeals[0], low, high)


@kernel
def redeal_row(s: State, t: Tables, seat: int, redeal: Redeal, low: Word, high: Word) -> None:
    """Redeal as `resample_row` does; one `prepare_redeal` serves any number of redeals."""
    seed_stream(s, low, high)
    deal_unknown(s, redeal)
    for who in range(N_SEATS):
        if who != seat:
            s.hands[who] = redeal.hands[who]
    taken = has_kitty(s, t)
    if redeal.room[KITTY_PILE] > 0:
        lay_out(s, redeal.hands[KITTY_PILE], s.laid if taken else s.kitty)
    if redeal.room[GIVEN_PILE] > 0:
        lay_out(s, redeal.hands[GIVEN_PILE], s.given)
    if redeal.room[PASSED_PILE] > 0:
        lay_out(s, redeal.hands[PASSED_PILE], s.passed)
    defends = (seat ^ s.declarer) & 1
    if s.declarer >= 0 and defends and s.passed[0] >= 0 and s.phase >= PLAY:
        choose_passed(s, redeal, t.exchange[s.level])
    if is_joined(s, t):
        if s.phase == PASSING and (seat + 2) & 3 != s.declarer:
            split_hand(s, redeal)
        if defends:
            choose_given(s, redeal, t.exchange[s.level])
    if taken and seat != s.declarer:
        choose_kitty(s, t, redeal)
    if t.kitty > 0:
        sort_kinds(s.kitty)
