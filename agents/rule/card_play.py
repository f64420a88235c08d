"""Card play of the rule player: leads, and cards played to a trick.

Rules of play beyond the usual ones, each measured on duplicate boards:

- The declarer without the boss trump leads the lowest of three trumps or more.
- With two copies of each card and fewer than two sure trumps, it first leads a bare side boss.
- Its partner leads trumps, even a single one, until three have fallen; none when two are left.
- A defender leads the boss trump while one to four trumps are unseen.
- A ruff is made with the lowest trump, even if a later opponent may ruff higher.
- The first lead against a lone contract is from the longest suit: at no trump a boss if there is
  one, against a suit a side suit whose boss the declarer can have.
- On a trick of a lone declarer that cannot be won, the guard of least worth goes (`discards.py`).

Chances come from counting the cards. An unseen card is equally likely in every place, except that a
seat never holds a suit that it has failed to follow. A boss is a card that no unseen card of its
suit beats. Sets of kinds are bit masks, and seats are relative.
"""

from __future__ import annotations

from bideuchre_env.agents.rule.certain import (
    claiming_follow,
    claiming_lead,
    unbeaten,
    winning_cards,
)
from bideuchre_env.agents.rule.discards import discard
from bideuchre_env.core.card_order import highest, lowest
from bideuchre_env.core.records import Tables, View
from bideuchre_env.core.view import count, count_held
from bideuchre_env.runtime.intrinsics import lowest_bit, popcount
from bideuchre_env.runtime.jit import kernel

SAFE = 0.9  # minimum chance of partner's card to win the trick at which we leave it to win
HELP = 0.25  # minimum gain in chance over partner's card at which we play a winning card
LEAVE = 0.7  # chance of partner to beat the best card above which second hand does not ruff
SECOND = 0.55  # minimum chance to win the trick at which second hand plays a winning card
THIRD = 0.1  # the same for third hand, with only one opponent to come
FALLEN = 3  # trumps that must have fallen before declarer's partner keeps its only trump
LAST_TRUMPS = 2  # unseen trumps with which declarer's partner leads other suits
DRAWN = 4  # maximum of unseen trumps with which a defender leads the boss trump
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


@kernel
def lead(view: View, t: Tables, legal: int) -> int:
    """Return the kind to lead, of the `legal` kinds (bits)."""
    card = claiming_lead(view, t)
    if card >= 0:
        return card
    if view.declarer & 1:
        return lead_against(view, t, legal)
    trumps, side = legal & view.trumps, legal & ~view.trumps
    if view.sitting_out >= 0 and trumps:
        return highest(t, view.strain, trumps)  # losers last: let them throw off
    if trumps and enemy_trumps(view):
        card = draw_trumps(view, t, trumps, side)
        if card >= 0:
            return card
    if side == 0:
        return highest(t, view.strain, legal)
    boss = best_boss(view, t, side)
    return boss if boss >= 0 else lowest_from(view, t, side)


@kernel
def draw_trumps(view: View, t: Tables, trumps: int, side: int) -> int:
    """Return the card to lead while opponents may hold trumps: a trump, or first a bare boss.

    `trumps` and `side` are the cards in hand (bits). -1 means to lead another suit and keep the
    trumps.
    """
    strain, top = view.strain, highest(t, view.strain, trumps)
    n, out = count_held(view, trumps), count(view, view.trumps)
    if view.declarer == 2:
        return help_draw(view, t, top, n, out)
    bosses = unbeaten(t, strain, trumps | side, view.unseen)
    if t.copies == 2 and n > 2 and bosses & side and count_held(view, bosses & trumps) < 2:
        boss = best_boss(view, t, bare_cards(view, t, bosses & side))
        if boss >= 0:
            return boss
    if bosses & trumps:
        return top
    if n > 2 and out > 1:  # a lone boss takes its trick anyway: leave it out
        return lowest(t, strain, trumps)
    return top if n == 2 and out > 4 else -1


@kernel
def help_draw(view: View, t: Tables, top: int, n: int, out: int) -> int:
    """Return the trump that declarer's partner leads: `top`, its highest, or -1 for another suit.

    It holds `n` trumps, and `out` are unseen.
    """
    if out <= LAST_TRUMPS:
        return -1  # likely the declarer's own
    if beaters(view, t, top) == 0:
        return top
    may_pass = t.legal_calls[3, 0] & 1 == 1
    forced = view.dealer == view.declarer and not may_pass and view.level == 0
    fallen = popcount(view.trumps) * t.copies - out - n
    return top if not forced and (n > 1 or fallen < FALLEN) else -1


@kernel
def bare_cards(view: View, t: Tables, kinds: int) -> int:
    """Return those of `kinds` (bits) that are our only card of their suit."""
    bare = 0
    while kinds:
        kind = lowest_bit(kinds)
        kinds &= kinds - 1
        if count_held(view, t.suit_bits[view.strain, t.suit_of[view.strain, kind]]) == 1:
            bare |= 1 << kind
    return bare


