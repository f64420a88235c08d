"""Search of the last tricks: exact play in sampled deals of the unseen cards.

In deals consistent with the seat's knowledge, each legal card is played to the end with optimal
play by all seats (`last_tricks.py`), and the tricks give the points of the hand. A card that is
significantly below the margin is dropped early. The card with the highest mean is played if its
gain over the rule player's card exceeds the margin plus some standard errors. Cards are numbered as
places, and `deal` is the record `SAMPLED_DEAL` (`sampled_deals.py`). Seats are relative: 0 is the
player, 2 partner.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from bideuchre_env.agents.expert.last_tricks import equals, search, wins_over
from bideuchre_env.agents.expert.sampled_deals import (
    SampledDeal,
    begin_deals,
    number_cards,
    sample_deal,
)
from bideuchre_env.core.records import Tables, View
from bideuchre_env.core.view import count_held
from bideuchre_env.rules.cards import NO_TRUMP
from bideuchre_env.runtime.intrinsics import highest_bit, lowest_bit, popcount
from bideuchre_env.runtime.jit import kernel

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
def class_of(deal: SampledDeal, place: int) -> int:
    """Return the highest place in our hand that is equivalent to this place (see `same_as`)."""
    live = deal.unseen | deal.own | (1 << deal.best if deal.best >= 0 else 0)
    return highest_bit(equals(deal, live, deal.own, place))


@kernel
def try_cards(view: View, deal: SampledDeal, legal: int) -> None:
    """Play every card of `legal` (places, as bits), then the sampled deal to its end, optimally.

    Writes the points of the hand, ours minus theirs, to `deal.values`, by place. `deal.hands[0]` is
    overwritten.
    """
    left = popcount(deal.own)
    won = min(max(view.tricks_won[0], 0), len(deal.worth) - 1 - left)
    led, best, winner = view.led, deal.best, view.winning
    played = deal.players - 1 - popcount(view.after)
    after = 1 if deal.out != 1 else 2
    for i in range(deal.last_result + 1):
        deal.results[i].key = 0
    while legal:
        place = lowest_bit(legal)
        legal &= legal - 1
        beats = best < 0 or wins_over(deal, place, best)
        deal.hands[0] = deal.own ^ (1 << place)
        tricks = search(
            deal,
            after,
            played + 1,
            deal.suit[place] if led < 0 else led,
            place if beats else best,
            0 if beats else winner,
            left,
        )
        deal.values[place] = deal.worth[won + tricks]


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
def endgame_card(view: View, t: Tables, deal: SampledDeal, legal: int, chosen: int) -> int:
    """Return the kind to play, of the `legal` kinds (bits), by searching sampled deals.

    `chosen`, the rule player's card, is returned unless another is clearly better. There is no
    search if `deal.n_deals` is 0 for the number of cards in hand.
    """
    most_deals = deal.n_deals[min(count_held(view, -1), len(deal.n_deals) - 1)]
    if most_deals == 0:
        return chosen
    number_cards(view, t, deal)
    begin_deals(view, deal)
    fill_worth(view, t, deal)
    strain = view.strain
    deal.trumps = deal.suit_bits[strain] if strain < NO_TRUMP else 0
    deal.out = view.sitting_out
    deal.players = 4 if view.sitting_out < 0 else 3
    deal.last_result = min(1 << (2 * popcount(deal.own) - 1), len(deal.results)) - 1
    places, favourite = 0, -1
    for place in range(deal.n):
        deal.sums[place] = 0.0
        deal.squares[place] = 0.0
        if deal.own >> place & 1 and legal >> deal.kind[place] & 1:
            places |= 1 << place if class_of(deal, place) == place else 0
            if deal.kind[place] == chosen:
                favourite = place
    if favourite < 0:
        return chosen
    favourite = class_of(deal, favourite)
    if places >> favourite & 1 == 0:
        return chosen  # no game has this mask
    n_deals = 0
    for _ in range(most_deals):
        if places & (places - 1) == 0:
            return chosen
        if sample_deal(view, deal):
            try_cards(view, deal, places)
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
