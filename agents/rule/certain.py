"""Certain tricks: a lower bound for any distribution and any play of the unseen cards.

A seat on lead plays winners from the top, trumps first. Every other seat in play, including its
partner, may hold any unseen card of a suit in which it is not known to be void. The bound counts
only tricks of the seat's own hand, until it may lose the lead.
"""

from __future__ import annotations

from bideuchre_env.agents.rule.bidding import call_action, may_name, we_lead
from bideuchre_env.core.card_order import highest, lowest
from bideuchre_env.core.records import Tables, View
from bideuchre_env.core.state import AUCTION, PLAY
from bideuchre_env.core.step import legal_bits
from bideuchre_env.core.view import count, count_held, see
from bideuchre_env.rules.cards import N_SEATS, N_SUITS, NO_TRUMP
from bideuchre_env.runtime.intrinsics import highest_bit, lowest_bit, popcount
from bideuchre_env.runtime.jit import Array, entry_kernel, inline_kernel, kernel

OTHERS = 0b1110  # seats, as bits
ALL_SUITS = 0b1111  # as bits


@inline_kernel
def unbeaten(t: Tables, strain: int, kinds: int, unseen: int) -> int:
    """Return those of `kinds` that no `unseen` kind of the same suit beats; all are bit masks."""
    bosses = 0
    while kinds:
        kind = lowest_bit(kinds)
        kinds &= kinds - 1
        if t.above[strain, kind] & unseen == 0:
            bosses |= 1 << kind
    return bosses


@inline_kernel
def unseen_of(view: View, t: Tables, seats: int) -> tuple[int, int]:
    """Return the unseen kinds that at least one of `seats` (bits) may hold, given their voids.

    The second result is those of which both copies are unseen; both are bit masks.
    """
    unseen, voids = view.unseen, ALL_SUITS
    for seat in range(1, N_SEATS):
        if seats >> seat & 1 and view.cards_left[seat] > 0:
            voids &= view.void[seat]
    while voids:
        unseen &= ~t.suit_bits[view.strain, lowest_bit(voids)]
        voids &= voids - 1
    return unseen, view.unseen_pair & unseen


@kernel
def certain_winners(
    t: Tables, strain: int, held: int, held_pair: int, unseen: int, unseen_pair: int
) -> int:
    """Return the kinds of a hand that are certain to win if the hand is on lead, as bits.

    It leads from the top, trumps first. `held_pair` are the kinds held twice; `unseen` are the
    kinds that the other hands may hold, `unseen_pair` those that they may hold twice.
    """
    trumps = t.suit_bits[strain, strain] if strain < NO_TRUMP else 0
    if unseen & trumps and held & trumps == 0:
        return 0
    top, lost = unbeaten(t, strain, held, unseen), 0
    low = held & ~top
    if unseen & trumps:
        n_out = popcount(unseen & trumps) + popcount(unseen_pair & trumps)
        if popcount(top & trumps) + popcount(top & held_pair & trumps) < n_out:
            return top & trumps  # a trump may be left to ruff with
        low &= ~trumps
    while low:  # these win too once the top cards have drawn all others of the suit
        suit = t.suit_bits[strain, t.suit_of[strain, lowest_bit(low)]]
        n_out = popcount(unseen & suit) + popcount(unseen_pair & suit)
        if popcount(top & suit) + popcount(top & held_pair & suit) < n_out:
            lost |= low & suit
        low &= (low - 1) & ~suit
    return held & ~lost


@inline_kernel
def may_lose(view: View, t: Tables, cards: int, unseen: int) -> bool:
    """Whether a quick test shows that the lowest of `cards` (bits) is not certain to win a trick.

    False leaves it open.
    """
    if cards == 0:
        return False
    low = highest_bit(cards)
    suit = t.suit_bits[view.strain, t.suit_of[view.strain, low]]
    if t.above[view.strain, low] & unseen == 0:
        return False
    return count_held(view, suit) <= popcount(unseen & suit)


@kernel
def claiming_lead(view: View, t: Tables) -> int:
    """Return a kind whose lead is certain to take this and every later trick, or -1."""
    strain, held = view.strain, view.held
    unseen, pair = unseen_of(view, t, OTHERS)
    if may_lose(view, t, held, unseen):
        return -1
    if certain_winners(t, strain, held, view.held_pair, unseen, pair) == held:
        return highest(t, strain, held)
    return -1


@inline_kernel
def winning_cards(view: View, t: Tables, legal: int) -> int:
    """Return the `legal` kinds that beat the best card on the table, as bits; all of one suit."""
    best, higher = view.winning_kind, t.above[view.strain, view.winning_kind]
    if view.trumps >> max(best, 0) & 1 == 0:
        higher |= view.trumps
    return legal & higher