@kernel
def lowest_from(view: View, t: Tables, side: int) -> int:
    """Return the lowest card of a suit of `side` (bits), to lead without a boss.

    In defence it is a short suit, but not one with a guarded honour. For the declarer's side it is
    one that partner can ruff, else the shortest, or at no trump the longest.
    """
    strain, best, best_value = view.strain, -1, 1 << 30
    for suit in range(4):
        held = side & t.suit_bits[strain, suit]
        if held == 0:
            continue
        n, card = count_held(view, held), lowest(t, strain, held)
        if view.declarer & 1:
            value = 10 * n - count(view, t.suit_bits[strain, suit])
            if n == 2 and beaters(view, t, highest(t, strain, held)) == 1:
                value += 25  # leading from a guarded honour strips it
        else:
            value = 10 * (n if view.trumps else -n) - popcount(t.above[strain, card] & view.unseen)
            if view.thrown >> suit & 1 and may_hold(view, 2, view.trumps, strain):
                value -= 100  # partner has thrown this suit off, to ruff it
        if value < best_value:
            best, best_value = card, value
    return best


@kernel
def lead_against(view: View, t: Tables, legal: int) -> int:
    """Return the lead in defence: a boss, else a low card of a short side suit.

    Suits with a guarded honour are avoided. With only trumps, a boss trump, else the lowest.
    """
    strain = view.strain
    trumps, side = legal & view.trumps, legal & ~view.trumps
    if view.sitting_out >= 0:
        if side and view.tricks_won[0] + view.tricks_won[1] == 0:
            return lead_alone(view, t, side)
    elif trumps and 0 < count(view, view.trumps) <= DRAWN:
        top = highest(t, strain, trumps)
        if beaters(view, t, top) == 0:
            return top
    boss = best_boss(view, t, side)
    if boss >= 0:
        return boss
    if side == 0:
        top = highest(t, strain, legal)
        return top if beaters(view, t, top) == 0 else lowest(t, strain, legal)
    return lowest_from(view, t, side)


@kernel
def lead_alone(view: View, t: Tables, side: int) -> int:
    """Return the first lead against a lone contract: the top of a suit of `side` (bits).

    At no trump it is a boss, else the top of the longest suit, if possible one behind the ace. In a
    trump contract it is the longest suit, if possible one whose boss we lack: the declarer may hold
    it, and our own wins a trick later.
    """
    strain, best, most = view.strain, -1, -(1 << 30)
    for suit in range(4):
        held = side & t.suit_bits[strain, suit]
        if held == 0:
            continue
        n, top = count_held(view, held), highest(t, strain, held)
        above, value = beaters(view, t, top), 6 * n
        if view.trumps:
            value -= 8 if above == 0 else (4 if above == 1 else 0)
        else:
            value += 100 if above == 0 else (8 if above == 1 and n > 1 else 0)
        if value > most:
            best, most = top, value
    return best


@kernel
def best_holding(view: View, t: Tables, winners: int) -> int:
    """Return the cheapest of `winners` (bits) with nearly the highest chance to win the trick."""
    strain, led, after = view.strain, view.led, view.after
    best, best_chance = -1, -1.0
    while winners:
        kind = lowest(t, strain, winners)  # from the cheapest up
        winners &= ~(1 << kind)
        chance = holds_chance(view, t, kind, led, after)
        if chance > best_chance + 0.04:
            best, best_chance = kind, chance
    return best


@kernel
def follow(view: View, t: Tables, legal: int) -> int:
    """Return the kind to play, of the `legal` kinds (bits), to a trick that another seat led."""
    winners = winning_cards(view, t, legal)
    if winners == 0:
        return discard(view, t, legal)
    card = claiming_follow(view, t, winners)
    if card >= 0:
        return card
    if view.winning == 2:
        return over_partner(view, t, legal, winners)
    if view.after & OPPONENTS == 0:
        return lowest(t, view.strain, winners)  # no opponent is left to play: win cheaply
    return over_opponent(view, t, legal, winners)


@kernel
def over_partner(view: View, t: Tables, legal: int, winners: int) -> int:
    """Return the card to play while partner is winning: throw off unless ours is much safer.

    `winners` are the legal kinds that beat partner's card.
    """
    led, after = view.led, view.after
    if after & OPPONENTS == 0:
        return discard(view, t, legal)
    partners = holds_chance(view, t, view.winning_kind, led, after)
    if partners >= SAFE:
        return discard(view, t, legal)
    card = best_holding(view, t, winners)
    trumps = winners & view.trumps
    if led != view.strain and trumps != 0:
        card = lowest(t, view.strain, trumps)  # a high trump wins a trick of its own later
    ours = holds_chance(view, t, card, led, after)
    return card if ours - partners > HELP else discard(view, t, legal)


@kernel
def over_opponent(view: View, t: Tables, legal: int, winners: int) -> int:
    """Return the card to play if one opponent is winning and the other plays later.

    `winners` are the legal kinds that beat the best card. The result is a winner or is thrown off.
    """
    strain, led, after = view.strain, view.led, view.after
    card = best_holding(view, t, winners)
    ruffs = view.trumps >> card & 1 == 1 and led != strain
    if ruffs and view.trumps >> view.winning_kind & 1 == 0:
        card = lowest(t, strain, winners)
    chance = holds_chance(view, t, card, led, after)
    if after >> 2 & 1:
        partner = beats_chance(view, t, 2, view.winning_kind, led)
        if ruffs and partner > LEAVE:
            return discard(view, t, legal)
        return card if chance >= SECOND or ruffs else discard(view, t, legal)
    return card if chance >= THIRD else discard(view, t, legal)
