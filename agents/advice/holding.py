"""A hand in words, as the holder of a strain sees it: bowers, aces, length, voids."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bideuchre_env.records.words import STRAIN_WORDS
from bideuchre_env.rules.cards import CARD_NAMES, NO_TRUMP, SUITS

NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
           "eleven", "twelve")  # fmt: skip

RANKS = {"A": "ace", "K": "king", "Q": "queen", "J": "jack", "T": "ten", "9": "nine"}
RIGHT, LEFT = 0, 1  # places of the bowers among the trumps, the highest first


def number_word(number: int) -> str:
    """A number as it is written: in letters up to twelve."""
    return NUMBERS[number] if number < len(NUMBERS) else str(number)


def ranking(strain: int, t: Any) -> list[int]:
    """The kinds of a trump suit, the highest first; none at no trump."""
    if strain == NO_TRUMP:
        return []
    trumps = [kind for kind in range(int(t["kinds"])) if t["suit_of"][strain, kind] == strain]
    return sorted(trumps, key=lambda kind: -int(t["power"][strain, strain, kind]))


def rank_of(kind: int) -> str:
    """The word of a card's rank."""
    return RANKS[CARD_NAMES[kind][0]]


def called(kind: int, strain: int, t: Any) -> str:
    """A card by its name, and as the bower that it is: "JD, the left bower,"."""
    bowers = ranking(strain, t)[: LEFT + 1]
    if kind not in bowers:
        return CARD_NAMES[kind]
    article = "the" if t["copies"] == 1 else "a"
    return f"{CARD_NAMES[kind]}, {article} {('right', 'left')[bowers.index(kind)]} bower,"


def suit_word(suit: int, cards: int = 2) -> str:
    """ "hearts", or of one card "heart"."""
    word = STRAIN_WORDS[suit]
    return word[:-1] if cards == 1 else word


def holding(kinds: Sequence[int], strain: int, t: Any) -> str:
    """What a hand, as kinds, has for a strain: "right and left bower with the ace in four hearts".

    Aces of other suits and voids follow.
    """
    aces = [kind for kind in kinds if rank_of(kind) == "ace"]
    if strain == NO_TRUMP:
        kings = [kind for kind in kinds if rank_of(kind) == "king"]
        return f"{counted(len(aces), 'ace')} and {counted(len(kings), 'king')} at no trump"
    order = ranking(strain, t)
    trumps = sorted((kind for kind in kinds if kind in order), key=order.index)
    parts = [trump_words(trumps, order, strain, t)]
    beside = [kind for kind in aces if kind not in order]
    if beside:
        parts.append(f"{counted(len(beside), 'ace')} outside")
    suits = {int(t["suit_of"][strain, kind]) for kind in kinds}
    voids = [suit_word(suit) for suit in range(len(SUITS)) if suit not in suits | {strain}]
    if voids:
        parts.append(f"no {' and no '.join(voids)}")
    return ", ".join(parts)


def trump_words(trumps: Sequence[int], order: Sequence[int], strain: int, t: Any) -> str:
    """The trumps of a hand, the highest first: its bowers, its ace, how many."""
    length = f"{number_word(len(trumps))} {suit_word(strain, len(trumps))}"
    if not trumps:
        return f"no {suit_word(strain, 1)}"
    top = bowers(trumps.count(order[RIGHT]), trumps.count(order[LEFT]), int(t["copies"]))
    aces = sum(rank_of(kind) == "ace" for kind in trumps)
    ace = "" if not aces else "the ace" if t["copies"] == 1 else counted(aces, "ace")
    if top and len(trumps) == 1:
        return f"{top} alone"
    if top:
        return f"{top}{f' with {ace}' if ace else ''} in {length}"
    if len(trumps) == 1:
        return f"only {CARD_NAMES[trumps[0]]} in {suit_word(strain)}"
    return f"{length} to the {rank_of(trumps[0])}"


def bowers(rights: int, lefts: int, copies: int) -> str:
    """The bowers held: "right and left bower"; with two of each "two right bowers and a left"."""
    if copies == 1:
        held = ["right"] * rights + ["left"] * lefts
        return f"{'the ' if len(held) == 1 else ''}{' and '.join(held)} bower" if held else ""
    parts = [counted(n, f"{side} bower") for n, side in ((rights, "right"), (lefts, "left")) if n]
    return " and ".join(parts)


def counted(n: int, noun: str) -> str:
    """ "no ace", "an ace", "two aces"."""
    if n == 1:
        return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"
    return f"{number_word(n)} {noun}{'s' * (n > 1)}"