@kernel
def claiming_follow(view: View, t: Tables, winners: int) -> int:
    """Return a kind of `winners` that is certain to take this and every later trick, or -1.

    `winners` is the result of `winning_cards`.
    """
    if winners == 0:
        return -1
    strain, (unseen, pair) = view.strain, unseen_of(view, t, OTHERS)
    if may_lose(view, t, view.held & ~winners, unseen):
        return -1
    if view.after:
        later, _ = unseen_of(view, t, view.after)
        winners = unbeaten(t, strain, winners, later)
        if winners & ~view.trumps and later & view.trumps:
            return -1  # a later seat may ruff
    card = lowest(t, strain, winners)
    return card if card >= 0 and wins_rest(view, t, strain, card, unseen, pair) else -1


@kernel
def wins_rest(view: View, t: Tables, strain: int, card: int, unseen: int, pair: int) -> bool:
    """Whether the hand without `card` is certain to take every trick left when it is on lead.

    `unseen` and `pair` are the kinds that other hands may hold, and may hold twice (bits).
    """
    held, held_pair = view.held, view.held_pair
    if held_pair >> card & 1:
        held_pair ^= 1 << card
    else:
        held ^= 1 << card
    return certain_winners(t, strain, held, held_pair, unseen, pair) == held


@kernel
def certain_card(view: View, t: Tables, legal: int) -> int:
    """Return a card of the legal kinds (bits) that is certain to take every trick left, or -1."""
    if view.phase != PLAY:
        return -1
    if view.led < 0:
        return claiming_lead(view, t)
    return claiming_follow(view, t, winning_cards(view, t, legal))


@entry_kernel
def claim(states: Array, tables: Array, views: Array) -> int:
    """Return a legal action in row 0 that is certain to take every trick left, or -1.

    Only playing a card is considered. `views` is scratch memory.
    """
    s, t, view = states[0], tables[0], views[0]
    see(s, t, s.turn, view)
    card = certain_card(view, t, legal_bits(s, t))
    return t.card_offset + card if card >= 0 else -1


@kernel
def takes_all(view: View, t: Tables, strain: int, alone: bool) -> bool:
    """Whether the hand is certain to take every trick in this strain if its seat declares.

    `alone`: partner sits out. No card has been played yet.
    """
    held, unseen, pair = view.held, view.unseen, view.unseen_pair
    if we_lead(view, t, 0, alone) == 1:
        return certain_winners(t, strain, held, view.held_pair, unseen, pair) == held
    for suit in range(4):  # another seat may lead any suit first
        if unseen & t.suit_bits[strain, suit]:
            card = certain_answer(view, t, strain, suit)
            if card < 0 or not wins_rest(view, t, strain, card, unseen, pair):
                return False
    return True


@kernel
def certain_answer(view: View, t: Tables, strain: int, suit: int) -> int:
    """Return the lowest card in hand that is certain to win if another seat leads `suit`, or -1."""
    unseen, cards, trumps = view.unseen, view.held & t.suit_bits[strain, suit], 0
    if strain < NO_TRUMP:
        trumps = t.suit_bits[strain, strain]
    if cards == 0:
        cards = view.held & trumps
    elif suit != strain and unseen & trumps:
        return -1
    return lowest(t, strain, unbeaten(t, strain, cards, unseen) & ~unseen)  # the first copy wins


@kernel
def certain_strain(view: View, t: Tables, alone: bool) -> int:
    """Return a strain in which the hand is certain to take every trick as declarer, or -1.

    Only these are tested: trump suits with the highest trump and at least as many trumps in hand
    as unseen, and no trump, high or low, with the highest card of every suit held.
    """
    held = view.held
    for suit in range(N_SUITS):
        if held >> t.ranked[suit, suit, 0] & 1:
            trumps = t.suit_bits[suit, suit]
            enough = count_held(view, trumps) >= count(view, trumps)
            if enough and takes_all(view, t, suit, alone):
                return suit
    for strain in range(NO_TRUMP, t.n_strains):
        stopped = True
        for suit in range(N_SUITS):
            top = held >> t.ranked[strain, suit, 0] & 1 == 1
            stopped = stopped and (top or held & t.suit_bits[strain, suit] == 0)
        if stopped and takes_all(view, t, strain, alone):
            return strain
    return -1


@kernel
def certain_call(view: View, t: Tables, legal: int) -> int:
    """Return a call or strain, as an action, with which the hand is certain to take every trick.

    The call is the highest lone bid without an exchange, if no legal call is worth more points. A
    strain is named only for a contract without an exchange. -1 if there is no such action. `legal`
    are calls as bits, see `useful_calls`.
    """
    if view.phase != AUCTION:
        if t.exchange[view.level] > 0:
            return -1
        strain = certain_strain(view, t, t.alone[view.level] == 1)
        if strain < 0 or not may_name(t, view.level, strain):
            return -1
        return t.trump_offset + strain
    strain = certain_strain(view, t, True)
    if strain < 0:
        return -1
    best, most = -1, 0
    for level in range(t.n_levels):
        if legal >> (1 + level) & 1:
            points = t.payoff[level, t.tricks]
            if t.alone[level] and t.exchange[level] == 0 and points >= most:
                best = level
            elif points > most:
                best = -1
            most = max(most, points)
    return call_action(t, best, strain) if best >= 0 else -1
