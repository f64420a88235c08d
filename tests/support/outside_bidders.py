"""Outside bidders: four simple agents that share no code with the package's agents.

They stand for people, whose calls are unlike those of the package's agents: `Sound` counts points,
`Cautious` passes weak hands and bids low, `Over` bids a trick or more too high, and `Chain` counts
its own unbroken top trumps and side aces, and nothing for partner. All play cards by one rule: the
highest card if it takes the trick from the opponents, else the lowest. Mixed tables make a field:

    bideuchre match ./tests/support/outside_bidders.py:Sound rule --variant barrie_v0
"""

from typing import NamedTuple

import numpy as np

from bideuchre_env.core.observation.layout import layout_of
from bideuchre_env.core.tables import compile_tables

ACE, KING, QUEEN, JACK = 0, 4, 8, 12  # first kind of a rank; + suit
MATES = (3, 2, 1, 0)  # by suit: the suit of the same colour
NO_TRUMP, LOW = 4, 5


class Style(NamedTuple):
    """How a bidder bids; the pairs are for six and for eight tricks."""

    partner: tuple[float, float] = (0.0, 0.0)  # tricks hoped of partner
    least: tuple[float, float] = (0.0, 0.0)  # tricks counted below which it passes
    full: bool = True  # bids the tricks that it counts; else the lowest bid
    short: float = 0.0  # tricks that a lone hand may lack
    mood: float = 0.0  # standard deviation of its count, in tricks
    chain: bool = False  # counts only unbroken top trumps and aces


class Bidder:
    """An agent that bids by its `style`, and plays simple cards."""

    style: Style

    def __init__(self, rules, *, seed=None):
        self.layout, self.t = layout_of(rules), compile_tables(rules)[0]
        self.kinds, self.in_bid = rules.kinds, rules.strain_named == "in_bid"
        self.double, self.random = rules.copies == 2, np.random.default_rng(seed)

    def act_rows(self, observations, masks):
        """Return an action for each row."""
        look = {name: observations[:, at].astype(int) for name, at in self.layout.slices.items()}
        phase, choices = look["phase"].argmax(axis=1), np.zeros(len(masks), np.int64)
        choosers = self.call, self.name_strain, self.give, self.give, self.play
        for number, choose in enumerate(choosers):
            rows = np.flatnonzero(phase == number)
            if len(rows):
                seen = {name: block[rows] for name, block in look.items()}
                choices[rows] = choose(seen, masks[rows].astype(bool), number)
        return choices

    def count(self, hand, partner):
        """Tricks of the hand alone, and those with partner, (n, strains) each.

        `partner` is the strain that partner has bid, or -1, (n,).
        """
        style, eight = self.style, int(self.t["tricks"] > 6)
        alone = tricks_alone(hand, self.double, style.chain)
        if self.t["n_strains"] > LOW:
            mirrored = hand.reshape(len(hand), -1, 4)[:, ::-1].reshape(len(hand), -1)
            low = tricks_alone(mirrored, self.double, style.chain)[:, NO_TRUMP:]
            alone = np.concatenate([alone, low], axis=1)
        mood = style.mood * self.random.normal(size=(len(hand), 1))
        both = alone + style.partner[eight] * max(1.0, self.t["tricks"] / 8) + mood
        if not style.chain:
            both += 0.6 * (partner[:, np.newaxis] == np.arange(alone.shape[1]))
        return alone, both

    def call(self, look, legal, phase):
        """The dearest lone bid that the hand is worth, a bid with partner, or a pass."""
        t, style, n = self.t, self.style, len(legal)
        partner = np.full(n, -1)
        if self.in_bid:
            strains = look["call_strains"].reshape(n, 4, -1)[:, 2]
            partner = np.where(strains.any(axis=1), strains.argmax(axis=1), -1)
        alone, both = self.count(look["hand"], partner)
        best, solo, top = both.argmax(axis=1), alone.argmax(axis=1), both.max(axis=1)
        lacks, bowers = t["tricks"] - alone.max(axis=1), bowers_in(look["hand"], solo)
        top[top < style.least[int(t["tricks"] > 6)]] = 0.0
        choices, rows = np.where(legal[:, 0], 0, -1), np.arange(n)
        for level in range(int(t["n_levels"])):
            strain = solo if t["alone"][level] else best
            action = int(t["first_of_bid"][level]) + (strain if self.in_bid else 0)
            action = np.broadcast_to(action, n)
            can = legal[rows, action]
            if t["alone"][level]:
                ready = self.ready(level, lacks, bowers, solo)
            else:
                ready = (top + 1e-9 >= t["need"][level]) & (style.full | (choices <= 0))
            forced = can & (choices < 0)
            choices = np.where((can & ready) | forced, action, choices)
        return np.where(choices < 0, legal.argmax(axis=1), choices)

    def ready(self, level, lacks, bowers, strain):
        """Whether to bid alone: a dearer bid with the same exchange needs a sure hand."""
        exchange, dearer = int(self.t["exchange"][level]), False
        for lower in range(level):
            dearer |= bool(self.t["alone"][lower] and self.t["exchange"][lower] == exchange)
        enough = lacks <= self.style.short + (0.5 if self.style.chain else 0.75) * exchange
        enough &= (lacks <= 0.2) | (not dearer)
        return enough & ((exchange == 0) | (not self.double) | (bowers >= 3) | (strain >= NO_TRUMP))

    def name_strain(self, look, legal, phase):
        """The strain with most tricks: alone or with partner, as bid."""
        levels = look["bid"].argmax(axis=1)
        alone, both = self.count(look["hand"], np.full(len(legal), -1))
        value = np.where(self.t["alone"][levels][:, np.newaxis] == 1, alone, both)
        first = int(self.t["trump_offset"])
        value = np.where(legal[:, first : first + value.shape[1]], value, -1.0)
        return first + value.argmax(axis=1)

    def give(self, look, legal, phase):
        """The weakest card as declarer, the strongest to pass."""
        strength = self.t["strength"][look["strain"].argmax(axis=1)][:, : self.kinds]
        worth = strength.astype(float) * (1 if phase == 3 else -1)
        return self.best_card(worth, legal)

    def play(self, look, legal, phase):
        """The highest card to lead or to take the trick from the opponents; else the lowest."""
        t, kinds = self.t, self.kinds
        strain, leads = look["strain"].argmax(axis=1), ~look["led"].any(axis=1)
        own, led = t["suit_of"][strain][:, :kinds], look["led"].argmax(axis=1)
        strength = t["strength"][strain][:, :kinds].astype(float)
        suit = np.where(leads[:, np.newaxis], own, led[:, np.newaxis])
        power = t["power"][strain[:, np.newaxis], suit, np.arange(kinds)].astype(float)
        played = look["trick"].reshape(-1, 3, kinds).any(axis=1)
        beats = power > np.where(played, power, 0.0).max(axis=1)[:, np.newaxis]
        partners = look["winning"][:, 2] == 1
        hopeful = (leads | ~partners)[:, np.newaxis] & (beats | leads[:, np.newaxis])
        return self.best_card(np.where(hopeful, 1000.0 + power, -strength), legal)

    def best_card(self, worth, legal):
        """The legal card of the highest worth, as an action."""
        first = int(self.t["card_offset"])
        cards = legal[:, first : first + self.kinds]
        return first + np.where(cards, worth, -np.inf).argmax(axis=1)


