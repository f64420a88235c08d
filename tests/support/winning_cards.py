"""Cards that beat others, by the rules in plain Python, and random hands of high cards."""

import numpy as np
from oracles.reference import deck, height, suit_of

from bideuchre_env.rules.cards import COPY_SHIFT, KIND_BITS, hand_bits, parse_card


def beats(card, led, strain):
    suit = suit_of(card, strain)
    if suit == suit_of(led, strain):
        return height(card, strain) > height(led, strain)
    return suit == strain


def in_order(cards, strain):
    """The cards in the order of leads: trumps first, the highest first."""
    return sorted(cards, key=lambda card: (suit_of(card, strain) != strain, -height(card, strain)))


def bits_of(cards):
    hand = hand_bits([parse_card(card) for card in cards])
    return hand & KIND_BITS, hand >> COPY_SHIFT


def random_cards(rng, rules, n, strain):
    """Two lists: a hand of n cards, mostly high, and the 2 n or 3 n cards of the other hands."""
    cards = deck(rules.ranks, rules.copies)
    lifted = [height(card, strain) + 3 * (suit_of(card, strain) == strain) for card in cards]
    noise = rng.normal(0, rng.uniform(0.5, 4), len(cards))
    best = np.argsort(-(np.minimum(lifted, 12) + noise))
    rest = rng.permutation(best[n:])[: n * rng.integers(2, 4)]
    return [cards[i] for i in best[:n]], [cards[i] for i in rest]
