"""Text about hands and cards, for explanations of advice.

`holding` describes a hand by bowers, aces, length and voids; `card_words`, `give_words` and
`pass_words` describe the effect of a card. `t` is the game's table record, and cards are kinds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bideuchre_env.core.records import View
from bideuchre_env.records.words import card_words as full_name
from bideuchre_env.rules.cards import (
    CARD_NAMES,
    LOW,
    MAX_KINDS,
    N_SUITS,
    NO_TRUMP,
    STRAIN_WORDS,
    SUITS,
)

NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
           "eleven", "twelve")  # fmt: skip
RIGHT, LEFT = 0, 1  # places of the bowers among the trumps, the highest first
PARTNER = 2
OPPONENTS = 0b1010  # seats, as bits


def number_word(number: int) -> str:
    """Format a number: "no" for 0, in letters up to "twelve", then in digits."""
    return NUMBERS[number] if number < len(NUMBERS) else str(number)


def ranking(strain: int, t: Any) -> list[int]:
    """Return the kinds of a trump suit, the highest first; empty at no trump."""
    if strain >= NO_TRUMP:
        return []
    return [int(kind) for kind in t["ranked"][strain, strain] if kind >= 0]


def order_words(strain: int) -> tuple[str, str, str]:
    """Return the words for the weakest card of a suit, a better one and the best one."""
    return ("highest", "lower", "lowest") if strain == LOW else ("lowest", "higher", "highest")


def rank_of(kind: int) -> str:
    """Return the word of a card's rank: "ace"."""
    return full_name(CARD_NAMES[kind]).partition(" ")[0]


def card_name(kind: int, strain: int, t: Any) -> str:
    """Format a card: "AC"; a bower in this strain is named with commas: "JD, the left bower,"."""
    bowers = ranking(strain, t)[: LEFT + 1]
    if kind not in bowers:
        return CARD_NAMES[kind]
    article = "the" if t["copies"] == 1 else "a"
    return f"{CARD_NAMES[kind]}, {article} {('right', 'left')[bowers.index(kind)]} bower,"


def suit_word(suit: int, cards: int = 2) -> str:
    """Return the word of a suit: "hearts", or "heart" for one card."""
    word = STRAIN_WORDS[suit]
    return word[:-1] if cards == 1 else word


def holding(kinds: Sequence[int], strain: int, t: Any) -> str:
    """Describe a hand in a strain: "right and left bower with the ace in four hearts".

    Side aces and voids follow, separated by commas. At no trump it only counts aces and kings, at
    low no trump the two lowest ranks.
    """
    aces = [kind for kind in kinds if rank_of(kind) == "ace"]
    if strain >= NO_TRUMP:
        ranks = [rank_of(kind) for kind in range(0, int(t["kinds"]), N_SUITS)]  # from the ace
        first, second = ranks[::-1][:2] if strain == LOW else ranks[:2]
        held = [rank_of(kind) for kind in kinds]
        counts = [count_noun(held.count(rank), rank) for rank in (first, second)]
        return f"{' and '.join(counts)} at {STRAIN_WORDS[strain]}"
    order = ranking(strain, t)
    trumps = sorted((kind for kind in kinds if kind in order), key=order.index)
    parts = [trump_words(trumps, order, strain, t)]
    beside = [kind for kind in aces if kind not in order]
    if beside:
        parts.append(f"{count_noun(len(beside), 'ace')} outside")
    suits = {int(t["suit_of"][strain, kind]) for kind in kinds}
    voids = [suit_word(suit) for suit in range(len(SUITS)) if suit not in suits | {strain}]
    if voids:
        parts.append(f"no {' and no '.join(voids)}")
    return ", ".join(parts)


