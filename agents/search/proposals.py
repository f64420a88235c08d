"""Proposals of worlds: the caller has a hand from its list, all other cards are dealt uniformly.

The caller is the seat with the rarest calls (`callers.py`); the record `CALLER` has the list.
"""

from __future__ import annotations

import numpy as np

from bideuchre_env.agents.rule.agent import rule_card
from bideuchre_env.agents.search.workspace import Caller, SearchWorkspace
from bideuchre_env.core.hands import NO_CARDS, held, put, put_cards, take
from bideuchre_env.core.phases.deal import GOLDEN, mix
from bideuchre_env.core.records import State, Tables
from bideuchre_env.core.state import GIVING, PLAY
from bideuchre_env.core.view import add_kind, show_hand
from bideuchre_env.rules.bids import MAX_EXCHANGE
from bideuchre_env.rules.cards import KIND_BITS, MAX_TRICKS, N_SEATS, NO_TRUMP
from bideuchre_env.runtime.intrinsics import lowest_bit
from bideuchre_env.runtime.jit import Array, Row, kernel

IMPOSSIBLE = 1e18
"""Log-density of a proposal that is not a world of the position."""
ULP = 2.0**-53


@kernel
def deal_caller(space: SearchWorkspace, number: int) -> float:
    """Give the caller a random listed hand in the current world; return the log-density.

    The density is relative to uniform deals; it is `IMPOSSIBLE` if the result is not a world of the
    position. If the caller has given up cards, the world has those that the expert would give up.
    The caller gets missing cards from the other hidden hands by random swaps, so these hands stay
    uniform as long as no void is known. `number` seeds the random choices.
    """
    world, caller, t = space.worlds[0], space.callers[0], space.expert.tables[0]
    caller.word = mix(space.plans[0].stream + np.uint64(number) * GOLDEN) + np.uint64(1)
    seat, chosen = caller.seat, choose_listed(caller)
    old, hand, caller.given[:] = world.hands[seat], caller.hands[chosen], -1
    exchanged = world.given[0] >= 0 and world.declarer == seat
    if exchanged:
        old = put_cards(old, world.given)
        hand = choose_given(space, seat, hand, caller.given)
        if world.phase >= PLAY:
            hand = put_cards(hand, world.passed)
    for i in range(MAX_TRICKS):
        if world.plays[seat * MAX_TRICKS + i] >= 0:
            hand = take(hand, world.plays[seat * MAX_TRICKS + i])
    new = put_cards(hand, caller.given)
    if new == NO_CARDS or breaks_void(world, t, seat, hand):
        return IMPOSSIBLE
    if not swap_differences(world, t, caller, old, new):
        return IMPOSSIBLE
    world.hands[seat] = hand
    if exchanged:
        for i in range(MAX_EXCHANGE):
            world.given[i] = caller.given[i]
    return float(caller.logs[chosen])


@kernel
def random_below(stream: Row, n: int) -> int:
    """Return a random whole number from 0 to n - 1; advances `stream.word`."""
    stream.word += GOLDEN
    return int(np.int64(((mix(stream.word) >> np.uint64(32)) * np.uint64(n)) >> np.uint64(32)))


@kernel
def random_share(stream: Row) -> float:
    """Return a uniform random number in [0, 1); advances `stream.word`."""
    stream.word += GOLDEN
    return float(mix(stream.word) >> np.uint64(11)) * ULP


@kernel
def choose_listed(caller: Caller) -> int:
    """Return the index of a random listed hand of the caller, in proportion to the weights."""
    mark = random_share(caller) * caller.reached[caller.n - 1]
    low, high = 0, caller.n - 1
    while low < high:
        middle = (low + high) // 2
        if caller.reached[middle] > mark:
            high = middle
        else:
            low = middle + 1
    return int(low)


@kernel
def choose_given(space: SearchWorkspace, seat: int, hand: int, cards: Array) -> int:
    """Write the cards that the expert would give up from `hand` to `cards`; return the other cards.

    `hand` is the seat's hand before the exchange. As many cards are given up as the history has;
    later entries of `cards` are unchanged.
    """
    t, seen, seen_pair = space.players.tables[0], 0, 0
    for pick in range(MAX_EXCHANGE):
        i = space.histories[0].last[seat]
        while i >= 0 and (space.moment_views[i].phase != GIVING or space.moments[i].action != pick):
            i = space.moments[i].before
        if i < 0:
            break
        view = space.moment_views[i]
        show_hand(view, t, hand, seen, seen_pair)
        card = lowest_bit(view.held)
        if view.held & (view.held - 1):
            card = rule_card(view, t, view.held)
        cards[pick] = card
        seen, seen_pair = add_kind(seen, seen_pair, card)
        hand = take(hand, card)
    return hand


@kernel
def breaks_void(world: State, t: Tables, seat: int, hand: int) -> bool:
    """Whether a hand has a card of a suit in which its seat is known to be void."""
    strain, cards = world.strain if world.strain >= 0 else NO_TRUMP, hand & KIND_BITS
    while cards:
        if world.voids[seat] >> t.suit_of[strain, lowest_bit(cards)] & 1:
            return True
        cards &= cards - 1
    return False


@kernel
def swap_differences(world: State, t: Tables, caller: Caller, old: int, new: int) -> bool:
    """Swap cards with the other hidden hands so that the caller's hand `old` can become `new`.

    Changes only the other hands. Returns False if a card cannot be swapped: no other hand has it,
    or the card in return breaks a void or would be a third copy.
    """
    n = 0
    for kind in range(t.kinds):
        for _ in range(held(old, kind) - held(new, kind)):
            caller.excess[n] = kind
            n += 1
    for kind in range(t.kinds):
        for _ in range(held(new, kind) - held(old, kind)):
            holder = choose_holder(world, caller, kind)
            if holder < 0 or n == 0:
                return False
            i = random_below(caller, n)
            card = caller.excess[i]
            n -= 1
            caller.excess[i] = caller.excess[n]
            hand = take(world.hands[holder], kind)
            if held(hand, card) == 2 or breaks_void(world, t, holder, 1 << card):
                return False
            world.hands[holder] = put(hand, card)
    return n == 0


@kernel
def free_copies(world: State, seat: int, kind: int) -> int:
    """Return the number of copies of a kind in a seat's hand that another seat may get by a swap.

    Cards that partner passed to the declarer are not free.
    """
    copies = held(world.hands[seat], kind)
    if seat != world.declarer or world.phase < PLAY:
        return copies
    passed = 0
    for i in range(MAX_EXCHANGE):
        passed += world.passed[i] == kind
    for i in range(MAX_TRICKS):
        if passed > 0 and world.plays[seat * MAX_TRICKS + i] == kind:
            passed -= 1
    return copies - passed


@kernel
def choose_holder(world: State, caller: Caller, kind: int) -> int:
    """Return a random hidden seat other than the caller, in proportion to `free_copies` of a kind.

    The result is -1 if no such seat has a free copy.
    """
    copies = 0
    for seat in range(1, N_SEATS):
        if seat != caller.seat:
            copies += free_copies(world, seat, kind)
    if copies == 0:
        return -1
    copy = random_below(caller, copies)
    for seat in range(1, N_SEATS):
        if seat != caller.seat:
            copy -= free_copies(world, seat, kind)
            if copy < 0:
                return seat
    return -1
