"""Search of the last tricks: exact play in sampled deals of the unseen cards.

In deals consistent with the seat's knowledge, each legal card is played to the end with optimal
play by all seats (`bideuchre_env/solver`), and the tricks give the points of the hand. A card that
is significantly below the margin is dropped early. The card with the highest mean is played if its
gain over the rule player's card exceeds the margin plus some standard errors. Cards are numbered as
places, and `deal` is the record `SAMPLED_DEAL` (`sampled_deals.py`). Seats are relative: 0 is the
player, 2 partner.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from bideuchre_env.agents.expert.sampled_deals import (
    SampledDeal,
    begin_deals,
    number_cards,
    sample_deal,
)
from bideuchre_env.core.hands import put
from bideuchre_env.core.records import State, Tables, View
from bideuchre_env.core.view import count_held
from bideuchre_env.rules.cards import MAX_TRICKS, N_SEATS
from bideuchre_env.runtime.intrinsics import lowest_bit
from bideuchre_env.runtime.jit import kernel
from bideuchre_env.solver.position import set_up
from bideuchre_env.solver.transpositions import Searcher, forget
from bideuchre_env.solver.values import of_side, tricks_after

FEW = 6  # deals between prunings of the cards
SURELY = 1.5  # standard errors below the margin at which a card is dropped


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
