"""The cards a seat cannot see, dealt out anew: layouts that fit all it knows.

The cards still to be played are numbered by *place*: suit by suit, from the weakest up, the two
copies of a card side by side. A hand is a set of places, as bits, and what beats what is a matter
of comparing numbers. Seats are relative, as in a view.
"""

from __future__ import annotations

import numpy as np

from bideuchre_env.agents.rule.card_order import STRENGTH, SUIT_OF
from bideuchre_env.core.phases.deal import GOLDEN, mix
from bideuchre_env.rules.cards import MAX_KINDS, N_SEATS, STRAINS
from bideuchre_env.runtime.intrinsics import lowest_bit, popcount
from bideuchre_env.runtime.jit import Row, kernel

MAX_PLACES = 56  # the largest deck, and room for what no game can show
NOWHERE = 4  # where unseen cards lie that nobody will play: put aside, or with who sits out
EVEN = 4  # what a place weighs that nothing is known of
DECLARER, HELPER, DEFENDER, ASIDE = 0, 1, 2, 3  # who may hold a card: rows of `leanings`
N_HOLDERS = 4
N_CONTRACTS = 4  # trumps, no trump; the same alone
EQUAL = 16  # what a card weighs with a holder who is as likely to have it as a defender
MOST_HELD = 7  # cards in hand below which it is known who is likely to hold what
N_RANKS = 17
TRIES = 8  # deals tried before a layout is given up

ORDER = np.array(
    [
        sorted(
            range(MAX_KINDS), key=lambda kind: (SUIT_OF[strain, kind], STRENGTH[strain, kind], kind)
        )
        for strain in range(len(STRAINS))
    ],
    np.int64,
)
"""[strain]: all kinds, suit by suit, from the weakest up; int64 (5, 24)."""

MOST_NODES = 24  # cards a search looks ahead

NODE = np.dtype(
    [
        ("turn", np.int64),  # seat to play
        ("played", np.int64),  # cards on the table
        ("led", np.int64),  # suit, or -1
        ("best", np.int64),  # the place that wins the trick so far, or -1
        ("winner", np.int64),  # its seat
        ("left", np.int64),  # tricks to come, this one included
        ("base", np.int64),  # tricks our side has won since the search began
        ("hand", np.int64),  # places of the seat to play
        ("legal", np.int64),  # those not tried yet
        ("above", np.int64),  # the one tried last, or -1
        ("value", np.int64),  # tricks of our side, by the best card tried
        ("low", np.int64),  # what our side is sure of elsewhere
        ("high", np.int64),  # what the others can hold us to elsewhere
    ],
    align=True,
)
"""A position in a search of the last tricks (`endgame.py`)."""

LAYOUT = np.dtype(
    [
        ("n", np.int64),  # places
        ("kind", np.int64, (MAX_PLACES,)),  # [place]: the card
        ("suit", np.int64, (MAX_PLACES,)),  # [place]: the suit it belongs to
        ("rank", np.int64, (MAX_PLACES,)),  # [place]: its strength; copies have the same
        ("suit_bits", np.int64, (4,)),  # [suit]: its places
        ("unseen", np.int64),  # places of the unseen cards
        ("own", np.int64),  # places of the cards in hand
        ("hands", np.int64, (5,)),  # by seat, and those that lie `NOWHERE`
        ("room", np.int64, (5,)),  # cards each can still take
        ("allowed", np.int64, (4,)),  # [suit]: where its unseen cards may lie, as bits
        ("lean", np.int64, (NOWHERE + 1, MAX_PLACES)),  # [where, place]: how likely it lies there
        # [contract, cards in hand, holder, rank]: how likely he is to hold it; 0 if all are alike
        ("leanings", np.uint8, (N_CONTRACTS, MOST_HELD, N_HOLDERS, N_RANKS)),
        ("lean_by", np.int64),  # `EVEN` and this much more for a suit that a seat has bid
        ("word", np.uint64),  # of the random stream
        # a trick and what comes after it, for `endgame.py`
        ("trumps", np.int64),  # places
        ("out", np.int64),  # the seat that sits out, or -1
        ("players", np.int64),  # seats that play
        ("best", np.int64),  # the place that wins the trick on the table so far, or -1
        ("worth", np.float64, (13,)),  # [tricks of our side in the whole hand]
        ("values", np.float64, (MAX_PLACES,)),  # [place]: worth of playing it in a layout
        ("sums", np.float64, (MAX_PLACES,)),  # [place]: what it gains on the rules' card, in all
        ("squares", np.float64, (MAX_PLACES,)),  # the same squared
        ("wanted", np.int64, (13,)),  # [cards in hand]: layouts to look at; 0 for none
        ("nodes", NODE, (MOST_NODES,)),  # [cards played since the search began]
        ("margin", np.float64),  # points a card must gain over the one the rules would play
        ("doubt", np.float64),  # standard errors it must gain besides
    ],
    align=True,
)


