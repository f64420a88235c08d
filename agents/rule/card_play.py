"""Card play of the rule player: leads, cards played to a trick, cards thrown off, given up, passed.

Chances come from counting the cards: an unseen card is equally likely in every place, except that a
seat never holds a suit that it has failed to follow. Sets of kinds are bit masks, and seats are
relative. A boss is a card that no unseen card of its suit beats.
"""

from __future__ import annotations

from bideuchre_env.agents.rule.certain import claiming_follow, claiming_lead, winning_cards
from bideuchre_env.learning.card_order import BEATS, STRENGTH, SUIT_OF, highest, lowest
from bideuchre_env.learning.view import beaters, count, count_held
from bideuchre_env.runtime.intrinsics import lowest_bit, popcount
from bideuchre_env.runtime.jit import Row, kernel

OPPONENTS = 0b1010  # seats, as bits
SAFE = 0.9  # minimum chance of partner's card to win the trick at which we leave it to win
HELP = 0.25  # minimum gain in chance over partner's card at which we play a winning card
LEAVE = 0.7  # chance of partner to beat the best card above which second hand does not ruff
SECOND = 0.55  # minimum chance to win the trick at which second hand plays a winning card
THIRD = 0.1  # the same for third hand, with only one opponent to come
LOW_TRUMP = 13  # strength of the king of trumps


@kernel
def lead(view: Row, t: Row, legal: int) -> int:
    """Return the kind to lead, of the `legal` kinds (bits)."""
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
    side = legal & ~view.trumps
    if side == 0:
        return highest(legal, view.strain)
    boss = best_boss(view, t, side)
    return boss if boss >= 0 else lowest_from(view, t, side)


@kernel
def draw_trumps(view: Row, t: Row, trumps: int) -> int:
    """Return the trump to lead, of `trumps` (bits), while opponents may hold some.

    -1 means to lead another suit and keep the trumps.
    """
    strain = view.strain
    top = highest(trumps, strain)
    above = beaters(view, top)
    n = count_held(view, view.trumps)
    if above == 0:
        return top
    if view.declarer == 2:
        opening = view.tricks_won[0] + view.tricks_won[1] == 0
        may_pass = t.legal_calls[3, 0] & 1 == 1
        forced = view.dealer == view.declarer and not may_pass and view.level == 0
        return top if not forced and (n > 1 or opening) else -1
    out = count(view, view.trumps)  # a lone boss takes its trick anyway: leave it out
    return top if (n > 2 and out > 1) or (n == 2 and out > 4) else -1


@kernel
def best_boss(view: Row, t: Row, kinds: int) -> int:
    """Return the kind, of `kinds` (bits), that is most likely to win the trick if led.

    Only bosses and cards that are almost certain to win are considered; -1 if there is none.
    """
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
    """Return the lowest card of a suit of `side` (bits), to lead without a boss.

    The suit is one that partner can ruff, else the shortest, or at no trump the longest.
    """
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
    """Return the lead in defence: a boss side card, else a low card of a short side suit.

    Suits with a guarded honour are avoided. With only trumps, a boss trump, else the lowest.
    """
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


@kernel
def best_holding(view: Row, t: Row, winners: int) -> int:
    """Return the cheapest of `winners` (bits) with nearly the highest chance to win the trick."""
    strain, led, after = view.strain, view.led, view.after
    best, best_chance = -1, -1.0
    while winners:
        kind = lowest(winners, strain)  # from the cheapest up
        winners &= ~(1 << kind)
        chance = holds_chance(view, t, kind, led, after)
        if chance > best_chance + 0.04:
            best, best_chance = kind, chance
    return best


@kernel
def follow(view: Row, t: Row, legal: int) -> int:
    """Return the kind to play, of the `legal` kinds (bits), to a trick that another seat led."""
    winners = winning_cards(view, legal)
    if winners == 0:
        return least_kept(view, t, legal)
    card = claiming_follow(view, t, winners)
    if card >= 0:
        return card
    if view.winning == 2:
        return over_partner(view, t, legal, winners)
    if view.after & OPPONENTS == 0:
        return lowest(winners, view.strain)  # no opponent is left to play: win cheaply
    return over_opponent(view, t, legal, winners)


@kernel
def over_partner(view: Row, t: Row, legal: int, winners: int) -> int:
    """Return the card to play while partner is winning: throw off unless ours is much safer.

    `winners` are the legal kinds that beat partner's card.
    """
    led, after = view.led, view.after
    if after & OPPONENTS == 0:
        return least_kept(view, t, legal)
    partners = holds_chance(view, t, view.winning_kind, led, after)
    if partners >= SAFE:
        return least_kept(view, t, legal)
    card = best_holding(view, t, winners)
    trumps = winners & view.trumps
    if led != view.strain and trumps != 0:
        card = lowest(trumps, view.strain)  # a high trump wins a trick of its own later
    ours = holds_chance(view, t, card, led, after)
    return card if ours - partners > HELP else least_kept(view, t, legal)


