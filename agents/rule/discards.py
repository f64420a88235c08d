"""Cards that the rule player can spare: discarded, given up, or passed to a lone declarer.

`undominated` leaves out cards of an exchange that are never better to give up or to pass than
another. Only the declarer plays for its side, and the cards given up, like those that partner
keeps, stay out of play. Of two cards of one suit (the left bower is a trump) the declarer takes at
least as many tricks with the higher one: it has the same length in every suit, and the higher card
beats every card that the lower one beats. So the declarer gives up the lowest card of a suit before
the others, and partner passes the highest. Cards of different suits are not compared.

`worth_trying` returns the cards that agents compare: in an exchange the undominated ones; in a
trick every card that beats the best so far, and of the other cards the lowest of each suit.

Cards laid away for a kitty are chosen in the same way, also in contracts with partner, where the
lower card is usually, but not always, better to lay away.
"""

from __future__ import annotations

from bideuchre_env.agents.rule.certain import winning_cards
from bideuchre_env.core.card_order import highest, lowest
from bideuchre_env.core.records import Tables, View
from bideuchre_env.core.state import GIVING, PASSING, PLAY
from bideuchre_env.core.view import count, count_held
from bideuchre_env.runtime.intrinsics import lowest_bit
from bideuchre_env.runtime.jit import kernel

LOW_TRUMP = 13  # strength of the king of trumps
HIGHER = 0.95  # chance of a lone declarer to hold an unseen card above our guarded honour
LEFT = 1.0  # worth of a guard in a suit that the declarer has played and left, in single decks
ONLY_OURS = 1.5  # factor of the worth of a guard in a suit in which partner is void


@kernel
def discard(view: View, t: Tables, legal: int) -> int:
    """Return the kind, of the `legal` kinds (bits), to play to a trick that we do not win."""
    if view.sitting_out < 0 or view.declarer & 1 == 0:
        return least_kept(view, t, legal)
    if legal & t.suit_bits[view.strain, view.led]:
        return lowest(t, view.strain, legal)
    return least_guard(view, t, legal)


@kernel
def least_guard(view: View, t: Tables, legal: int) -> int:
    """Return the lowest card of the suit whose guard against a lone declarer has the least worth.

    Of equal guards, the card of the least `keep_value` is returned.
    """
    best, least = -1, 1e9
    for suit in range(4):
        held = legal & t.suit_bits[view.strain, suit]
        if held == 0:
            continue
        card, worth = lowest(t, view.strain, held), guard_worth(view, t, suit, held)
        equal = worth == least and keep_value(view, t, card) < keep_value(view, t, best)
        if worth < least or equal:
            best, least = card, worth
    return best


@kernel
def guard_worth(view: View, t: Tables, suit: int, held: int) -> float:
    """Return the worth of the last card of `held` (bits), our cards of a suit, as a guard.

    It is the chance that the declarer has a lower card of the suit, with 0.5 each, and exactly as
    many cards that beat our highest as we have other cards: then the last of these decides. A suit
    that the declarer has left is worth more, because its losers are there, and so is one in which
    partner is void.
    """
    strain, kinds = view.strain, t.suit_bits[view.strain, suit]
    top, guards = highest(t, strain, held), count_held(view, held) - 1
    above = t.above[strain, top] | 1 << top  # of two equal cards, the first played wins
    higher, lower = count(view, above), count(view, kinds & ~above)
    if lower == 0 or view.void[view.declarer] >> suit & 1:
        return 0.0
    worth = 0.0
    if guards <= higher:
        worth = 1.0 - 1.0 / (1 << lower)
        for i in range(guards):
            worth *= HIGHER * (higher - i) / (i + 1)
        for _ in range(higher - guards):
            worth *= 1.0 - HIGHER
    if view.abandoned >> suit & 1:
        worth += LEFT
    return worth * ONLY_OURS if view.void[2] >> suit & 1 else worth


@kernel
def keep_value(view: View, t: Tables, kind: int) -> int:
    """Return the value of keeping a card in hand; only the order of the values matters."""
    strain = view.strain
    strength = t.strength[strain, kind]
    if view.trumps >> kind & 1:
        return 600 + 10 * strength
    suit = t.suit_bits[strain, t.suit_of[strain, kind]]
    above = count(view, t.above[strain, kind])
    length = count_held(view, suit)
    if above == 0:
        return 400 + strength  # a boss card
    if above < length:
        return 250 + strength  # an honour with enough guards
    value = 100 + 5 * strength
    if guards_honour(view, t, suit, kind, length):
        value += 90
    if length == 1 and count_held(view, view.trumps) > 0:
        value -= 12  # going void makes a ruff
    return value


@kernel
def guards_honour(view: View, t: Tables, suit: int, kind: int, length: int) -> bool:
    """Whether throwing this card would leave a higher card of its suit without enough guards.

    `suit` are the kinds of the suit (bits), `length` its cards in hand.
    """
    strain = view.strain
    higher = view.held & t.above[strain, kind]
    while higher:
        other = lowest_bit(higher)
        higher &= higher - 1
        above = count(view, t.above[strain, other])
        if above > 0 and above == length - 1:
            return True
    return False


@kernel
def least_kept(view: View, t: Tables, kinds: int, trumps_last: bool = False) -> int:
    """Return the kind with the least `keep_value`, of `kinds` (bits).

    With `trumps_last`, trumps up to the king have less value than boss cards of side suits.
    """
    strain = view.strain
    best, least = -1, 1 << 30
    while kinds:
        kind = lowest_bit(kinds)
        kinds &= kinds - 1
        value = keep_value(view, t, kind)
        if trumps_last and view.trumps >> kind & 1 and t.strength[strain, kind] <= LOW_TRUMP:
            value = 380 + t.strength[strain, kind]
        if value <= least:
            best, least = kind, value
    return best


@kernel
def pass_value(view: View, t: Tables, kind: int) -> int:
    """Return the value of a card that partner passes to a lone declarer; only the order matters.

    In a trump contract the order is bowers, side aces, other trumps, other side cards.
    """
    strain = view.strain
    strength = t.strength[strain, kind]
    if view.trumps >> kind & 1:
        return 320 + strength if strength >= 15 else 150 + 10 * strength
    length = count_held(view, t.suit_bits[strain, t.suit_of[strain, kind]])
    if t.above[strain, kind] == 0:
        return 400 - 10 * length if view.trumps == 0 else 315 - length
    return 20 * strength - length


@kernel
def pass_over(view: View, t: Tables, legal: int) -> int:
    """Return the kind, of the `legal` kinds (bits), that partner passes to a lone declarer."""
    best, most = -1, -1
    while legal:
        kind = lowest_bit(legal)
        legal &= legal - 1
        value = pass_value(view, t, kind)
        if value > most:
            best, most = kind, value
    return best


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


@kernel
def worth_trying(view: View, t: Tables, legal: int) -> int:
    """Return the `legal` kinds (bits) without those that give away a higher card than necessary.

    In an exchange they are `undominated`. Of the cards that do not win the trick so far, they are
    the lowest of each suit: the higher one takes more tricks later, except in rare positions in
    which it wins a trick that partner should have won. All leads are worth trying.
    """
    if view.phase != PLAY:
        return undominated(view, t, legal)
    if view.led < 0:
        return legal
    strain, tried = view.strain, winning_cards(view, t, legal)
    losers = legal & ~tried
    while losers:
        suit = t.suit_bits[strain, t.suit_of[strain, lowest_bit(losers)]]
        tried |= 1 << lowest(t, strain, losers & suit)
        losers &= ~suit
    return tried
