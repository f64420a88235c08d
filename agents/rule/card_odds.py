"""Counting cards: how likely the seats yet to play are to be void, to ruff, to beat a card.

Unseen cards are taken to lie anywhere with equal chance, except that a seat never holds a suit
it has failed to follow. (Giving the declarer more than a fair share of the trumps changed nothing.)
"""

from __future__ import annotations

from bideuchre_env.agents.rule.card_order import BEATS, SUIT_OF
from bideuchre_env.agents.rule.view import count
from bideuchre_env.runtime.jit import Row, kernel


@kernel
def lacks(v: Row, seat: int, kinds: int) -> float:
    """The chance that a seat holds none of these kinds, all of one suit."""
    n = count(v, kinds)
    unseen = v.n_unseen
    if n == 0 or unseen == 0:
        return 1.0
    share = float(v.cards_left[seat]) / unseen
    if share >= 1.0:
        return 0.0
    chance = 1.0
    for _ in range(n):
        chance *= 1.0 - share
    return chance


@kernel
def is_void(v: Row, seat: int, suit: int) -> bool:
    """Whether a seat is known to hold no card of a suit."""
    return v.void[seat] >> suit & 1 == 1


@kernel
def may_hold(v: Row, seat: int, kinds: int, suit: int) -> bool:
    """Whether a seat still in play can hold one of these kinds of a suit."""
    return v.cards_left[seat] > 0 and count(v, kinds) > 0 and not is_void(v, seat, suit)


@kernel
def enemy_trumps(v: Row) -> bool:
    """Whether an opponent may still hold a trump."""
    trumps, strain = v.trumps, v.strain
    if trumps == 0:
        return False
    return may_hold(v, 1, trumps, strain) or may_hold(v, 3, trumps, strain)


@kernel
def beats_chance(v: Row, t: Row, seat: int, kind: int, led: int) -> float:
    """The chance that a seat can beat this card, the best of a trick in which `led` was led."""
    strain = v.strain
    if v.cards_left[seat] == 0:
        return 0.0
    trumps = v.trumps
    follows = t.suit_bits[strain, led]
    above = BEATS[strain, kind]
    is_trump = trumps >> max(kind, 0) & 1 == 1
    chance, void = 0.0, 1.0
    if not is_void(v, seat, led):
        void = lacks(v, seat, follows)
        if SUIT_OF[strain, kind] == led:
            chance = 1.0 - lacks(v, seat, above)
    if trumps != 0 and led != strain and not is_void(v, seat, strain):
        chance += void * (1.0 - lacks(v, seat, above if is_trump else trumps))
    return chance


@kernel
def holds_chance(v: Row, t: Row, kind: int, led: int, seats: int) -> float:
    """The chance that none of the opponents in `seats` (bits) can beat this card."""
    chance = 1.0
    if seats >> 1 & 1:
        chance *= 1.0 - beats_chance(v, t, 1, kind, led)
    if seats >> 3 & 1:
        chance *= 1.0 - beats_chance(v, t, 3, kind, led)
    return chance
