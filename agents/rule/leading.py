"""Leads: as declarer, as declarer's partner, alone, and in defence."""

from __future__ import annotations

from bideuchre_env.agents.rule.card_odds import enemy_trumps, holds_chance, may_hold
from bideuchre_env.agents.rule.certain import claiming_lead
from bideuchre_env.learning.card_order import BEATS, SUIT_OF, highest, lowest
from bideuchre_env.learning.view import beaters, count, count_held
from bideuchre_env.runtime.intrinsics import lowest_bit, popcount
from bideuchre_env.runtime.jit import Row, kernel

OPPONENTS = 0b1010


@kernel
def lead(view: Row, t: Row, legal: int) -> int:
    """Return the card to lead."""
    card = claiming_lead(view, t)
    if card >= 0:
        return card
    if view.declarer & 1:
        return lead_against(view, t, legal)
    if view.sitting_out >= 0 and legal & view.trumps:
        return highest(legal & view.trumps, view.strain)  # losers last: let them throw off
    if enemy_trumps(view) and legal & view.trumps:
        card = draw_trumps(view, t, legal & view.trumps)
        if card >= 0:
            return card
    return lead_side(view, t, legal)


@kernel
def stuck(view: Row, t: Row) -> bool:
    """Whether the declarer is a dealer who was not allowed to pass."""
    return view.dealer == view.declarer and t.legal_calls[3, 0] & 1 == 0 and view.level == 0


@kernel
def draw_trumps(view: Row, t: Row, trumps: int) -> int:
    """Return a trump to lead while opponents may hold trumps; -1 to keep ours."""
    strain = view.strain
    top = highest(trumps, strain)
    above = beaters(view, top)
    n = count_held(view, view.trumps)
    if above == 0:
        return top
    if view.declarer == 2:
        opening = view.tricks_won[0] + view.tricks_won[1] == 0
        return top if not stuck(view, t) and (n > 1 or opening) else -1
    out = count(view, view.trumps)  # a lone boss takes its trick anyway: leave it out
    return top if (n > 2 and out > 1) or (n == 2 and out > 4) else -1


@kernel
def lead_side(view: Row, t: Row, legal: int) -> int:
    """Return a side card to lead for the declarer's side, or any card at no trump."""
    side = legal & ~view.trumps
    if side == 0:
        return highest(legal, view.strain)
    boss = best_boss(view, t, side)
    if boss >= 0:
        return boss
    return lowest_from(view, t, side)


@kernel
def best_boss(view: Row, t: Row, kinds: int) -> int:
    """Return the likeliest card to hold, of boss cards and unbeatable cards; -1 for none."""
    strain = view.strain
    best, best_chance = -1, 0.0
    while kinds:
        kind = lowest_bit(kinds)
        kinds &= kinds - 1
        chance = holds_chance(view, t, kind, SUIT_OF[strain, kind], OPPONENTS)
        if chance > best_chance + 0.001 and (chance > 0.999 or beaters(view, kind) == 0):
            best, best_chance = kind, chance
    return best


@kernel
def lowest_from(view: Row, t: Row, side: int) -> int:
    """Return a low card: from the shortest suit in a trump contract, else from the longest."""
    strain = view.strain
    short = view.trumps != 0
    best, best_value = -1, 1 << 30
    for suit in range(4):
        held = side & t.suit_bits[strain, suit]
        if held == 0:
            continue
        n = count_held(view, held)
        card = lowest(held, strain)
        value = 10 * (n if short else -n) - popcount(BEATS[strain, card] & view.unseen)
        if view.thrown >> suit & 1 and may_hold(view, 2, view.trumps, strain):
            value -= 100  # partner has thrown this suit off, to ruff it
        if value < best_value:
            best, best_value = card, value
    return best


@kernel
def lead_against(view: Row, t: Row, legal: int) -> int:
    """Return a lead in defence: a boss card, else low, rather not from a guarded honour."""
    strain = view.strain
    side = legal & ~view.trumps
    boss = best_boss(view, t, side)
    if boss >= 0:
        return boss
    if side == 0:
        top = highest(legal, strain)
        return top if beaters(view, top) == 0 else lowest(legal, strain)
    best, best_value = -1, 1 << 30
    for suit in range(4):
        held = side & t.suit_bits[strain, suit]
        if held == 0:
            continue
        n = count_held(view, held)
        card = lowest(held, strain)
        value = 10 * n
        if n == 2 and beaters(view, highest(held, strain)) == 1:
            value += 25  # leading from a guarded honour strips it
        value -= count(view, t.suit_bits[strain, suit])
        if value < best_value:
            best, best_value = card, value
    return best