def bowers_in(hand, strains):
    """The bowers of each hand in its strain, (n,); 0 at no trump."""
    own = np.zeros(len(hand))
    for suit in range(4):
        both = hand[:, JACK + suit] + hand[:, JACK + MATES[suit]]
        own = np.where(strains == suit, both, own)
    return own


def tricks_alone(hand, double, chain):
    """Tricks that hands, (n, kinds) copies held, are good for alone, (n, 5) by strain."""
    count = chain_tricks if chain else point_tricks
    return np.stack([count(hand, strain, double) for strain in range(5)], axis=1)


def point_tricks(hand, strain, double):
    """Tricks by points for high cards, length and voids, (n,)."""
    aces, kings = hand[:, ACE : ACE + 4], hand[:, KING : KING + 4]
    length = np.stack([hand[:, suit::4].sum(axis=1) for suit in range(4)], axis=1)
    total = np.zeros(len(hand))
    if strain == NO_TRUMP:
        every = aces == (2 if double else 1)
        rest = np.maximum(length - aces - kings, 0)
        total += (0.95 * (aces > 0) + 0.7 * (aces > 1) - 0.35 * (aces == 0)).sum(axis=1)
        total += np.where(every, 0.7 * kings + 0.35 * rest, 0.3 * (kings > 0)).sum(axis=1)
        return total
    right, left = hand[:, JACK + strain], hand[:, JACK + MATES[strain]]
    trumps = length[:, strain] + left
    rest = trumps - right - left - aces[:, strain] - kings[:, strain]
    total += right + 0.9 * left + (0.6 if double else 0.7) * aces[:, strain]
    total += 0.45 * kings[:, strain] + 0.35 * rest + 0.35 * np.maximum(trumps - 3, 0)
    for suit in set(range(4)) - {strain}:
        size = length[:, suit] - left * (suit == MATES[strain])
        total += 0.75 * (aces[:, suit] > 0) + 0.35 * (aces[:, suit] > 1)
        total += 0.2 * ((kings[:, suit] > 0) & (size > 1)) + 0.4 * ((trumps >= 3) & (size == 0))
    return total


def chain_tricks(hand, strain, double):
    """Tricks by unbroken top cards from the right bower or the aces down, (n,)."""
    copies, length = (2 if double else 1), [hand[:, suit::4].sum(axis=1) for suit in range(4)]
    total = np.zeros(len(hand))
    if strain == NO_TRUMP:
        for suit in range(4):
            aces, kings = hand[:, ACE + suit], hand[:, KING + suit]
            top = aces + np.where(aces == copies, kings, 0)
            total += top + np.where(aces == copies, 0.5 * np.maximum(length[suit] - top, 0), 0)
        return total
    unbroken, left = np.ones(len(hand), bool), hand[:, JACK + MATES[strain]]
    for kind in (JACK + strain, JACK + MATES[strain], ACE + strain, KING + strain, QUEEN + strain):
        total += np.where(unbroken, hand[:, kind], 0)
        unbroken &= hand[:, kind] == copies
    long = np.maximum(length[strain] + left - 3, 0)
    total = np.maximum(total, long + np.minimum(total, 3))
    for suit in set(range(4)) - {strain}:
        size = length[suit] - left * (suit == MATES[strain])
        total += (hand[:, ACE + suit] > 0) & (size <= 4)
    return total


class Sound(Bidder):
    """Counts points, and passes weak hands."""

    style = Style((1.4, 0.9), (4.0, 5.0), short=0.7, mood=0.3)


class Cautious(Bidder):
    """Counts little for partner, and makes the lowest bid."""

    style = Style((0.9, 0.3), (4.0, 4.6), full=False, short=0.3, mood=0.3)


class Over(Bidder):
    """Bids a trick or more too high."""

    style = Style((2.2, 1.8), (3.0, 4.5), short=1.3, mood=0.5)


class Chain(Bidder):
    """Counts unbroken top cards and aces, and nothing for partner."""

    style = Style(short=0.01, chain=True)


STYLES = (Sound, Cautious, Over, Chain)
