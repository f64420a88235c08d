"""The last tricks, played out exactly over layouts of the unseen cards.

In layouts that fit what the seat knows, the cards it may play are followed to the end by best play
all round, and the tricks are turned into the points of the hand; a card that is surely no better
than the one the player's own rules would play is dropped on the way. The card that is worth most
over the layouts is played, if it gains the margin on theirs and what its error leaves in doubt.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from bideuchre_env.agents.expert.sampled_deals import deal_layout, number_cards, seed_layouts
from bideuchre_env.agents.rule.view import count_held
from bideuchre_env.runtime.intrinsics import highest_bit, lowest_bit, popcount
from bideuchre_env.runtime.jit import Row, kernel

FEW = 6  # layouts between two looks at which cards are still in the running
SURELY = 1.5  # standard errors short of the margin that rule a card out


@kernel
def open_node(
    x: Row, d: int, turn: int, played: int, led: int, best: int, winner: int, left: int, base: int
) -> None:
    """Set up the position at depth `d`: who is to play, to what trick, with which cards."""
    hand = x.hands[turn]
    follow = hand & x.suit_bits[led] if led >= 0 else 0
    n = x.nodes[d]
    n.turn = turn
    n.played = played
    n.led = led
    n.best = best
    n.winner = winner
    n.left = left
    n.base = base
    n.hand = hand
    n.legal = follow if follow else hand
    n.above = -1
    n.value = base if turn & 1 == 0 else base + left


@kernel
def absorb(x: Row, d: int, found: int) -> None:
    """Take what a card at depth `d` comes to into account; no more cards once it is decided."""
    n = x.nodes[d]
    if n.turn & 1 == 0:
        n.value = max(n.value, found)
        n.low = max(n.low, found)
    else:
        n.value = min(n.value, found)
        n.high = min(n.high, found)
    if n.low >= n.high:
        n.legal = 0


@kernel
def last_trick(x: Row, turn: int, played: int, best: int, winner: int) -> int:
    """1 if seats 0 and 2 win the trick that everybody's last card goes to."""
    for _ in range(4):
        if played < x.players and x.hands[turn]:
            place = lowest_bit(x.hands[turn])
            if best < 0 or wins_over(x, place, best):
                best, winner = place, turn
            played += 1
        turn = (turn + 1) & 3
    return 1 if winner & 1 == 0 else 0


@kernel
def search(x: Row, turn: int, played: int, led: int, best: int, winner: int, left: int) -> int:
    """How many of the `left` tricks to come seats 0 and 2 take by best play of all.

    `played` cards lie on the table, `best` (a place, of seat `winner`) wins so far. `x.hands` is
    played from and put back.
    """
    if left == 1:
        return last_trick(x, turn, played, best, winner)
    open_node(x, 0, turn, played, led, best, winner, left, 0)
    x.nodes[0].low = -1
    x.nodes[0].high = left + 1
    d = 0
    while True:
        n = x.nodes[d]
        legal = n.legal
        if legal == 0:
            found = n.value
            if d == 0:
                return found
            d -= 1
            x.hands[x.nodes[d].turn] = x.nodes[d].hand
            absorb(x, d, found)
            continue
        place = highest_bit(legal)
        n.legal = legal ^ (1 << place)
        turn, hand, above = n.turn, n.hand, n.above
        n.above = place
        best, winner, led, played = n.best, n.winner, n.led, n.played
        if above >= 0 and same_as(x, live_cards(x, best), hand, place, above):
            continue
        if best < 0 or wins_over(x, place, best):
            best, winner = place, turn
        if led < 0:
            led = x.suit[place]
        base, left = n.base, n.left
        played += 1
        turn = (turn + 1) & 3
        if turn == x.out:
            turn = (turn + 1) & 3
        x.hands[n.turn] = hand ^ (1 << place)
        if played == x.players:
            base += 1 if winner & 1 == 0 else 0
            left -= 1
            turn, played, led, best = winner, 0, -1, -1
        if left == 1:
            found = base + last_trick(x, turn, played, best, winner)
        elif base + left <= n.low:
            found = base + left
        elif base >= n.high:
            found = base
        else:
            d += 1
            open_node(x, d, turn, played, led, best, winner, left, base)
            x.nodes[d].low = n.low
            x.nodes[d].high = n.high
            continue
        x.hands[n.turn] = hand
        absorb(x, d, found)


@kernel
def live_cards(x: Row, best: int) -> int:
    """The places that still matter: all hands, and the best card on the table."""
    live = x.hands[0] | x.hands[1] | x.hands[2] | x.hands[3]
    return live | 1 << best if best >= 0 else live


@kernel
def same_as(x: Row, live: int, hand: int, place: int, above: int) -> bool:
    """Whether a card is worth the same as the next higher of the hand: no live one in between.

    Nor may anybody else hold the other copy of one of them: of two copies the first played wins.
    """
    if x.suit[place] != x.suit[above]:
        return False
    low, high = place, above
    if low > 0 and is_copy(x, low - 1, place):
        low -= 1
    if high + 1 < len(x.kind) and is_copy(x, high + 1, above):
        high += 1
    return (live & ~hand) & ((2 << high) - (1 << low)) == 0


