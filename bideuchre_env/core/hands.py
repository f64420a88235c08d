"""Hands as integers, for kernels: add, remove and count cards."""

from __future__ import annotations

from bideuchre_env.core.records import State
from bideuchre_env.rules.cards import COPY_SHIFT
from bideuchre_env.runtime.jit import Array, inline_kernel, kernel


@inline_kernel
def take_card(s: State, seat: int, kind: int) -> None:
    """Take one copy of a card out of a seat's hand, which must hold it."""
    hand = s.hands[seat]
    s.hands[seat] = hand - (1 << (kind + COPY_SHIFT * ((hand >> (kind + COPY_SHIFT)) & 1)))


@kernel
def put(hand: int, kind: int) -> int:
    """Return the hand with one more copy of a kind."""
    return hand + (1 << (kind + COPY_SHIFT * ((hand >> kind) & 1)))


@kernel
def held(hand: int, kind: int) -> int:
    """Return the number of copies of a kind in the hand, 0 to 2."""
    return (hand >> kind & 1) + (hand >> (kind + COPY_SHIFT) & 1)


NO_CARDS = -1  # no valid hand: a card was removed that the hand does not hold


@kernel
def take(hand: int, kind: int) -> int:
    """Return the hand without one copy of a kind; `NO_CARDS` if the hand has none."""
    if hand < 0 or hand >> kind & 1 == 0:
        return NO_CARDS
    return hand - (1 << (kind + COPY_SHIFT * (hand >> (kind + COPY_SHIFT) & 1)))


@kernel
def take_cards(hand: int, cards: Array) -> int:
    """Return the hand without the kinds in `cards` up to the first -1; `NO_CARDS` if one lacks."""
    for i in range(len(cards)):
        if cards[i] < 0:
            return hand
        hand = take(hand, cards[i])
    return hand


@kernel
def put_cards(hand: int, cards: Array) -> int:
    """Return the hand plus the kinds in `cards` up to the first -1.

    The result is `NO_CARDS` if the hand is `NO_CARDS` or would have three copies of a kind.
    """
    for i in range(len(cards)):
        if cards[i] < 0 or hand == NO_CARDS:
            return hand
        hand = NO_CARDS if held(hand, cards[i]) == 2 else put(hand, cards[i])
    return hand
