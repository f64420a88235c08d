"""Search of the last tricks: exact play in sampled deals of the unseen cards.

In deals consistent with the seat's knowledge, each legal card is played to the end with optimal
play by all seats (`bideuchre_env/solver`), and the tricks give the points of the hand. A card that
is significantly below the margin is dropped early. The card with the highest mean is played if its
gain over the rule player's card exceeds the margin plus some standard errors. Seats are relative,
as in a view: 0 is the player, 2 partner.

Sampled deals are random deals of the unseen cards that are consistent with the seat's knowledge.
The cards still to be played are numbered by *place*: suit by suit, from the weakest up, with the
two copies of a card next to each other. A hand is a set of places, as bits. Cards that no seat will
play (given up, or held by the seat that sits out) have the holder `NOWHERE`.

`holder_odds.npz` has the odds of the holders of an unseen card, by deck: the declarer has most of
the trumps but few other jacks, and has played its aces by the end.
`experiments/fitting/build_holder_odds.py` estimates the odds from played hands.
"""

from __future__ import annotations

from math import sqrt
from typing import TypeAlias

import numpy as np

from bideuchre_env.agents.data import read_array, read_file, sealed
from bideuchre_env.core.hands import put
from bideuchre_env.core.phases.deal import GOLDEN, mix
from bideuchre_env.core.records import State, Tables, View
from bideuchre_env.core.tables import MAX_IN_SUIT
from bideuchre_env.core.view import count_held
from bideuchre_env.rules.cards import MAX_TRICKS, N_SEATS, N_SUITS, NO_TRUMP
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.intrinsics import lowest_bit, popcount
from bideuchre_env.runtime.jit import Array, Row, kernel
from bideuchre_env.solver.position import set_up
from bideuchre_env.solver.transpositions import Searcher, forget
from bideuchre_env.solver.values import of_side, tricks_after

FEW = 6  # deals between prunings of the cards
SURELY = 1.5  # standard errors below the margin at which a card is dropped
MAX_PLACES = 56  # the largest deck, with room for invalid observations
NOWHERE = 4  # holder of unseen cards that are not played: given up, or of a seat sitting out
EVEN = 4  # factor of the odds in quarters, to which `lean_by` is added
DECLARER, HELPER, DEFENDER, ASIDE = 0, 1, 2, 3  # holders of a card, as an index of the odds
EQUAL = 16  # odds of a holder that is as likely to have the card as a defender
MOST_HELD = 7  # the odds are tabulated for fewer cards in hand than this
FILE = "holder_odds.npz"
SHAPE = (4, MOST_HELD, 4, 17)  # trumps, no trump, the same alone; cards in hand; holder; rank
MOST_TRIES = 8  # tries to find a consistent deal

SAMPLED_DEAL = np.dtype(
    [
        ("n", np.int64),  # places
        ("kind", np.int64, (MAX_PLACES,)),  # [place]: the card
        ("suit", np.int64, (MAX_PLACES,)),  # [place]: the suit it belongs to
        ("rank", np.int64, (MAX_PLACES,)),  # [place]: its strength; copies have the same
        ("suit_bits", np.int64, (N_SUITS,)),  # [suit]: its places
        ("unseen", np.int64),  # places of the unseen cards
        ("own", np.int64),  # places of the cards in hand
        ("hands", np.int64, (N_SEATS + 1,)),  # by seat, and the cards `NOWHERE`
        ("room", np.int64, (N_SEATS + 1,)),  # cards each can still take
        ("allowed", np.int64, (N_SUITS,)),  # [suit]: holders of its unseen cards, as bits
        ("odds", np.int64, (NOWHERE + 1, MAX_PLACES)),  # [seat or `NOWHERE`, place]: relative odds
        # [contract, cards in hand, holder, rank]: relative odds; 0 if unknown
        ("holder_odds", np.uint8, SHAPE),
        ("lean_by", np.int64),  # added to `EVEN` for a suit that a seat has bid
        ("word", np.uint64),  # of the random stream
        ("worth", np.float64, (13,)),  # [tricks of our side in the whole hand]
        ("values", np.float64, (MAX_PLACES,)),  # [place]: points of playing it in a sampled deal
        ("sums", np.float64, (MAX_PLACES,)),  # [place]: sum of its gains on the rule player's card
        ("squares", np.float64, (MAX_PLACES,)),  # [place]: sum of the squared gains
        ("n_deals", np.int64, (13,)),  # [cards in hand]: deals to sample; 0 disables the search
        ("guess", np.int64),  # tricks of side 0 by the last search
        ("margin", np.float64),  # points that a card must gain over the rule player's card
        ("standard_errors", np.float64),  # of that gain, added to the margin
    ],
    align=True,
)
SampledDeal: TypeAlias = Row  # of SAMPLED_DEAL