@kernel
def is_copy(x: Row, one: int, other: int) -> bool:
    """Whether two places hold the same card."""
    return x.suit[one] == x.suit[other] and x.rank[one] == x.rank[other]


@kernel
def wins_over(x: Row, place: int, best: int) -> bool:
    """Whether a card beats the best so far: a higher one of its suit, or a trump on another."""
    if x.suit[place] == x.suit[best]:
        return x.rank[place] > x.rank[best]
    return x.trumps >> place & 1 == 1


@kernel
def fill_worth(v: Row, t: Row, x: Row) -> None:
    """What so many tricks for our side are worth, in points of the hand."""
    tricks, level = t.tricks, v.level
    for won in range(tricks + 1):
        if v.declarer & 1:
            x.worth[won] = float(won - t.payoff[level, tricks - won])
        else:
            x.worth[won] = float(t.payoff[level, won] - (tricks - won))


@kernel
def class_of(x: Row, legal: int, place: int) -> int:
    """The highest card of the hand that is worth the same as this one."""
    live = x.unseen | x.own
    if x.best >= 0:
        live |= 1 << x.best
    higher = legal >> place + 1 << place + 1
    while higher:
        above = lowest_bit(higher)
        if not same_as(x, live, x.own, place, above):
            return place
        place = above
        higher &= higher - 1
    return place


@kernel
def try_cards(v: Row, x: Row, legal: int) -> None:
    """Play every card of `legal`, as places, to the end: what it is worth, to `x.values`."""
    left = popcount(x.own)
    won = min(max(v.tricks_won[0], 0), len(x.worth) - 1 - left)
    led, best, winner = v.led, x.best, v.winning
    played = x.players - 1 - popcount(v.after)
    after = 1 if x.out != 1 else 2
    while legal:
        place = lowest_bit(legal)
        legal &= legal - 1
        beats = best < 0 or wins_over(x, place, best)
        x.hands[0] = x.own ^ (1 << place)
        tricks = search(
            x,
            after,
            played + 1,
            x.suit[place] if led < 0 else led,
            place if beats else best,
            0 if beats else winner,
            left,
        )
        x.values[place] = x.worth[won + tricks]


@kernel
def add_gains(x: Row, places: int, favourite: int) -> None:
    """Add what each card is worth more than the favourite in this layout to the sums."""
    while places:
        place = lowest_bit(places)
        places &= places - 1
        gain = x.values[place] - x.values[favourite]
        x.sums[place] += gain
        x.squares[place] += gain * gain


@kernel
def error_of(x: Row, place: int, found: int) -> float:
    """The standard error of the mean gain of a card over so many layouts; no end of it for one."""
    if found < 2:
        return np.inf
    mean = x.sums[place] / found
    return sqrt(max(x.squares[place] / found - mean * mean, 0.0) / (found - 1))


@kernel
def hopeful(x: Row, places: int, favourite: int, found: int) -> int:
    """The favourite, and the cards that may still turn out to be better by the margin."""
    kept = 1 << favourite
    while places:
        place = lowest_bit(places)
        places &= places - 1
        if x.sums[place] / found + SURELY * error_of(x, place, found) > x.margin:
            kept |= 1 << place
    return kept


@kernel
def endgame_card(v: Row, t: Row, x: Row, legal: int, chosen: int) -> int:
    """The kind to play, of the legal ones as bits; `chosen` is what the player's rules say."""
    wanted = x.wanted[min(count_held(v, -1), len(x.wanted) - 1)]
    if wanted == 0:
        return chosen
    number_cards(v, x)
    seed_layouts(v, x)
    fill_worth(v, t, x)
    strain = v.strain
    x.trumps = x.suit_bits[strain] if strain < 4 else 0
    x.out = v.sitting_out
    x.players = 4 if v.sitting_out < 0 else 3
    places, favourite = 0, -1
    for place in range(x.n):
        x.sums[place] = 0.0
        x.squares[place] = 0.0
        if x.own >> place & 1 and legal >> x.kind[place] & 1:
            places |= 1 << place
            if x.kind[place] == chosen:
                favourite = place
    if favourite < 0:
        return chosen
    favourite = class_of(x, x.own, favourite)
    places = one_of_each(x, places)
    if places >> favourite & 1 == 0:
        return chosen  # the mask is that of no game
    found = 0
    for _ in range(wanted):
        if places & (places - 1) == 0:
            return chosen
        if deal_layout(v, x):
            try_cards(v, x, places)
            add_gains(x, places, favourite)
            found += 1
            if found % FEW == 0:
                places = hopeful(x, places, favourite, found)
    best, most = -1, 0.0
    places &= ~(1 << favourite)
    while places and found:
        place = lowest_bit(places)
        places &= places - 1
        gain = x.sums[place] / found
        doubt = x.doubt * error_of(x, place, found) if x.doubt > 0.0 else 0.0
        if gain > most and gain > x.margin + doubt:
            best, most = place, gain
    return chosen if best < 0 else x.kind[best]


@kernel
def one_of_each(x: Row, places: int) -> int:
    """The highest card of each class of cards that are worth the same."""
    out, left = 0, places
    while left:
        place = lowest_bit(left)
        left &= left - 1
        if class_of(x, x.own, place) == place:
            out |= 1 << place
    return out
