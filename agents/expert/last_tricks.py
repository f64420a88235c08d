"""Exact search of the last tricks of one deal, for `endgame.py`.

Cards are numbered as places, and `deal` is the record `SAMPLED_DEAL` (`sampled_deals.py`); seats 0
and 2 are our side. `reaches` only decides whether our side takes at least `goal` tricks: the search
of a position ends at the first card that decides this. Results of leads are stored for all searches
of the deal.
"""

from __future__ import annotations

import numpy as np

from bideuchre_env.agents.expert.sampled_deals import SampledDeal
from bideuchre_env.core.phases.deal import GOLDEN
from bideuchre_env.runtime.intrinsics import highest_bit, lowest_bit, popcount
from bideuchre_env.runtime.jit import Row, kernel

REACHED, MISSED, OPEN = 1, 0, -1  # whether our side reaches a goal; OPEN: not known yet


@kernel
def search(
    deal: SampledDeal, turn: int, played: int, led: int, best: int, winner: int, left: int
) -> int:
    """Return the number of the `left` last tricks that seats 0 and 2 take with optimal play.

    All seats see all cards, `deal.hands`. `turn` is the seat to play, `led` the suit led or -1.
    `played` cards are on the table; of these, `best` (a place, or -1) is winning, played by seat
    `winner`. If all seats have played, the seat `winner` leads to the next trick. The first number
    tried is the last result, `deal.guess`. Between searches of different deals, `deal.results` must
    be cleared.
    """
    base = 0
    if played == deal.players:
        base = 1 if winner & 1 == 0 else 0
        turn, played, led, best, left = winner, 0, -1, -1, left - 1
    low, high = 0, left
    goal = min(max(deal.guess, 1), left)
    while low < high:
        if reaches(deal, turn, played, led, best, winner, left, goal):
            low = goal
            goal += 1
        else:
            goal -= 1
            high = goal
    deal.guess = low
    return base + low


@kernel
def reaches(
    deal: SampledDeal, turn: int, played: int, led: int, best: int, winner: int, left: int,
    goal: int,
) -> bool:  # fmt: skip
    """Whether seats 0 and 2 take at least `goal` of the `left` last tricks, see `search`.

    The search has no recursion; it changes `deal.hands` and restores them.
    """
    if left == 1:
        return last_trick(deal, turn, played, best, winner) >= goal
    depth, node = 0, open_node(deal, 0, turn, led, left, 0)
    node.played, node.best, node.winner = played, best, winner
    while True:
        node = deal.nodes[depth]
        ours = node.turn & 1 == 0
        reached = not ours  # unless a card helps the seat to play
        if node.legal:
            outcome = try_card(deal, depth, goal)
            if outcome == OPEN:
                depth += 1
                continue
            if (outcome == REACHED) != ours:
                continue
            reached = ours
        while True:  # the node is decided: go back to one with cards left to try
            if node.result >= 0:
                store(deal, node, goal, reached)
            if depth == 0:
                return reached
            depth -= 1
            node = deal.nodes[depth]
            deal.hands[node.turn] = node.hand
            if reached != (node.turn & 1 == 0):
                break