def holder_odds(rules: Rules) -> Array:
    """Return the relative odds that a holder has an unseen card, uint8 `SHAPE`, read-only.

    The index is [`contract_of`, cards in our hand, `holder_of`, rank]. Defenders have `EQUAL`; 0
    means unknown, as are all odds of a deck that is not in the file. Raises `TableError` if the
    file is missing or damaged.
    """
    deck = f"{rules.kinds}x{rules.copies}"
    if deck in read_file(FILE):
        return read_array(FILE, deck, SHAPE, np.uint8)
    return sealed(np.zeros(SHAPE, np.uint8))


@kernel
def number_cards(view: View, t: Tables, deal: SampledDeal) -> None:
    """Number the cards in hand and the unseen cards as places.

    Writes the fields of `deal` from `n` to `own`. `view.strain` must be set.
    """
    strain, n = view.strain, 0
    deal.unseen = 0
    deal.own = 0
    for suit in range(N_SUITS):
        deal.suit_bits[suit] = 0
        for place in range(MAX_IN_SUIT - 1, -1, -1):
            kind = t.ranked[strain, suit, place]
            if kind < 0:
                continue
            own = (view.held >> kind & 1) + (view.held_pair >> kind & 1)
            unseen = (view.unseen >> kind & 1) + (view.unseen_pair >> kind & 1)
            for copy in range(own + unseen):
                deal.kind[n] = kind
                deal.suit[n] = suit
                deal.rank[n] = t.strength[strain, kind]
                deal.suit_bits[suit] |= 1 << n
                if copy < own:
                    deal.own |= 1 << n
                else:
                    deal.unseen |= 1 << n
                n += 1
    deal.n = n


@kernel
def begin_deals(view: View, deal: SampledDeal) -> None:
    """Seed the random stream, and write the possible holders and the odds of each unseen card.

    The seed depends on the cards in hand and the unseen cards only. Call it after `number_cards`,
    before the first `sample_deal`.
    """
    deal.word = mix(np.uint64(view.held) * GOLDEN + np.uint64(view.unseen))
    deal.word = mix(deal.word + np.uint64(view.held_pair) * GOLDEN + np.uint64(view.unseen_pair))
    for suit in range(4):
        deal.allowed[suit] = 1 << NOWHERE
        for seat in range(1, N_SEATS):
            if view.void[seat] >> suit & 1 == 0:
                deal.allowed[suit] |= 1 << seat
    for seat in range(1, NOWHERE + 1):
        fill_odds(view, deal, seat)


@kernel
def holder_of(view: View, seat: int) -> int:
    """Return the role of a holder: `DECLARER`, `HELPER` (its partner), `DEFENDER` or `ASIDE`.

    `seat` is a relative seat, or `NOWHERE`, whose role is `ASIDE`.
    """
    if seat == NOWHERE:
        return ASIDE
    if seat == view.declarer:
        return DECLARER
    return HELPER if (seat ^ view.declarer) & 1 == 0 else DEFENDER


@kernel
def contract_of(view: View) -> int:
    """Return the first index of `holder_odds`: 0 trumps, 1 no trump; plus 2 if a seat sits out."""
    return (2 if view.sitting_out >= 0 else 0) + (1 if view.strain >= NO_TRUMP else 0)


@kernel
def fill_odds(view: View, deal: SampledDeal, seat: int) -> None:
    """Write the relative odds that a seat, or `NOWHERE`, holds each unseen card to `deal.odds`."""
    contract, holder = contract_of(view), holder_of(view, seat)
    held = min(popcount(deal.own), MOST_HELD - 1)
    bid = view.call_strains[seat] if seat < N_SEATS and holder != DECLARER else -1
    cards = deal.unseen
    while cards:
        place = lowest_bit(cards)
        cards &= cards - 1
        estimate = deal.holder_odds[contract, held, holder, deal.rank[place]]
        odds, suit = estimate if estimate else EQUAL, deal.suit[place]
        leans = suit == bid or (estimate == 0 and holder == DECLARER and suit == view.strain)
        deal.odds[seat, place] = odds * (EVEN + (deal.lean_by if leans else 0))


