"""Cards played second, third and last to a trick: win, leave it to partner, or throw off low."""

from __future__ import annotations

from bideuchre_env.agents.rule.card_odds import beats_chance, holds_chance
from bideuchre_env.agents.rule.certain import claiming_follow, winning_cards
from bideuchre_env.agents.rule.discarding import least_kept
from bideuchre_env.learning.card_order import lowest
from bideuchre_env.runtime.jit import Row, kernel

SAFE = 0.9  # chance from which partner's card is left to win
HELP = 0.25  # least gain of our card's chance over partner's card to spend ours
LEAVE = 0.7  # chance of partner to win above which second hand does not ruff
SECOND = 0.55  # least chance to hold the trick at which second hand spends a card
THIRD = 0.1  # the same for third hand, with only one opponent to come


@kernel
def best_holding(view: Row, t: Row, winners: int) -> int:
    """Return the cheapest of the cards that are (nearly) the likeliest to hold the trick."""
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
    """Return the card to play to a trick that another seat led."""
    winners = winning_cards(view, legal)
    if winners == 0:
        return least_kept(view, t, legal)
    card = claiming_follow(view, t, winners)
    if card >= 0:
        return card
    if view.winning == 2:
        return over_partner(view, t, legal, winners)
    if view.after & 0b1010 == 0:
        return lowest(winners, view.strain)  # no opponent is left to play: win cheaply
    return over_opponent(view, t, legal, winners)


@kernel
def over_partner(view: Row, t: Row, legal: int, winners: int) -> int:
    """Return the card while partner is winning: throw off unless ours makes it much safer."""
    led, after = view.led, view.after
    if after & 0b1010 == 0:
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
    """Return the card to play if one opponent is winning and the other has yet to play."""
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
