"""What a card does, in words: to the trick on the table, to the hand, to the cards still out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bideuchre_env.agents.advice.holding import called, number_word, rank_of, suit_word
from bideuchre_env.rules.cards import CARD_NAMES, MAX_KINDS, NO_TRUMP
from bideuchre_env.runtime.jit import Row

PARTNER = 2
OPPONENTS = 0b1010  # seats, as bits


def suit_of(kind: int, strain: int, t: Any) -> int:
    """The suit a card belongs to."""
    return int(t["suit_of"][strain, kind])


def strength(kind: int, strain: int, t: Any) -> tuple[bool, int]:
    """Orders cards by what is given away with them: trumps last, then by rank."""
    suit = suit_of(kind, strain, t)
    return suit == strain, int(t["power"][strain, suit, kind])


def card_words(kind: int, legal: Sequence[int], kinds: Sequence[int], view: Row, t: Any) -> str:
    """What playing a card does; `legal` are the kinds that may be played, `kinds` the hand."""
    strain = int(view["strain"])
    if view["led"] < 0:
        return lead_words(kind, kinds, view, t)
    before, card = int(view["winning_kind"]), called(kind, strain, t)
    powers = t["power"][strain, int(view["led"])]
    if powers[kind] > powers[before]:
        return f"{card} {winning_words(kind, before, view, t)}"
    lowest = strength(kind, strain, t) == min(strength(one, strain, t) for one in legal)
    card = f"{card} is the lowest card" if lowest else card
    if view["winning"] == PARTNER:
        held = "has won" if not view["after"] else "is winning"
        link = ", and" if lowest else " leaves the trick as it is:"
        text = f"{card}{link} partner {held} with {CARD_NAMES[before]}"
    elif all(powers[one] <= powers[before] for one in legal):
        text = f"{card}{', and' if lowest else ':'} nothing held beats {CARD_NAMES[before]}"
    else:
        link = ", and keeps what is higher" if lowest else " keeps what is higher"
        text = f"{card}{link}: the trick may go"
    return text + void_words(kind, kinds, strain, t)


def winning_words(kind: int, before: int, view: Row, t: Any) -> str:
    """What a card does that beats the one winning so far, and whether it may be beaten."""
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
    return f"{verb or f'beats {CARD_NAMES[before]}'}, though a higher card may still come"


def lead_words(kind: int, kinds: Sequence[int], view: Row, t: Any) -> str:
    """What leading a card does."""
    strain = int(view["strain"])
    suit, card = suit_of(kind, strain, t), called(kind, strain, t)
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
        elif strain != NO_TRUMP:
            risk = ", and wins: no trump is out"
        return f"{card} is the highest {suit_word(suit, 1)} left{risk}"
    text = f"{card} leads {suit_word(suit)} with higher ones still out"
    return text + void_words(kind, kinds, strain, t)


def void_words(kind: int, kinds: Sequence[int], strain: int, t: Any) -> str:
    """That no card of its suit is left in hand, where it is no trump and others are."""
    suit = suit_of(kind, strain, t)
    alone = sum(suit_of(one, strain, t) == suit for one in kinds) == 1
    if suit == strain or not alone or len(kinds) == 1:
        return ""
    return f"; no {suit_word(suit, 1)} is left in hand then"


def give_words(kind: int, kinds: Sequence[int], strain: int, t: Any) -> str:
    """What giving a card up leaves."""
    suit, card = suit_of(kind, strain, t), called(kind, strain, t)
    same = [one for one in kinds if suit_of(one, strain, t) == suit]
    if suit == strain:
        lowest = kind == min(same, key=lambda one: strength(one, strain, t))
        return f"{card} is the lowest trump" if lowest else f"{card} is a trump"
    if len(same) == 1:
        return f"{card} is the only {suit_word(suit, 1)}, and the hand is void without it"
    lowest = kind == min(same, key=lambda one: strength(one, strain, t))
    rank = "the lowest" if lowest else "one"
    return f"{card} is {rank} of {number_word(len(same))} {suit_word(suit)}"


def pass_words(kind: int, kinds: Sequence[int], strain: int, t: Any) -> str:
    """What passing a card brings the declarer."""
    suit, card = suit_of(kind, strain, t), called(kind, strain, t)
    same = [one for one in kinds if suit_of(one, strain, t) == suit]
    best = kind == max(same, key=lambda one: strength(one, strain, t))
    if suit == strain:
        if len(same) == 1:
            return f"{card} is the only trump held"
        which = "the highest" if best else "one"
        return f"{card} is {which} of {number_word(len(same))} trumps held"
    what = f"the {rank_of(kind)} of {suit_word(suit)}"
    return f"{card} is {what}" if card == CARD_NAMES[kind] else card


def out(view: Row) -> list[int]:
    """The kinds of which a copy is not accounted for."""
    unseen = int(view["unseen"])
    return [kind for kind in range(MAX_KINDS) if unseen >> kind & 1]
