"""Counting cards: chances that a seat yet to play is void, ruffs or beats a card.

Unseen cards are equally likely in every place, except that a seat never holds a suit that it has
failed to follow. (Giving the declarer more than a fair share of the trumps changed nothing.)
"""

from __future__ import annotations

from bideuchre_env.learning.card_order import BEATS, SUIT_OF
from bideuchre_env.learning.view import count
from bideuchre_env.runtime.jit import Row, kernel


@kernel
def lacks(view: Row, seat: int, kinds: int) -> float:
    """Return the chance that a seat holds none of these kinds, all of one suit."""
    n = count(view, kinds)
    unseen = view.n_unseen
    if n == 0 or unseen == 0:
        return 1.0
    share = float(view.cards_left[seat]) / unseen
    if share >= 1.0:
        return 0.0
    chance = 1.0
    for _ in range(n):
        chance *= 1.0 - share
    return chance


@kernel
def is_void(view: Row, seat: int, suit: int) -> bool:
    """Whether a seat is known to hold no card of a suit."""
    return view.void[seat] >> suit & 1 == 1


@kernel
def may_hold(view: Row, seat: int, kinds: int, suit: int) -> bool:
    """Whether a seat still in play can hold one of these kinds of a suit."""
    return view.cards_left[seat] > 0 and count(view, kinds) > 0 and not is_void(view, seat, suit)


@kernel
def enemy_trumps(view: Row) -> bool:
    """Whether an opponent may still hold a trump."""
    trumps, strain = view.trumps, view.strain
    if trumps == 0:
        return False
    return may_hold(view, 1, trumps, strain) or may_hold(view, 3, trumps, strain)


@kernel
def beats_chance(view: Row, t: Row, seat: int, kind: int, led: int) -> float:
    """Return the chance that a seat can beat the best card of a trick in which `led` was led."""
    strain = view.strain
    if view.cards_left[seat] == 0:
        return 0.0
    trumps = view.trumps
    follows = t.suit_bits[strain, led]
    above = BEATS[strain, kind]
    is_trump = trumps >> max(kind, 0) & 1 == 1
    chance, void = 0.0, 1.0
    if not is_void(view, seat, led):
        void = lacks(view, seat, follows)
        if SUIT_OF[strain, kind] == led:
            chance = 1.0 - lacks(view, seat, above)
    if trumps != 0 and led != strain and not is_void(view, seat, strain):
        chance += void * (1.0 - lacks(view, seat, above if is_trump else trumps))
    return chance


@kernel
def holds_chance(view: Row, t: Row, kind: int, led: int, seats: int) -> float:
    """Return the chance that none of the opponents in `seats` (bits) can beat this card."""
    chance = 1.0
    if seats >> 1 & 1:
        chance *= 1.0 - beats_chance(view, t, 1, kind, led)
    if seats >> 3 & 1:
        chance *= 1.0 - beats_chance(view, t, 3, kind, led)
    return chance
