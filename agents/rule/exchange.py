"""Dominated cards in an exchange: cards that are never better to give up or to pass than another.

Only the declarer plays for its side, and the cards given up, like those that partner keeps, stay
out of play. Of two cards of one suit (the left bower is a trump) the declarer takes at least as
many tricks with the higher one: it has the same length in every suit, and the higher card beats
every card that the lower one beats. So the declarer gives up the lowest card of a suit before the
others, and partner passes the highest. Cards of different suits are not compared.

Cards laid away for a kitty are chosen in the same way, also in contracts with partner, where the
lower card is usually, but not always, better to lay away.
"""

from __future__ import annotations

from bideuchre_env.core.card_order import highest, lowest
from bideuchre_env.core.records import Tables, View
from bideuchre_env.core.state import GIVING, PASSING
from bideuchre_env.runtime.jit import kernel


@kernel
def undominated(view: View, t: Tables, kinds: int) -> int:
    """Return the `kinds` (bits) to give up or pass that no other of them dominates.

    They are the lowest card of each suit for the declarer, the highest for partner; all `kinds` in
    other phases. To exchange several cards, call it for each card without the cards chosen before:
    every undominated choice of cards can be reached in this way.
    """
    if view.phase != GIVING and view.phase != PASSING:
        return kinds
    strain, bits = view.strain, 0
    for suit in range(4):
        held = kinds & t.suit_bits[strain, suit]
        if held:
            kind = lowest(t, strain, held) if view.phase == GIVING else highest(t, strain, held)
            bits |= 1 << kind
    return bits
