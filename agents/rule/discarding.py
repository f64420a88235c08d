"""Which card is worth least: throwing off, and giving cards up in the exchange."""

from __future__ import annotations

from bideuchre_env.agents.rule.card_order import BEATS, STRENGTH, SUIT_OF
from bideuchre_env.agents.rule.view import count, count_held
from bideuchre_env.runtime.intrinsics import lowest_bit
from bideuchre_env.runtime.jit import Row, kernel


@kernel
def keep_value(v: Row, t: Row, kind: int) -> int:
    """How much a card in hand is worth keeping; only the order of the values matters."""
    strain = v.strain
    strength = STRENGTH[strain, kind]
    if v.trumps >> kind & 1:
        return 600 + 10 * strength
    suit = t.suit_bits[strain, SUIT_OF[strain, kind]]
    above = count(v, BEATS[strain, kind])
    length = count_held(v, suit)
    if above == 0:
        return 400 + strength  # a boss card
    if above < length:
        return 250 + strength  # an honour with as many guards as it needs
    value = 100 + 5 * strength
    if guards_honour(v, suit, kind, length):
        value += 90
    if length == 1 and count_held(v, v.trumps) > 0:
        value -= 12  # going void makes a ruff
    return value


@kernel
def guards_honour(v: Row, suit: int, kind: int, length: int) -> bool:
    """Whether throwing this card would leave a higher one of its suit without a guard it needs."""
    strain = v.strain
    higher = v.held & BEATS[strain, kind]
    while higher:
        other = lowest_bit(higher)
        higher &= higher - 1
        above = count(v, BEATS[strain, other])
        if above > 0 and above == length - 1:
            return True
    return False


@kernel
def least_kept(v: Row, t: Row, kinds: int) -> int:
    """The card of a set that is least worth keeping."""
    best, least = -1, 1 << 30
    while kinds:
        kind = lowest_bit(kinds)
        kinds &= kinds - 1
        value = keep_value(v, t, kind)
        if value <= least:
            best, least = kind, value
    return best
