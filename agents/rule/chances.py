"""Chances from counting the cards, for the card play of the rule player.

An unseen card is equally likely in every place, except that a seat never holds a suit that it has
failed to follow. A boss is a card that no unseen card of its suit beats. Sets of kinds are bit
masks, and seats are relative.
"""

from __future__ import annotations

from bideuchre_env.core.records import Tables, View
from bideuchre_env.core.view import count
from bideuchre_env.runtime.intrinsics import lowest_bit
from bideuchre_env.runtime.jit import kernel

OPPONENTS = 0b1010  # seats, as bits


@kernel
def may_hold(view: View, seat: int, kinds: int, suit: int) -> bool:
    """Whether a seat has cards left and can hold one of `kinds` (bits) of this suit."""
    return view.cards_left[seat] > 0 and count(view, kinds) > 0 and view.void[seat] >> suit & 1 == 0


@kernel
def beaters(view: View, t: Tables, kind: int) -> int:
    """Count the unseen cards of a card's suit that rank above it; `view.strain` must be set."""
    return count(view, t.above[view.strain, kind])


@kernel
def enemy_trumps(view: View) -> bool:
    """Whether an opponent may still hold a trump."""
    trumps, strain = view.trumps, view.strain
    if trumps == 0:
        return False
    return may_hold(view, 1, trumps, strain) or may_hold(view, 3, trumps, strain)


@kernel
def lacks(view: View, seat: int, kinds: int) -> float:
    """Return the chance that a seat holds none of `kinds` (bits), which are of one suit.

    The seat must not be known to be void in it.
    """
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
def beats_chance(view: View, t: Tables, seat: int, kind: int, led: int) -> float:
    """Return the chance that a seat can beat the card `kind` in a trick of the suit `led`."""
    strain = view.strain
    if view.cards_left[seat] == 0:
        return 0.0
    trumps = view.trumps
    follows = t.suit_bits[strain, led]
    above = t.above[strain, kind]
    is_trump = trumps >> max(kind, 0) & 1 == 1
    chance, void = 0.0, 1.0
    if view.void[seat] >> led & 1 == 0:
        void = lacks(view, seat, follows)
        if t.suit_of[strain, kind] == led:
            chance = 1.0 - lacks(view, seat, above)
    if trumps != 0 and led != strain and view.void[seat] >> strain & 1 == 0:
        chance += void * (1.0 - lacks(view, seat, above if is_trump else trumps))
    return chance


@kernel
def holds_chance(view: View, t: Tables, kind: int, led: int, seats: int) -> float:
    """Return the chance that none of the opponents in `seats` (bits) can beat the card `kind`.

    `led` is the suit led; partner, if in `seats`, is ignored.
    """
    chance = 1.0
    if seats >> 1 & 1:
        chance *= 1.0 - beats_chance(view, t, 1, kind, led)
    if seats >> 3 & 1:
        chance *= 1.0 - beats_chance(view, t, 3, kind, led)
    return chance


@kernel
def best_boss(view: View, t: Tables, kinds: int) -> int:
    """Return the kind, of `kinds` (bits), that is most likely to win the trick if led.

    Only bosses and cards that are almost certain to win are considered; -1 if there is none.
    """
    strain = view.strain
    best, best_chance = -1, 0.0
    while kinds:
        kind = lowest_bit(kinds)
        kinds &= kinds - 1
        chance = holds_chance(view, t, kind, t.suit_of[strain, kind], OPPONENTS)
        if chance > best_chance + 0.001 and (chance > 0.999 or beaters(view, t, kind) == 0):
            best, best_chance = kind, chance
    return best
