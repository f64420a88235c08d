"""The exchange: the declarer gives up cards, then the partner passes as many.

Neither sees the other's cards before choosing, except in an open exchange: the cards given up join
the partner's hand before it passes.
"""

from __future__ import annotations

from bideuchre_env.core.hands import put, take_card
from bideuchre_env.core.records import State, Tables
from bideuchre_env.core.state import GIVING, PASSING
from bideuchre_env.rules.cards import KIND_BITS
from bideuchre_env.runtime.jit import inline_kernel, kernel


@kernel
def begin_exchange(s: State) -> None:
    """Start the exchange; the declarer is then to give up its first card."""
    s.phase = GIVING
    s.turn = s.declarer
    s.picks = 0


@inline_kernel
def legal_exchange(s: State, t: Tables) -> int:
    """Return the kinds that the seat to act may give up or pass, as bits: all that it holds."""
    return s.hands[s.turn] & KIND_BITS


@kernel
def apply_exchange(s: State, t: Tables, kind: int) -> bool:
    """Give up or pass a card; return True after the last card passed, which ends the exchange.

    The passed cards are then added to the declarer's hand.
    """
    seat, pick = s.turn, s.picks
    take_card(s, seat, kind)
    cards = t.exchange[s.level]
    s.picks = pick + 1
    if s.phase == GIVING:
        s.given[pick] = kind
        if pick + 1 == cards:
            s.phase = PASSING
            partner = (seat + 2) & 3
            s.turn = partner
            s.picks = 0
            if t.open_exchange:
                for i in range(cards):
                    s.hands[partner] = put(s.hands[partner], s.given[i])
        return False
    s.passed[pick] = kind
    if pick + 1 < cards:
        return False
    declarer = s.declarer
    hand = s.hands[declarer]
    for i in range(cards):
        hand = put(hand, s.passed[i])
    s.hands[declarer] = hand
    return True
