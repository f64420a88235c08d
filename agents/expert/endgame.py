"""Search of the last tricks: exact play in sampled deals of the unseen cards.

In deals consistent with the seat's knowledge, each legal card is played to the end with optimal
play by all seats, and the tricks give the points of the hand. A card that is significantly below
the margin is dropped early. The card with the highest mean is played if its gain over the rule
player's card exceeds the margin plus some standard errors. Cards are numbered as places, and `deal`
is the record `SAMPLED_DEAL` (`sampled_deals.py`). Seats are relative: 0 is the player, 2 partner.
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
from bideuchre_env.core.records import Tables, View
from bideuchre_env.core.view import count_held
from bideuchre_env.rules.cards import NO_TRUMP
from bideuchre_env.runtime.intrinsics import highest_bit, lowest_bit, popcount
from bideuchre_env.runtime.jit import Row, kernel

FEW = 6  # deals between prunings of the cards
SURELY = 1.5  # standard errors below the margin at which a card is dropped


@kernel
def open_node(deal: SampledDeal, depth: int, turn: int, led: int, left: int, base: int) -> Row:
    """Set up and return the search node at `depth`, with the arguments as its fields (see `NODE`).

    The calling function fills in `played`, `best`, `winner`, `low` and `high`.
    """
    hand = deal.hands[turn]
    follow = hand & deal.suit_bits[led] if led >= 0 else 0
    node = deal.nodes[depth]
    node.turn = turn
    node.led = led
    node.left = left
    node.base = base
    node.hand = hand
    node.legal = follow if follow else hand
    node.above = -1
    node.value = base if turn & 1 == 0 else base + left
    return node


@kernel
def absorb(deal: SampledDeal, depth: int, value: int) -> None:
    """Update the node at `depth` with the `value` of the card tried last, in tricks of our side.

    If that closes the alpha-beta window, the node's remaining cards are skipped.
    """
    node = deal.nodes[depth]
    if node.turn & 1 == 0:
        node.value = max(node.value, value)
        node.low = max(node.low, value)
    else:
        node.value = min(node.value, value)
        node.high = min(node.high, value)
    if node.low >= node.high:
        node.legal = 0


@kernel
def last_trick(deal: SampledDeal, turn: int, played: int, best: int, winner: int) -> int:
    """Return 1 if seats 0 and 2 win the last trick, in which all cards are forced, else 0.

    The arguments are those of `search`.
    """
    for _ in range(4):
        if played < deal.players and deal.hands[turn]:
            place = lowest_bit(deal.hands[turn])
            if best < 0 or wins_over(deal, place, best):
                best, winner = place, turn
            played += 1
        turn = (turn + 1) & 3
    return 1 if winner & 1 == 0 else 0


@kernel
def search(
    deal: SampledDeal, turn: int, played: int, led: int, best: int, winner: int, left: int
) -> int:
    """Return the number of the `left` last tricks that seats 0 and 2 take with optimal play.

    All seats see all cards, `deal.hands`. `turn` is the seat to play, `led` the suit led or -1.
    `played` cards are on the table; of these, `best` (a place, or -1) is winning, played by seat
    `winner`. The search is alpha-beta without recursion; it changes `deal.hands` and restores them.
    """
    if left == 1:
        return last_trick(deal, turn, played, best, winner)
    depth, node = 0, open_node(deal, 0, turn, led, left, 0)
    node.played, node.best, node.winner = played, best, winner
    node.low, node.high = -1, left + 1
    while True:
        node = deal.nodes[depth]
        legal = node.legal
        if legal == 0:
            value = node.value
            if depth == 0:
                return value
            depth -= 1
            deal.hands[deal.nodes[depth].turn] = deal.nodes[depth].hand
            absorb(deal, depth, value)
            continue
        place = highest_bit(legal)
        node.legal = legal ^ (1 << place)
        turn, hand, above = node.turn, node.hand, node.above
        node.above = place
        best, winner, led, played = node.best, node.winner, node.led, node.played
        if above >= 0:
            live = deal.hands[0] | deal.hands[1] | deal.hands[2] | deal.hands[3]
            live |= 1 << best if best >= 0 else 0
            if same_as(deal, live, hand, place, above):
                continue
        if best < 0 or wins_over(deal, place, best):
            best, winner = place, turn
        if led < 0:
            led = deal.suit[place]
        base, left = node.base, node.left
        played += 1
        turn = (turn + 1) & 3
        if turn == deal.out:
            turn = (turn + 1) & 3
        deal.hands[node.turn] = hand ^ (1 << place)
        if played == deal.players:
            base += 1 if winner & 1 == 0 else 0
            left -= 1
            turn, played, led, best = winner, 0, -1, -1
        if left == 1:
            value = base + last_trick(deal, turn, played, best, winner)
        elif base + left <= node.low:
            value = base + left
        elif base >= node.high:
            value = base
        else:
            depth += 1
            child = open_node(deal, depth, turn, led, left, base)
            child.played, child.best, child.winner = played, best, winner
            child.low, child.high = node.low, node.high
            continue
        deal.hands[node.turn] = hand
        absorb(deal, depth, value)


@kernel
def same_as(deal: SampledDeal, live: int, hand: int, place: int, above: int) -> bool:
    """Whether two cards of a hand, the places `place` and the higher `above`, are equivalent.

    They must be of one suit, and no card of `live` (the places in play, as bits) outside the hand
    may rank between them. Nor may another seat hold a second copy of either, because the first copy
    played wins.
    """
    if deal.suit[place] != deal.suit[above]:
        return False
    low, high = place, above
    if low > 0 and is_copy(deal, low - 1, place):
        low -= 1
    if high + 1 < len(deal.kind) and is_copy(deal, high + 1, above):
        high += 1
    return (live & ~hand) & ((2 << high) - (1 << low)) == 0


@kernel
def is_copy(deal: SampledDeal, one: int, other: int) -> bool:
    """Whether two places hold the same card."""
    return deal.suit[one] == deal.suit[other] and deal.rank[one] == deal.rank[other]


@kernel
def wins_over(deal: SampledDeal, place: int, best: int) -> bool:
    """Whether the card `place` beats `best`: a higher card of its suit, or a trump on another."""
    if deal.suit[place] == deal.suit[best]:
        return deal.rank[place] > deal.rank[best]
    return deal.trumps >> place & 1 == 1


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
    live = deal.unseen | deal.own
    if deal.best >= 0:
        live |= 1 << deal.best
    higher = (deal.own >> (place + 1)) << (place + 1)
    while higher:
        above = lowest_bit(higher)
        if not same_as(deal, live, deal.own, place, above):
            return place
        place = above
        higher &= higher - 1
    return place


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
