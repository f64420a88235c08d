"""The kitty and the exchange, after the auction and before the play.

The declarer takes up the kitty and lays away as many cards, face down, which are out of play. In an
exchange the declarer then gives up cards, and the partner passes as many.

Neither sees the other's cards before choosing, except in an open exchange: the cards given up join
the partner's hand before it passes.
"""

from __future__ import annotations

from bideuchre_env.core.hands import put, put_cards, take_card
from bideuchre_env.core.records import State, Tables
from bideuchre_env.core.state import GIVING, PASSING
from bideuchre_env.rules.cards import KIND_BITS
from bideuchre_env.runtime.jit import inline_kernel, kernel


@kernel
def take_kitty(s: State) -> None:
    """Take the kitty into the declarer's hand, who is then to lay away its first card."""
    s.hands[s.declarer] = put_cards(s.hands[s.declarer], s.kitty)
    begin_exchange(s)


@inline_kernel
def lays_away(s: State, t: Tables) -> bool:
    """Whether the declarer is to lay away a card for the kitty, in phase GIVING."""
    return t.kitty > 0 and s.laid[t.kitty - 1] < 0


@inline_kernel
def has_kitty(s: State, t: Tables) -> bool:
    """Whether the declarer has taken up the kitty in this hand."""
    return t.kitty > 0 and s.declarer >= 0 and s.phase >= GIVING


@kernel
def begin_exchange(s: State) -> None:
    """Start the exchange; the declarer is then to give up its first card."""
    s.phase = GIVING
    s.turn = s.declarer
    s.picks = 0


@inline_kernel
def legal_exchange(s: State, t: Tables) -> int:
    """Return the kinds that the seat may lay away, give up or pass, as bits: all that it holds."""
    return s.hands[s.turn] & KIND_BITS


@kernel
def apply_exchange(s: State, t: Tables, kind: int) -> bool:
    """Lay away, give up or pass a card; return True after the last one, when the play begins.

    The passed cards are then added to the declarer's hand.
    """
    seat, pick = s.turn, s.picks
    take_card(s, seat, kind)
    if s.phase == GIVING and lays_away(s, t):
        s.laid[pick] = kind
        s.picks = pick + 1
        if s.picks < t.kitty:
            return False
        begin_exchange(s)
        return t.exchange[s.level] == 0
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
