"""The exchange: what a lone declarer gives up, and what the partner passes."""

from __future__ import annotations

from bideuchre_env.agents.rule.card_order import BEATS, STRENGTH, SUIT_OF
from bideuchre_env.agents.rule.discarding import keep_value
from bideuchre_env.agents.rule.view import count_held
from bideuchre_env.runtime.intrinsics import lowest_bit
from bideuchre_env.runtime.jit import Row, kernel

LOW_TRUMP = 13  # strength of the king of trumps


@kernel
def give_up(v: Row, t: Row, legal: int) -> int:
    """The card a lone declarer gives up: a losing side card, then a low trump, never an ace."""
    strain = v.strain
    best, least = -1, 1 << 30
    while legal:
        kind = lowest_bit(legal)
        legal &= legal - 1
        value = keep_value(v, t, kind)
        if v.trumps >> kind & 1 and STRENGTH[strain, kind] <= LOW_TRUMP:
            value = 380 + STRENGTH[strain, kind]
        if value <= least:
            best, least = kind, value
    return best


@kernel
def pass_value(v: Row, t: Row, kind: int) -> int:
    """How much a lone declarer wants this card from partner.

    Bowers, then side aces, then trumps from the ace down, then side cards by rank.
    """
    strain = v.strain
    strength = STRENGTH[strain, kind]
    if v.trumps >> kind & 1:
        return 320 + strength if strength >= 15 else 150 + 10 * strength
    length = count_held(v, t.suit_bits[strain, SUIT_OF[strain, kind]])
    if BEATS[strain, kind] == 0:
        return 400 - 10 * length if v.trumps == 0 else 315 - length
    return 20 * strength - length


@kernel
def pass_over(v: Row, t: Row, legal: int) -> int:
    """The card the partner of a lone declarer passes."""
    best, most = -1, -1
    while legal:
        kind = lowest_bit(legal)
        legal &= legal - 1
        value = pass_value(v, t, kind)
        if value > most:
            best, most = kind, value
    return best
