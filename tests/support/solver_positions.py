"""Positions for the solver's tests: random endings and whole deals of every deck, as state rows."""

from __future__ import annotations

import random
from dataclasses import dataclass

import numpy as np
from oracles import reference
from oracles.plain_solver import after, may_play
from support.playthroughs import Chooser, start
from support.strategies import TRICKS

from bideuchre_env import Rules, make
from bideuchre_env.core.state import PLAY, new_states
from bideuchre_env.rules.cards import CARD_NAMES, STRAINS, SUITS, hand_bits

RULES = {
    deck: Rules(ranks=deck[0], copies=deck[1], partnered=(1, tricks), no_trump="both", target=52)
    for deck, tricks in TRICKS.items()
}


@dataclass
class Ending:
    """A position of play: cards in hand by seat, cards on the table as (seat, card), and `seat`.

    `seat` is to act; seat `absent`, if any, sits out.
    """

    rules: Rules
    hands: list[list[str]]
    table: list[tuple[int, str]]
    seat: int
    strain: str
    absent: int | None

    @property
    def left(self) -> int:
        """The number of tricks that are not complete."""
        return len(self.hands[self.seat])

    @property
    def row(self) -> np.ndarray:
        """The state row, shape (1,), with the fields that the solver reads."""
        return self.rows([self])

    @staticmethod
    def rows(endings: list[Ending]) -> np.ndarray:
        states = new_states(len(endings))
        states["phase"], states["led"] = PLAY, -1
        states["leaders"], states["plays"] = -1, -1
        for row, ending in zip(states, endings, strict=True):
            trick = ending.rules.tricks - ending.left
            kinds = [[CARD_NAMES.index(card) for card in hand] for hand in ending.hands]
            row["hands"] = [hand_bits(hand) for hand in kinds]
            row["strain"], row["turn"] = STRAINS.index(ending.strain), ending.seat
            row["sitting_out"] = -1 if ending.absent is None else ending.absent
            row["trick"] = trick
            row["leaders"][trick] = ending.table[0][0] if ending.table else ending.seat
            for seat, card in ending.table:
                row["plays"][seat * 12 + trick] = CARD_NAMES.index(card)
            if ending.table:
                led = reference.suit_of(ending.table[0][1], ending.strain)
                row["led"] = SUITS.index(led)
        return states


def random_ending(rng: random.Random, rules: Rules, cards: int, lone: bool = False) -> Ending:
    """An ending at any point of a trick, with `cards` cards in each hand when it began."""
    deck = reference.deck(rules.ranks, rules.copies)
    rng.shuffle(deck)
    hands = [deck[i * cards : (i + 1) * cards] for i in range(4)]
    strain = rng.choice(STRAINS)
    absent = rng.randrange(4) if lone else None
    if absent is not None:
        hands[absent] = []
    seat = rng.choice([s for s in range(4) if s != absent])
    ending = Ending(rules, hands, [], seat, strain, absent)
    for _ in range(rng.choice([0, 0, 1, 2, 2 if lone else 3])):
        card = rng.choice(may_play(hands[ending.seat], ending.table, strain))
        hands[ending.seat].remove(card)
        ending.table.append((ending.seat, card))
        ending.seat = after(ending.seat, absent)
    return ending


def random_endings(n: int, seed: int, most: int = 4) -> list[Ending]:
    """Return n random endings of every deck and strain, of 1 to 3 or `most` cards."""
    rng = random.Random(seed)
    endings = []
    for i in range(n):
        rules = RULES[sorted(RULES)[i % len(RULES)]]
        cards = min(rng.choice([1, 2, 2, 3, 3, most]), rules.tricks)
        endings.append(random_ending(rng, rules, cards, lone=rng.random() < 0.4))
    return endings


def whole_deal(rng: random.Random, rules: Rules, strain: str, lone: bool = False) -> Ending:
    """A whole deal at its opening lead, seat 0 to lead; with `lone`, seat 2 sits out."""
    deck = reference.deck(rules.ranks, rules.copies)
    rng.shuffle(deck)
    hands = [deck[i * rules.tricks : (i + 1) * rules.tricks] for i in range(4)]
    if lone:
        hands[2] = []
    return Ending(rules, hands, [], 0, strain, 2 if lone else None)


def in_play(name="cincinnati_v0", seed=1, **options):
    """An environment, by name or `Rules`, at the opening lead of its first hand that is played."""
    env = start(make(name, **options).rules, seed) if isinstance(name, str) else start(name, seed)
    choose = Chooser(seed)
    while env._states[0]["phase"] != PLAY:
        env.step(choose(env))
    return env


def deal_of(env):
    return env.record.hands[-1]["deal"]