@kernel
def sample_deal(view: View, deal: SampledDeal) -> bool:
    """Deal the unseen cards at random to `deal.hands`, in up to `MOST_TRIES` tries.

    Returns False if no try gives a valid deal; `deal.hands` is then incomplete.
    """
    tries = 0
    while tries < MOST_TRIES and not try_deal(view, deal):
        tries += 1
    return tries < MOST_TRIES


@kernel
def try_deal(view: View, deal: SampledDeal) -> bool:
    """Deal the unseen cards to `deal.hands`, the suits with the fewest allowed holders first.

    Returns False if the cards do not fit: no allowed holder has room for one of them.
    """
    left = view.n_unseen
    for seat in range(1, N_SEATS):
        deal.room[seat] = view.cards_left[seat]
        left -= view.cards_left[seat]
    if left < 0:
        return False  # no game has this view
    deal.room[0] = 0
    deal.room[NOWHERE] = left
    for seat in range(NOWHERE + 1):
        deal.hands[seat] = 0
    deal.hands[0] = deal.own
    for homes in range(1, NOWHERE + 1):
        for suit in range(4):
            allowed = deal.allowed[suit]
            if popcount(allowed) != homes:
                continue
            cards = deal.unseen & deal.suit_bits[suit]
            while cards:
                place = lowest_bit(cards)
                cards &= cards - 1
                seat = draw_holder(deal, allowed, place)
                if seat < 0:
                    return False
                deal.hands[seat] |= 1 << place
                deal.room[seat] -= 1
    return True


@kernel
def draw_holder(deal: SampledDeal, allowed: int, place: int) -> int:
    """Return a random holder of a card (a seat or `NOWHERE`), or -1 if no holder has room.

    The chance of a holder is proportional to its room times its odds. `allowed` are the possible
    holders, as bits; `place` is the card.
    """
    total = 0
    for seat in range(1, NOWHERE + 1):
        if allowed >> seat & 1:
            total += deal.room[seat] * deal.odds[seat, place]
    if total <= 0:
        return -1
    deal.word += GOLDEN
    mark = int(((mix(deal.word) >> np.uint64(33)) * np.uint64(total)) >> np.uint64(31))
    seat = 0
    while mark >= 0:
        seat += 1
        if allowed >> seat & 1:
            mark -= deal.room[seat] * deal.odds[seat, place]
    return seat


@kernel
def fill_worth(view: View, t: Tables, deal: SampledDeal) -> None:
    """Write `deal.worth`: the points of the hand, ours minus theirs, by the tricks of our side."""
    tricks, level = t.tricks, view.level
    for won in range(tricks + 1):
        if view.declarer & 1:
            deal.worth[won] = float(t.others[level, tricks - won] - t.payoff[level, tricks - won])
        else:
            deal.worth[won] = float(t.payoff[level, won] - t.others[level, won])


@kernel
def class_of(view: View, t: Tables, deal: SampledDeal, place: int) -> int:
    """Return the highest place in our hand that is equivalent to this place.

    No card in play outside our hand may rank between the two, nor be a second copy of either,
    because the first copy played wins.
    """
    others, kind, highest = view.unseen, deal.kind[place], place
    if view.led >= 0 and view.winning_kind >= 0:
        others |= 1 << view.winning_kind
    above = deal.own & deal.suit_bits[deal.suit[place]] & (-2 << place)
    while above:
        other = deal.kind[lowest_bit(above)]
        between = t.above[view.strain, kind] & ~t.above[view.strain, other] | 1 << kind
        if between & others == 0:
            highest = lowest_bit(above)
        above &= above - 1
    return highest


@kernel
def begin_world(s: State, seat: int, left: int, searcher: Searcher) -> None:
    """Copy the state `s`, in which `seat` is to act, to the searcher; each deal rewrites the hands.

    `left` is the number of tricks left, the current one included.
    """
    searcher.states[0] = s
    world, leader = searcher.states[0], seat
    for _ in range(N_SEATS - 1):
        before = (leader + 3) & 3
        before = (before + 3) & 3 if before == s.sitting_out else before
        if s.plays[before * MAX_TRICKS + s.trick] < 0:
            break
        leader = before
    world.turn = seat
    world.leaders[s.trick] = leader
    searcher.position[0].left = left
    forget(searcher)


