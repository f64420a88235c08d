"""The exchange: what a lone declarer gives up, and what the partner passes."""

from __future__ import annotations

from bideuchre_env._jit import Row, kernel, lowest_bit
from bideuchre_env.agents.card_order import BEATS, STRENGTH, SUIT_OF
from bideuchre_env.agents.discards import least_kept
from bideuchre_env.agents.view import count_held


@kernel
def give_up(v: Row, t: Row, legal: int) -> int:
    """The card a lone declarer gives up: the one least worth keeping."""
    return least_kept(v, t, legal)


@kernel
def pass_value(v: Row, t: Row, kind: int) -> int:
    """How much a lone declarer wants this card from partner.

    Bowers, then side aces, then trumps from the ace down, then side cards by rank.
    """
    strain = int(v.strain)
    strength = int(STRENGTH[strain, kind])
    if int(v.trumps) >> kind & 1:
        return 320 + strength if strength >= 15 else 200 + 10 * strength
    length = count_held(v, int(t.suit_bits[strain, int(SUIT_OF[strain, kind])]))
    if int(BEATS[strain, kind]) == 0:
        return 400 - 10 * length if int(v.trumps) == 0 else 315 - length
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