def trump_words(trumps: Sequence[int], order: Sequence[int], strain: int, t: Any) -> str:
    """Describe the trumps of a hand by bowers, ace and number.

    `trumps` are those in hand, the highest first; `order` is `ranking(strain, t)`.
    """
    length = f"{number_word(len(trumps))} {suit_word(strain, len(trumps))}"
    if not trumps:
        return f"no {suit_word(strain, 1)}"
    top = bowers(trumps.count(order[RIGHT]), trumps.count(order[LEFT]), int(t["copies"]))
    aces = sum(rank_of(kind) == "ace" for kind in trumps)
    ace = "" if not aces else "the ace" if t["copies"] == 1 else count_noun(aces, "ace")
    if top and len(trumps) == 1:
        return f"{top} alone"
    if top:
        return f"{top}{f' with {ace}' if ace else ''} in {length}"
    if len(trumps) == 1:
        return f"only {CARD_NAMES[trumps[0]]} in {suit_word(strain)}"
    return f"{length} to the {rank_of(trumps[0])}"


def bowers(rights: int, lefts: int, copies: int) -> str:
    """Format a hand's bowers: "right and left bower", "two right bowers and a left bower"; or "".

    `rights` and `lefts` are their numbers, `copies` the copies of each card in the deck.
    """
    if copies == 1:
        held = ["right"] * rights + ["left"] * lefts
        return f"{'the ' if len(held) == 1 else ''}{' and '.join(held)} bower" if held else ""
    parts = [
        count_noun(n, f"{side} bower") for n, side in ((rights, "right"), (lefts, "left")) if n
    ]
    return " and ".join(parts)


def count_noun(n: int, noun: str) -> str:
    """Format a count: "no ace", "an ace", "two aces"."""
    if n == 1:
        return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"
    return f"{number_word(n)} {noun}{'s' * (n > 1)}"


def suit_of(kind: int, strain: int, t: Any) -> int:
    """Return the suit that a card belongs to in a strain: the left bower is a trump."""
    return int(t["suit_of"][strain, kind])


def strength(kind: int, strain: int, t: Any) -> int:
    """Return a sort key for cards, the weakest first: side cards before trumps, then by rank."""
    return int(t["strength"][strain, kind])


def card_words(kind: int, legal: Sequence[int], kinds: Sequence[int], view: View, t: Any) -> str:
    """Describe the effect of playing a card; `legal` are the legal kinds, `kinds` the hand."""
    strain = int(view["strain"])
    weakest, better, _ = order_words(strain)
    if view["led"] < 0:
        return lead_words(kind, kinds, view, t)
    before, card = int(view["winning_kind"]), card_name(kind, strain, t)
    powers = t["power"][strain, int(view["led"])]
    if powers[kind] > powers[before]:
        return f"{card} {winning_words(kind, before, view, t)}"
    lowest = strength(kind, strain, t) == min(strength(one, strain, t) for one in legal)
    card = f"{card} is the {weakest} card" if lowest else card
    if view["winning"] == PARTNER:
        held = "has won" if not view["after"] else "is winning"
        link = ", and" if lowest else " leaves the trick as it is:"
        text = f"{card}{link} partner {held} with {CARD_NAMES[before]}"
    elif all(powers[one] <= powers[before] for one in legal):
        text = f"{card}{', and' if lowest else ':'} nothing held beats {CARD_NAMES[before]}"
    else:
        link = f", and saves {better} cards" if lowest else f" saves {better} cards"
        text = f"{card}{link}, giving up the trick"
    return text + void_words(kind, kinds, strain, t)


def winning_words(kind: int, before: int, view: View, t: Any) -> str:
    """Describe a card that beats `before`, the best card so far, and whether it may be beaten."""
    strain, led = int(view["strain"]), int(view["led"])
    powers, after = t["power"][strain, led], int(view["after"])
    ruffs = suit_of(kind, strain, t) == strain != led
    over = ruffs and suit_of(before, strain, t) == strain
    verb = "over-ruffs" if over else f"ruffs the {suit_word(led, 1)}" if ruffs else ""
    higher = any(powers[one] > powers[kind] for one in out(view))
    if view["winning"] == PARTNER:
        verb = f"{verb or 'goes up'} over partner's {CARD_NAMES[before]}"
    if not after:
        return f"{verb} and wins the trick" if verb else "wins the trick"
    if not higher:
        return f"{verb or f'beats {CARD_NAMES[before]}'}, and nothing still out beats it"
    if not after & OPPONENTS:
        return f"{verb or f'beats {CARD_NAMES[before]}'}, and no opponent is left to play"
    risk = f"though a {order_words(strain)[1]} card may still come"
    return f"{verb or f'beats {CARD_NAMES[before]}'}, {risk}"