@kernel
def over_opponent(view: Row, t: Row, legal: int, winners: int) -> int:
    """Return the card to play if one opponent is winning and the other plays later.

    `winners` are the legal kinds that beat the best card. The result is a winner or is thrown off.
    """
    strain, led, after = view.strain, view.led, view.after
    card = best_holding(view, t, winners)
    chance = holds_chance(view, t, card, led, after)
    if after >> 2 & 1:
        partner = beats_chance(view, t, 2, view.winning_kind, led)
        ruffs = view.trumps >> card & 1 == 1 and led != strain
        if ruffs and partner > LEAVE:
            return least_kept(view, t, legal)
        return card if chance >= SECOND or ruffs else least_kept(view, t, legal)
    return card if chance >= THIRD else least_kept(view, t, legal)


@kernel
def keep_value(view: Row, t: Row, kind: int) -> int:
    """Return the value of keeping a card in hand; only the order of the values matters."""
    strain = view.strain
    strength = STRENGTH[strain, kind]
    if view.trumps >> kind & 1:
        return 600 + 10 * strength
    suit = t.suit_bits[strain, SUIT_OF[strain, kind]]
    above = count(view, BEATS[strain, kind])
    length = count_held(view, suit)
    if above == 0:
        return 400 + strength  # a boss card
    if above < length:
        return 250 + strength  # an honour with enough guards
    value = 100 + 5 * strength
    if guards_honour(view, suit, kind, length):
        value += 90
    if length == 1 and count_held(view, view.trumps) > 0:
        value -= 12  # going void makes a ruff
    return value


@kernel
def guards_honour(view: Row, suit: int, kind: int, length: int) -> bool:
    """Whether throwing this card would leave a higher card of its suit without enough guards.

    `suit` are the kinds of the suit (bits), `length` its cards in hand.
    """
    strain = view.strain
    higher = view.held & BEATS[strain, kind]
    while higher:
        other = lowest_bit(higher)
        higher &= higher - 1
        above = count(view, BEATS[strain, other])
        if above > 0 and above == length - 1:
            return True
    return False


@kernel
def least_kept(view: Row, t: Row, kinds: int, trumps_last: bool = False) -> int:
    """Return the kind with the least `keep_value`, of `kinds` (bits).

    With `trumps_last`, trumps up to the king have less value than boss cards of side suits.
    """
    strain = view.strain
    best, least = -1, 1 << 30
    while kinds:
        kind = lowest_bit(kinds)
        kinds &= kinds - 1
        value = keep_value(view, t, kind)
        if trumps_last and view.trumps >> kind & 1 and STRENGTH[strain, kind] <= LOW_TRUMP:
            value = 380 + STRENGTH[strain, kind]
        if value <= least:
            best, least = kind, value
    return best


@kernel
def pass_value(view: Row, t: Row, kind: int) -> int:
    """Return the value of a card that partner passes to a lone declarer; only the order matters.

    In a trump contract the order is bowers, side aces, other trumps, other side cards.
    """
    strain = view.strain
    strength = STRENGTH[strain, kind]
    if view.trumps >> kind & 1:
        return 320 + strength if strength >= 15 else 150 + 10 * strength
    length = count_held(view, t.suit_bits[strain, SUIT_OF[strain, kind]])
    if BEATS[strain, kind] == 0:
        return 400 - 10 * length if view.trumps == 0 else 315 - length
    return 20 * strength - length


@kernel
def pass_over(view: Row, t: Row, legal: int) -> int:
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
def lacks(view: Row, seat: int, kinds: int) -> float:
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
def may_hold(view: Row, seat: int, kinds: int, suit: int) -> bool:
    """Whether a seat has cards left and can hold one of `kinds` (bits) of this suit."""
    return view.cards_left[seat] > 0 and count(view, kinds) > 0 and view.void[seat] >> suit & 1 == 0


@kernel
def enemy_trumps(view: Row) -> bool:
    """Whether an opponent may still hold a trump."""
    trumps, strain = view.trumps, view.strain
    if trumps == 0:
        return False
    return may_hold(view, 1, trumps, strain) or may_hold(view, 3, trumps, strain)


@kernel
def beats_chance(view: Row, t: Row, seat: int, kind: int, led: int) -> float:
    """Return the chance that a seat can beat the card `kind` in a trick of the suit `led`."""
    strain = view.strain
    if view.cards_left[seat] == 0:
        return 0.0
    trumps = view.trumps
    follows = t.suit_bits[strain, led]
    above = BEATS[strain, kind]
    is_trump = trumps >> max(kind, 0) & 1 == 1
    chance, void = 0.0, 1.0
    if view.void[seat] >> led & 1 == 0:
        void = lacks(view, seat, follows)
        if SUIT_OF[strain, kind] == led:
            chance = 1.0 - lacks(view, seat, above)
    if trumps != 0 and led != strain and view.void[seat] >> strain & 1 == 0:
        chance += void * (1.0 - lacks(view, seat, above if is_trump else trumps))
    return chance


@kernel
def holds_chance(view: Row, t: Row, kind: int, led: int, seats: int) -> float:
    """Return the chance that none of the opponents in `seats` (bits) can beat the card `kind`.

    `led` is the suit led; partner, if in `seats`, is ignored.
    """
    chance = 1.0
    if seats >> 1 & 1:
        chance *= 1.0 - beats_chance(view, t, 1, kind, led)
    if seats >> 3 & 1:
        chance *= 1.0 - beats_chance(view, t, 3, kind, led)
    return chance