@kernel
def try_cards(view: View, t: Tables, deal: SampledDeal, searcher: Searcher, cards: int) -> None:
    """Play every card of `cards` (places, as bits), then the sampled deal to its end, optimally.

    Writes the points of the hand, ours minus theirs, to `deal.values`, by place.
    """
    position, world = searcher.position[0], searcher.states[0]
    for rel in range(N_SEATS):
        hand, places = 0, deal.hands[rel]
        while places:
            hand = put(hand, deal.kind[lowest_bit(places)])
            places &= places - 1
        world.hands[(world.turn + rel) & 3] = hand
    set_up(position, t, world)
    own, bits = deal.own, position.hands[0, position.seat]  # both in the same order
    won = min(max(view.tricks_won[0], 0), len(deal.worth) - 1 - position.left)
    while own:
        place = lowest_bit(own)
        if cards >> place & 1:
            deal.guess = tricks_after(searcher, lowest_bit(bits), deal.guess)
            deal.values[place] = deal.worth[won + of_side(position, position.seat, deal.guess)]
        own &= own - 1
        bits &= bits - 1


@kernel
def add_gains(deal: SampledDeal, places: int, favourite: int) -> None:
    """Add each card's gain over the favourite in this deal to `deal.sums` and `deal.squares`.

    `places` are the cards, as bits; `favourite` is the place of the rule player's card.
    """
    while places:
        place = lowest_bit(places)
        places &= places - 1
        gain = deal.values[place] - deal.values[favourite]
        deal.sums[place] += gain
        deal.squares[place] += gain * gain


@kernel
def error_of(deal: SampledDeal, place: int, n_deals: int) -> float:
    """Return the standard error of a card's mean gain over the favourite; infinite for one deal."""
    if n_deals < 2:
        return np.inf
    mean = deal.sums[place] / n_deals
    return sqrt(max(deal.squares[place] / n_deals - mean * mean, 0.0) / (n_deals - 1))


@kernel
def hopeful(deal: SampledDeal, places: int, favourite: int, n_deals: int) -> int:
    """Return, as bits, the favourite and the cards of `places` that may beat it by the margin.

    A card remains if its mean gain plus `SURELY` standard errors exceeds `deal.margin`. `n_deals`
    is the number of deals tried so far.
    """
    remaining = 1 << favourite
    while places:
        place = lowest_bit(places)
        places &= places - 1
        if deal.sums[place] / n_deals + SURELY * error_of(deal, place, n_deals) > deal.margin:
            remaining |= 1 << place
    return remaining


@kernel
def endgame_card(
    s: State, seat: int, view: View, t: Tables, deal: SampledDeal, searcher: Searcher, legal: int,
    chosen: int,
) -> int:  # fmt: skip
    """Return the kind to play, of the `legal` kinds (bits), by searching sampled deals.

    `chosen`, the rule player's card, is returned unless another is clearly better. There is no
    search if `deal.n_deals` is 0 for the number of cards in hand. `view` is that of the seat in
    state `s`.
    """
    left = count_held(view, -1)
    most_deals = deal.n_deals[min(left, len(deal.n_deals) - 1)]
    if most_deals == 0 or left != t.tricks - s.trick or seat == s.sitting_out:
        return chosen  # no search, or no game has this view
    number_cards(view, t, deal)
    begin_deals(view, deal)
    begin_world(s, seat, left, searcher)
    fill_worth(view, t, deal)
    places, favourite = 0, -1
    for place in range(deal.n):
        deal.sums[place] = 0.0
        deal.squares[place] = 0.0
        if deal.own >> place & 1 and legal >> deal.kind[place] & 1:
            places |= 1 << place if class_of(view, t, deal, place) == place else 0
            if deal.kind[place] == chosen:
                favourite = place
    if favourite < 0:
        return chosen
    favourite = class_of(view, t, deal, favourite)
    if places >> favourite & 1 == 0:
        return chosen  # no game has this mask
    n_deals = 0
    for _ in range(most_deals):
        if places & (places - 1) == 0:
            return chosen
        if sample_deal(view, deal):
            try_cards(view, t, deal, searcher, places)
            add_gains(deal, places, favourite)
            n_deals += 1
            if n_deals % FEW == 0:
                places = hopeful(deal, places, favourite, n_deals)
    best, most = -1, 0.0
    places &= ~(1 << favourite)
    while places and n_deals:
        place = lowest_bit(places)
        places &= places - 1
        gain = deal.sums[place] / n_deals
        least = deal.margin
        if deal.standard_errors > 0.0:
            least += deal.standard_errors * error_of(deal, place, n_deals)
        if gain > most and gain > least:
            best, most = place, gain
    return chosen if best < 0 else deal.kind[best]