@kernel
def number_cards(v: Row, x: Row) -> None:
    """Number the cards in hand, the unseen ones and the best one on the table as places."""
    strain, n = v.strain, 0
    x.best = -1
    x.unseen = 0
    x.own = 0
    for suit in range(4):
        x.suit_bits[suit] = 0
    for i in range(MAX_KINDS):
        kind = ORDER[strain, i]
        own = (v.held >> kind & 1) + (v.held_pair >> kind & 1)
        unseen = (v.unseen >> kind & 1) + (v.unseen_pair >> kind & 1)
        on_table = 1 if kind == v.winning_kind and v.led >= 0 else 0
        for copy in range(own + unseen + on_table):
            suit = SUIT_OF[strain, kind]
            x.kind[n] = kind
            x.suit[n] = suit
            x.rank[n] = STRENGTH[strain, kind]
            x.suit_bits[suit] |= 1 << n
            if copy < own:
                x.own |= 1 << n
            elif copy < own + unseen:
                x.unseen |= 1 << n
            else:
                x.best = n
            n += 1
    x.n = n


@kernel
def draw(x: Row, n: int) -> int:
    """A number below n from the layout's stream."""
    x.word += GOLDEN
    return int(((mix(x.word) >> np.uint64(33)) * np.uint64(n)) >> np.uint64(31))


@kernel
def seed_layouts(v: Row, x: Row) -> None:
    """Start the stream anew from what the seat sees, and note where each card may lie."""
    x.word = mix(np.uint64(v.held) * GOLDEN + np.uint64(v.unseen))
    x.word = mix(x.word + np.uint64(v.held_pair) * GOLDEN + np.uint64(v.unseen_pair))
    for suit in range(4):
        x.allowed[suit] = 1 << NOWHERE
        for seat in range(1, N_SEATS):
            if v.void[seat] >> suit & 1 == 0:
                x.allowed[suit] |= 1 << seat
    for seat in range(1, NOWHERE + 1):
        lean_to(v, x, seat)


@kernel
def holder_of(v: Row, seat: int) -> int:
    """What a seat, or `NOWHERE`, is to the contract."""
    if seat == NOWHERE:
        return ASIDE
    if seat == v.declarer:
        return DECLARER
    return HELPER if (seat ^ v.declarer) & 1 == 0 else DEFENDER


@kernel
def contract_of(v: Row) -> int:
    """The first index of `leanings`."""
    return (2 if v.sitting_out >= 0 else 0) + (1 if v.strain == len(STRAINS) - 1 else 0)


@kernel
def lean_to(v: Row, x: Row, seat: int) -> None:
    """Fill in how likely each unseen card is to lie with a seat."""
    contract, holder = contract_of(v), holder_of(v, seat)
    held = min(popcount(x.own), MOST_HELD - 1)
    bid = v.call_strains[seat] if seat < N_SEATS and holder != DECLARER else -1
    cards = x.unseen
    while cards:
        place = lowest_bit(cards)
        cards &= cards - 1
        known = x.leanings[contract, held, holder, x.rank[place]]
        lean, suit = known if known else EQUAL, x.suit[place]
        leans = suit == bid or (known == 0 and holder == DECLARER and suit == v.strain)
        more = x.lean_by if leans else 0
        x.lean[seat, place] = lean * (EVEN + more)


@kernel
def deal_layout(v: Row, x: Row) -> bool:
    """Deal the unseen cards out anew into `x.hands`; False if no fit was found."""
    tried = 0
    while tried < TRIES and not try_layout(v, x):
        tried += 1
    return tried < TRIES


@kernel
def try_layout(v: Row, x: Row) -> bool:
    """Deal the unseen cards to places that may hold them, the most restricted suits first."""
    left = v.n_unseen
    for seat in range(1, N_SEATS):
        x.room[seat] = v.cards_left[seat]
        left -= v.cards_left[seat]
    if left < 0:
        return False  # no game shows this
    x.room[0] = 0
    x.room[NOWHERE] = left
    for seat in range(NOWHERE + 1):
        x.hands[seat] = 0
    x.hands[0] = x.own
    for homes in range(1, NOWHERE + 1):
        for suit in range(4):
            allowed = x.allowed[suit]
            if popcount(allowed) != homes:
                continue
            cards = x.unseen & x.suit_bits[suit]
            while cards:
                place = lowest_bit(cards)
                cards &= cards - 1
                seat = draw_home(x, allowed, place)
                if seat < 0:
                    return False
                x.hands[seat] |= 1 << place
                x.room[seat] -= 1
    return True


@kernel
def draw_home(x: Row, allowed: int, place: int) -> int:
    """One of the places in `allowed`, as likely as it has room and leans to the card, or -1."""
    total = 0
    for seat in range(1, NOWHERE + 1):
        if allowed >> seat & 1:
            total += x.room[seat] * x.lean[seat, place]
    if total <= 0:
        return -1
    mark = draw(x, total)
    seat = 0
    while mark >= 0:
        seat += 1
        if allowed >> seat & 1:
            mark -= x.room[seat] * x.lean[seat, place]
    return seat
