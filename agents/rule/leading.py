"""What to lead: as declarer, as declarer's partner, alone, and in defence."""

from __future__ import annotations

from bideuchre_env.agents.rule.card_odds import enemy_trumps, holds_chance, may_hold
from bideuchre_env.agents.rule.card_order import BEATS, SUIT_OF, highest, lowest
from bideuchre_env.agents.rule.view import beaters, count, count_held
from bideuchre_env.runtime.intrinsics import lowest_bit, popcount
from bideuchre_env.runtime.jit import Row, kernel

OPPONENTS = 0b1010


@kernel
def lead(v: Row, t: Row, legal: int) -> int:
    """The card to lead."""
    if popcount(legal) == 1:
        return lowest_bit(legal)
    if v.declarer & 1:
        return lead_against(v, t, legal)
    if v.sitting_out >= 0 and legal & v.trumps:
        return highest(legal & v.trumps, v.strain)  # losers last: let them throw off
    if enemy_trumps(v) and legal & v.trumps:
        card = draw_trumps(v, t, legal & v.trumps)
        if card >= 0:
            return card
    return lead_side(v, t, legal)


@kernel
def stuck(v: Row, t: Row) -> bool:
    """Whether the declarer is a dealer who was not allowed to pass."""
    return v.dealer == v.declarer and t.legal_calls[3, 0] & 1 == 0 and v.level == 0


@kernel
def draw_trumps(v: Row, t: Row, trumps: int) -> int:
    """A trump to lead while opponents may hold some; -1 to keep them."""
    strain = v.strain
    top = highest(trumps, strain)
    above = beaters(v, top)
    n = count_held(v, v.trumps)
    if above == 0:
        return top
    if v.declarer == 2:
        opening = v.tricks_won[0] + v.tricks_won[1] == 0
        return top if not stuck(v, t) and (n > 1 or opening) else -1
    out = count(v, v.trumps)  # a lone boss takes its trick anyway: leave it out
    return top if (n > 2 and out > 1) or (n == 2 and out > 4) else -1


@kernel
def lead_side(v: Row, t: Row, legal: int) -> int:
    """A side card for the declarer's side (or any card at no trump)."""
    side = legal & ~v.trumps
    if side == 0:
        return highest(legal, v.strain)
    boss = best_boss(v, t, side)
    if boss >= 0:
        return boss
    return lowest_from(v, t, side)


@kernel
def best_boss(v: Row, t: Row, kinds: int) -> int:
    """The boss card that is likeliest to hold, or one no opponent can beat; -1 of none."""
    strain = v.strain
    best, best_chance = -1, 0.0
    while kinds:
        kind = lowest_bit(kinds)
        kinds &= kinds - 1
        chance = holds_chance(v, t, kind, SUIT_OF[strain, kind], OPPONENTS)
        if chance > best_chance + 0.001 and (chance > 0.999 or beaters(v, kind) == 0):
            best, best_chance = kind, chance
    return best


@kernel
def lowest_from(v: Row, t: Row, side: int) -> int:
    """A low card: from the shortest suit with trumps to ruff with, else from the longest."""
    strain = v.strain
    short = v.trumps != 0
    best, best_value = -1, 1 << 30
    for suit in range(4):
        held = side & t.suit_bits[strain, suit]
        if held == 0:
            continue
        n = count_held(v, held)
        card = lowest(held, strain)
        value = 10 * (n if short else -n) - popcount(BEATS[strain, card] & v.unseen)
        if v.thrown >> suit & 1 and may_hold(v, 2, v.trumps, strain):
            value -= 100  # partner has thrown this suit off, to ruff it
        if value < best_value:
            best, best_value = card, value
    return best


@kernel
def lead_against(v: Row, t: Row, legal: int) -> int:
    """A lead in defence: a likely winner, else low from a suit without an honour to guard."""
    strain = v.strain
    side = legal & ~v.trumps
    boss = best_boss(v, t, side)
    if boss >= 0:
        return boss
    if side == 0:
        top = highest(legal, strain)
        return top if beaters(v, top) == 0 else lowest(legal, strain)
    best, best_value = -1, 1 << 30
    for suit in range(4):
        held = side & t.suit_bits[strain, suit]
        if held == 0:
            continue
        n = count_held(v, held)
        card = lowest(held, strain)
        value = 10 * n
        if n == 2 and beaters(v, highest(held, strain)) == 1:
            value += 25  # leading from a guarded honour strips it
        value -= count(v, t.suit_bits[strain, suit])
        if value < best_value:
            best, best_value = card, value
    return best