def lead_words(kind: int, kinds: Sequence[int], view: View, t: Any) -> str:
    """Describe the effect of leading a card from the hand `kinds`."""
    strain = int(view["strain"])
    _, better, best = order_words(strain)
    suit, card = suit_of(kind, strain, t), card_name(kind, strain, t)
    powers = t["power"][strain, suit]
    unseen = out(view)
    higher = any(powers[one] > powers[kind] for one in unseen if suit_of(one, strain, t) == suit)
    trumps = sum(
        1 + (int(view["unseen_pair"]) >> one & 1)
        for one in unseen
        if suit_of(one, strain, t) == strain
    )
    if suit == strain:
        if not trumps:
            return f"{card} wins: no other trump is out"
        drawn = f"{number_word(trumps)} trump{'s are' if trumps > 1 else ' is'} not seen yet"
        top = " is the highest trump left and" if not higher else ""
        return f"{card}{top} draws trumps: {drawn}"
    if not higher:
        risk = ", and wins"
        if trumps:
            risk = ", and wins unless it is ruffed"
        elif strain < NO_TRUMP:
            risk = ", and wins: no trump is out"
        return f"{card} is the {best} {suit_word(suit, 1)} left{risk}"
    text = f"{card} leads {suit_word(suit)} with {better} ones still out"
    return text + void_words(kind, kinds, strain, t)


def void_words(kind: int, kinds: Sequence[int], strain: int, t: Any) -> str:
    """Note that a card is the only one of its side suit in the hand `kinds`.

    "" if it is not, if it is a trump, or if it is the last card in hand.
    """
    suit = suit_of(kind, strain, t)
    alone = sum(suit_of(one, strain, t) == suit for one in kinds) == 1
    if suit == strain or not alone or len(kinds) == 1:
        return ""
    return f"; no {suit_word(suit, 1)} is left in hand then"


def give_words(kind: int, kinds: Sequence[int], strain: int, t: Any) -> str:
    """Describe a card that the declarer gives up: its place in its suit in the hand `kinds`."""
    suit, card = suit_of(kind, strain, t), card_name(kind, strain, t)
    same = [one for one in kinds if suit_of(one, strain, t) == suit]
    if suit == strain:
        lowest = kind == min(same, key=lambda one: strength(one, strain, t))
        return f"{card} is the lowest trump" if lowest else f"{card} is a trump"
    if len(same) == 1:
        return f"{card} is the only {suit_word(suit, 1)}, and the hand is void without it"
    lowest = kind == min(same, key=lambda one: strength(one, strain, t))
    rank = f"the {order_words(strain)[0]}" if lowest else "one"
    return f"{card} is {rank} of {number_word(len(same))} {suit_word(suit)}"


def pass_words(kind: int, kinds: Sequence[int], strain: int, t: Any) -> str:
    """Describe a card that is passed to the declarer: a trump's place in the hand, or its name."""
    suit, card = suit_of(kind, strain, t), card_name(kind, strain, t)
    same = [one for one in kinds if suit_of(one, strain, t) == suit]
    best = kind == max(same, key=lambda one: strength(one, strain, t))
    if suit == strain:
        if len(same) == 1:
            return f"{card} is the only trump held"
        which = "the highest" if best else "one"
        return f"{card} is {which} of {number_word(len(same))} trumps held"
    return f"{card} is the {full_name(card)}" if card == CARD_NAMES[kind] else card


def out(view: View) -> list[int]:
    """Return the kinds of which the seat of the view has not seen every copy."""
    unseen = int(view["unseen"])
    return [kind for kind in range(MAX_KINDS) if unseen >> kind & 1]
