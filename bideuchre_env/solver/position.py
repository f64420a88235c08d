"""The position that the solver searches: cards as bits, strongest highest, without gaps.

Every suit of the strain (the left bower is a trump) has a field of 16 bits in one int64. Bit i of a
field is the i-th weakest card of that suit still in play, so a field is always filled from the
bottom: after a trick its cards are removed, and the cards above them move down. So positions that
differ only in cards played earlier have the same numbers. A card is given as the number of its bit,
0 to 63; hands and masks are int64 with a bit per card.

In all modules of the solver, `depth` is the number of tricks completed since the root of the
search, and `place` the index of a card in its trick, so also the number of cards played before it.

Two copies of one card held by different seats have neighbouring bits, the lower seat below,
and the upper of the two is marked in `tie`: neither beats the other, the first played wins. Two
copies in one hand are simply two cards in a row.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from bideuchre_env.core.records import State, Tables
from bideuchre_env.core.tables import MAX_IN_SUIT
from bideuchre_env.rules.cards import COPY_SHIFT, MAX_TRICKS, N_SEATS, N_SUITS, NO_TRUMP
from bideuchre_env.runtime.intrinsics import lowest_bit, popcount
from bideuchre_env.runtime.jit import Row, kernel

FIELD = 0x3FFF  # the 14 bits a suit may need: 12 trumps and two left bowers
FIELD_SHIFT = 4  # log2 of the bits of a field
MAX_MOVES = 14

POSITION = np.dtype(
    [
        # first axis: depth, the number of tricks played since the root; "place": order in a trick
        ("hands", np.int64, (MAX_TRICKS + 1, N_SEATS)),
        ("tie", np.int64, (MAX_TRICKS + 1,)),  # cards tied with the card one bit below
        ("lengths", np.int64, (MAX_TRICKS + 1,)),  # cards by seat and suit, see `CARD_UNIT`
        ("cards", np.int64, (MAX_TRICKS + 1, N_SEATS)),  # the card played, by place
        ("seats", np.int64, (MAX_TRICKS + 1, N_SEATS)),  # the seat that plays it
        ("bests", np.int64, (MAX_TRICKS + 1, N_SEATS + 1)),  # winning card before this place
        ("best_seats", np.int64, (MAX_TRICKS + 1, N_SEATS + 1)),  # the seat that played it
        ("goals", np.int64, (MAX_TRICKS + 1,)),  # tricks side 0 is to take from here
        ("moves", np.int64, (MAX_TRICKS + 1, N_SEATS, MAX_MOVES)),
        ("scores", np.int64, (MAX_TRICKS + 1, N_SEATS, MAX_MOVES)),
        ("counts", np.int64, (MAX_TRICKS + 1, N_SEATS)),  # number of moves listed
        ("tried", np.int64, (MAX_TRICKS + 1, N_SEATS)),  # number of moves tried so far
        ("masks", np.int64, (MAX_TRICKS + 1, N_SEATS)),  # cards that their results depend on
        # constant in a search
        ("trump", np.int64),  # field of the trumps, or -1
        ("left", np.int64),  # tricks not complete at the root
        ("places", np.int64),  # seats playing, 3 or 4
        ("next", np.int64, (N_SEATS,)),  # the seat that plays after each
        # the root
        ("seat", np.int64),  # to act
        ("place", np.int64),  # cards on the table
        ("kind_at", np.int64, (64,)),  # the kind of each bit, or -1
        # second results of kernels
        ("low", np.int64),
        ("mask", np.int64),
        ("hint", np.int64),
        ("runs", np.int64, (4,)),  # tricks the leader cashes in each suit
        ("lows", np.int64, (4,)),  # the lowest card each depends on
        # the transposition table, see transpositions.py
        ("since", np.int64),
        ("stored", np.int64),
        ("heads", np.int64),
        ("stop", np.int64),  # another thread sets it to 1 to end the search
        ("nodes", np.int64),  # cards tried, for measurements
    ],
    align=True,
)
Position: TypeAlias = Row  # of POSITION

# [seat, suit]: the amount that a card adds to `lengths`, which has sixteen counts of four bits. A
# hand's last suit follows from the others, so two counts are free: the one with the sign bit is
# unused, and the one at `LEADER_SHIFT` holds the leader.
CARD_UNIT = np.array(
    [
        [0 if suit == 3 and seat & 1 else 1 << 16 * seat + 4 * suit for suit in range(4)]
        for seat in range(N_SEATS)
    ],
    np.int64,
)
LEADER_SHIFT = 28


@kernel
def field_bits(field: int) -> int:
    """Return the mask of all cards of a suit, the field with this number (0 to 3)."""
    return FIELD << (field << FIELD_SHIFT)


@kernel
def beats(position: Position, tie: int, card: int, best: int) -> bool:
    """Whether `card` beats `best`, the winning card so far, in a trick; both are bit numbers.

    `tie` has the cards tied with the card one bit below; of these the card played first wins.
    """
    if card >> FIELD_SHIFT == best >> FIELD_SHIFT:
        return card > best and not (card == best + 1 and tie >> card & 1)
    return card >> FIELD_SHIFT == position.trump


@kernel
def set_up(position: Position, t: Tables, s: State) -> None:
    """Initialise `position` from a state row in the card play: hands and cards on the table."""
    strain, absent = s.strain, s.sitting_out
    position.trump = -1 if strain >= NO_TRUMP else strain
    position.places = N_SEATS if absent < 0 else N_SEATS - 1
    for seat in range(N_SEATS):
        after = (seat + 1) & 3
        position.next[seat] = (after + 1) & 3 if after == absent else after
    trick, turn = s.trick, s.turn
    position.left = t.tricks - trick
    position.seat = turn
    position.place = 0
    for seat in range(N_SEATS):
        position.hands[1, seat] = 0 if seat == absent else s.hands[seat]
    if s.led >= 0:
        seat = s.leaders[trick]
        while seat != turn:
            kind = s.plays[seat * MAX_TRICKS + trick]
            hand = position.hands[1, seat]
            position.hands[1, seat] = hand + (1 << (kind + COPY_SHIFT * (hand >> kind & 1)))
            position.cards[1, position.place] = kind
            position.place += 1
            seat = position.next[seat]
    lay_out(position, t, strain)
    if position.place > 0:
        find_played(position, s.leaders[trick])


@kernel
def lay_out(position: Position, t: Tables, strain: int) -> None:
    """Convert the hands in `hands[1]`, integers of rules/cards.py, to suit fields in `hands[0]`.

    Also writes `kind_at`, `tie[0]` and `lengths[0]`.
    """
    for seat in range(N_SEATS):
        position.hands[0, seat] = 0
    position.tie[0] = 0
    position.lengths[0] = 0
    for suit in range(N_SUITS):
        bit = suit << FIELD_SHIFT
        for place in range(MAX_IN_SUIT - 1, -1, -1):
            kind = t.ranked[strain, suit, place]
            if kind < 0:
                continue
            first = -1
            for seat in range(N_SEATS):
                hand = position.hands[1, seat]
                if hand >> kind & 1 == 0:
                    continue
                for _ in range(1 + (hand >> (kind + COPY_SHIFT) & 1)):
                    position.hands[0, seat] |= 1 << bit
                    position.lengths[0] += CARD_UNIT[seat, suit]
                    position.kind_at[bit] = kind
                    if first >= 0 and first != seat:
                        position.tie[0] |= 1 << bit
                    first = seat
                    bit += 1
        for unused in range(bit, (suit + 1) << FIELD_SHIFT):
            position.kind_at[unused] = -1


@kernel
def find_played(position: Position, leader: int) -> None:
    """Record the cards on the table, given by kind in `cards[1]`, as the trick at depth 0."""
    seat = leader
    for place in range(position.place):
        hand = position.hands[0, seat]
        while position.kind_at[lowest_bit(hand)] != position.cards[1, place]:
            hand &= hand - 1
        put_down(position, 0, place, seat, lowest_bit(hand))
        seat = position.next[seat]


@kernel
def put_down(position: Position, depth: int, place: int, seat: int, card: int) -> None:
    """Record a card of the trick, and the card and seat that then win; hands are not changed."""
    position.cards[depth, place] = card
    position.seats[depth, place] = seat
    best = position.bests[depth, place]
    if place == 0 or beats(position, position.tie[depth], card, best):
        position.bests[depth, place + 1] = card
        position.best_seats[depth, place + 1] = seat
    else:
        position.bests[depth, place + 1] = best
        position.best_seats[depth, place + 1] = position.best_seats[depth, place]


@kernel
def end_trick(position: Position, depth: int) -> None:
    """Write the hands after the trick at `depth` to `[depth + 1]`: its cards removed, gaps closed.

    Also writes `tie` and `lengths` of `depth + 1`.
    """
    h0, h1 = position.hands[depth, 0], position.hands[depth, 1]
    h2, h3 = position.hands[depth, 2], position.hands[depth, 3]
    tie, lengths, gone = position.tie[depth], position.lengths[depth], 0
    for place in range(position.places):
        card = position.cards[depth, place]
        gone |= 1 << card
        lengths -= CARD_UNIT[position.seats[depth, place], card >> FIELD_SHIFT]
    while gone:
        card = lowest_bit(gone)
        bit = 1 << card
        above = field_bits(card >> FIELD_SHIFT) & -(bit << 1)
        stay = ~(above | bit)
        tie &= ~(bit | (bit << 1))
        h0 = (h0 & stay) | ((h0 & above) >> 1)
        h1 = (h1 & stay) | ((h1 & above) >> 1)
        h2 = (h2 & stay) | ((h2 & above) >> 1)
        h3 = (h3 & stay) | ((h3 & above) >> 1)
        tie = (tie & stay) | ((tie & above) >> 1)
        gone = (gone & stay) | ((gone & above) >> 1)
    position.hands[depth + 1, 0] = h0
    position.hands[depth + 1, 1] = h1
    position.hands[depth + 1, 2] = h2
    position.hands[depth + 1, 3] = h3
    position.tie[depth + 1] = tie
    position.lengths[depth + 1] = lengths


@kernel
def before_trick(position: Position, depth: int, mask: int) -> int:
    """Convert a mask of top cards from the bits after the trick at `depth` to those before it."""
    gone = 0
    for place in range(position.places):
        gone |= 1 << position.cards[depth, place]
    while gone:
        card = lowest_bit(gone)
        gone &= gone - 1
        if card & 15 == 0 or mask >> (card - 1) & 1 == 0:
            field = field_bits(card >> FIELD_SHIFT)
            top = mask & field
            mask = (mask & ~field) | (top & (top << 1))
    return mask


@kernel
def from_card(tie: int, card: int) -> int:
    """Return the mask of a card, the card tied with it, and all higher cards of its suit."""
    lowest = card - (tie >> card & 1)
    return field_bits(card >> FIELD_SHIFT) & -(1 << lowest)


@kernel
def count_in(bits: int, field: int) -> int:
    """Count the cards of a suit in a hand or mask; `field` is the suit, 0 to 3."""
    return popcount(bits & field_bits(field))
