"""Values of cards for throwing off, giving up and passing in the exchange."""

from __future__ import annotations

from bideuchre_env.learning.card_order import BEATS, STRENGTH, SUIT_OF
from bideuchre_env.learning.view import count, count_held
from bideuchre_env.runtime.intrinsics import lowest_bit
from bideuchre_env.runtime.jit import Row, kernel

LOW_TRUMP = 13  # strength of the king of trumps


@kernel
def keep_value(view: Row, t: Row, kind: int) -> int:
    """Return the value of keeping a card in hand; only the order of the values matters."""
    strain = view.strain
    strength = STRENGTH[strain, kind]
    if view.trumps >> kind & 1:
        return 600 + 10 * strength
    suit = t.suit_bits[strain, SUIT_OF[strain, kind]]
    above = count(view, BEATS[strain, kind])
    length = count_held(view, suit)
    if above == 0:
        return 400 + strength  # a boss card
    if above < length:
        return 250 + strength  # an honour with enough guards
    value = 100 + 5 * strength
    if guards_honour(view, suit, kind, length):
        value += 90
    if length == 1 and count_held(view, view.trumps) > 0:
        value -= 12  # going void makes a ruff
    return value


@kernel
def guards_honour(view: Row, suit: int, kind: int, length: int) -> bool:
    """Whether throwing this card would leave a higher card of its suit without enough guards."""
    strain = view.strain
    higher = view.held & BEATS[strain, kind]
    while higher:
        other = lowest_bit(higher)
        higher &= higher - 1
        above = count(view, BEATS[strain, other])
        if above > 0 and above == length - 1:
            return True
    return False


@kernel
def least_kept(view: Row, t: Row, kinds: int, trumps_last: bool = False) -> int:
    """Return the card of a set with the least `keep_value`.

    With `trumps_last` the trumps up to the king rank between boss cards and other side cards.
    """
    strain = view.strain
    best, least = -1, 1 << 30
    while kinds:
        kind = lowest_bit(kinds)
        kinds &= kinds - 1
        value = keep_value(view, t, kind)
        if trumps_last and view.trumps >> kind & 1 and STRENGTH[strain, kind] <= LOW_TRUMP:
            value = 380 + STRENGTH[strain, kind]
        if value <= least:
            best, least = kind, value
    return best


@kernel
def pass_value(view: Row, t: Row, kind: int) -> int:
    """Return the value of a card from partner to a lone declarer.

    The order is bowers, then side aces, then trumps from the ace down, then side cards by rank.
    """
    strain = view.strain
    strength = STRENGTH[strain, kind]
    if view.trumps >> kind & 1:
        return 320 + strength if strength >= 15 else 150 + 10 * strength
    length = count_held(view, t.suit_bits[strain, SUIT_OF[strain, kind]])
    if BEATS[strain, kind] == 0:
        return 400 - 10 * length if view.trumps == 0 else 315 - length
    return 20 * strength - length


@kernel
def pass_over(view: Row, t: Row, legal: int) -> int:
    """Return the card that the partner of a lone declarer passes."""
    best, most = -1, -1
    while legal:
        kind = lowest_bit(legal)
        legal &= legal - 1
        value = pass_value(view, t, kind)
        if value > most:
            best, most = kind, value
    return best