@kernel
def open_node(deal: SampledDeal, depth: int, turn: int, led: int, left: int, base: int) -> Row:
    """Set up and return the search node at `depth`, with the arguments as its fields (see `NODE`).

    The calling function fills in `played`, `best` and `winner`.
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
    node.tried = -1
    node.result = -1
    return node


@kernel
def try_card(deal: SampledDeal, depth: int, goal: int) -> int:
    """Play the next card of the node at `depth`; return `REACHED` or `MISSED` if that decides it.

    Otherwise the result is `OPEN`: the node at `depth` + 1 must be searched.
    """
    node = deal.nodes[depth]
    place = next_card(deal, node)
    if place < 0:
        return REACHED if node.turn & 1 else MISSED
    turn, best, winner, played = node.turn, node.best, node.winner, node.played + 1
    if best < 0 or wins_over(deal, place, best):
        best, winner = place, turn
    deal.hands[turn] = node.hand ^ (1 << place)
    if played < deal.players:
        led = deal.suit[place] if node.led < 0 else node.led
        turn = (turn + 1) & 3
        turn = (turn + 1) & 3 if turn == deal.out else turn
        child = open_node(deal, depth + 1, turn, led, node.left, node.base)
        child.played, child.best, child.winner = played, best, winner
        return OPEN
    base, left = node.base + (1 if winner & 1 == 0 else 0), node.left - 1
    outcome = outcome_of_lead(deal, winner, left, base, goal)
    if outcome == OPEN:
        child = open_node(deal, depth + 1, winner, -1, left, base)
        child.played, child.best, child.winner = 0, -1, -1
        child.result = place_of(deal, key_of(deal, winner))
    else:
        deal.hands[turn] = node.hand
    return outcome


@kernel
def next_card(deal: SampledDeal, node: Row) -> int:
    """Return the next card to try of a node, a place, or -1 if all others equal cards tried.

    A leader tries its highest card first. A seat whose opponents are winning the trick first tries
    its lowest card that beats theirs. Otherwise the lowest card comes first.
    """
    legal, best = node.legal, node.best
    if node.tried >= 0:
        live = deal.hands[0] | deal.hands[1] | deal.hands[2] | deal.hands[3]
        live |= 1 << best if best >= 0 else 0
        legal &= ~equals(deal, live, node.hand, node.tried)
    place = -1
    if legal:
        place = lowest_bit(legal)
        if best < 0:
            place = highest_bit(legal)
        elif (node.winner ^ node.turn) & 1:
            beating = legal & deal.suit_bits[deal.suit[best]] & (-2 << best)
            if deal.trumps >> best & 1 == 0:
                beating |= legal & deal.trumps
            if beating:
                place = lowest_bit(beating)
        legal ^= 1 << place
    node.legal = legal
    node.tried = place
    return place


@kernel
def outcome_of_lead(deal: SampledDeal, turn: int, left: int, base: int, goal: int) -> int:
    """Return whether the goal is reached, if that is known without search; else `OPEN`.

    Seat `turn` leads to the first of `left` tricks; our side has won `base`.
    """
    if base >= goal:
        return REACHED
    if base + left < goal:
        return MISSED
    if left == 1:
        return REACHED if base + last_trick(deal, turn, 0, -1, -1) >= goal else MISSED
    sure = sure_tricks(deal, turn)
    if turn & 1 == 0:
        if base + sure >= goal:
            return REACHED
    elif base + left - sure < goal:
        return MISSED
    key = key_of(deal, turn)
    result = deal.results[place_of(deal, key)]
    if result.key == key:
        if base + result.low >= goal:
            return REACHED
        if base + result.high < goal:
            return MISSED
    return OPEN


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
def sure_tricks(deal: SampledDeal, turn: int) -> int:
    """Return a lower bound of the tricks of a seat on lead: its top cards, trumps first."""
    hand, trumps = deal.hands[turn], deal.trumps
    others = deal.hands[(turn + 1) & 3] | deal.hands[turn ^ 2] | deal.hands[(turn + 3) & 3]
    ruffs = others & trumps
    sure = popcount(above_all(hand & trumps, ruffs))
    drawn = True
    for i in range(1, 4):
        drawn = drawn and popcount(deal.hands[(turn + i) & 3] & trumps) <= sure
    for suit in range(4):
        bits = deal.suit_bits[suit] & ~trumps
        if hand & bits:
            run = popcount(above_all(hand & bits, others & bits))
            for i in range(1, 4):
                other = deal.hands[(turn + i) & 3]
                if not drawn and other & ruffs:  # it can ruff once it has no card of the suit
                    run = min(run, popcount(other & bits))
            sure += run
    return sure


@kernel
def above_all(cards: int, others: int) -> int:
    """Return those of `cards` that are above all the `others`, places of the same suit."""
    return cards & (-2 << highest_bit(others)) if others else cards


@kernel
def key_of(deal: SampledDeal, turn: int) -> int:
    """Return a number for the cards left and the leader, not 0; unique in one deal."""
    return (deal.hands[0] | deal.hands[1] | deal.hands[2] | deal.hands[3]) << 2 | turn


@kernel
def place_of(deal: SampledDeal, key: int) -> int:
    """Return the index in `deal.results` for a key."""
    return int((np.uint64(key) * GOLDEN) >> np.uint64(40)) & deal.last_result


@kernel
def store(deal: SampledDeal, node: Row, goal: int, reached: bool) -> None:
    """Store whether the goal is reached from the lead that a node describes."""
    key, result = key_of(deal, node.turn), deal.results[node.result]
    if result.key != key:
        result.key = key
        result.low = 0
        result.high = node.left
    if reached:
        result.low = max(result.low, goal - node.base)
    else:
        result.high = min(result.high, goal - node.base - 1)


@kernel
def equals(deal: SampledDeal, live: int, hand: int, place: int) -> int:
    """Return, as bits, the cards of a hand that are equivalent to its card `place`.

    `live` are the places in play, as bits; see `same_as`.
    """
    cards, near, rest = 1 << place, place, hand & (-2 << place)
    while rest and same_as(deal, live, hand, near, lowest_bit(rest)):
        near = lowest_bit(rest)
        cards |= 1 << near
        rest &= rest - 1
    near, rest = place, hand & ((1 << place) - 1)
    while rest and same_as(deal, live, hand, highest_bit(rest), near):
        near = highest_bit(rest)
        cards |= 1 << near
        rest ^= 1 << near
    return cards


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
