"""Why: one sentence from what the hand holds and what was counted.

Every clause is a fact of the position, by the tables of the rules, or a figure of the options.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from bideuchre_env.agents.advice.advice import Option
from bideuchre_env.agents.advice.cards import card_words, give_words, pass_words
from bideuchre_env.agents.advice.figures import Counted
from bideuchre_env.agents.advice.holding import NUMBERS, holding
from bideuchre_env.core.state import Phase
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.records.words import STRAIN_WORDS
from bideuchre_env.rules import actions
from bideuchre_env.rules.cards import COPY_SHIFT, hand_kinds
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.jit import Array, Row

LEAST = 0.05  # points that are told: what would read 0.0 is none
_NOUNS = {
    Phase.AUCTION: "call",
    Phase.NAMING: "strain",
    Phase.GIVING: "card to give up",
    Phase.PASSING: "card to pass",
    Phase.PLAY: "card",
}


@dataclass(frozen=True)
class Situation:
    """What a sentence is made from: what the seat sees, what it may do, what that comes to."""

    rules: Rules
    view: Row
    mask: Array
    options: tuple[Option, ...]
    counted: Counted

    @property
    def tables(self) -> Any:
        """The tables of the rules."""
        return compile_tables(self.rules)[0]

    @property
    def kinds(self) -> list[int]:
        """The cards in hand."""
        return hand_kinds(int(self.view["held"]) | int(self.view["held_pair"]) << COPY_SHIFT)

    @property
    def phase(self) -> Phase:
        """What is to be done."""
        return Phase(int(self.view["phase"]))


def why(situation: Situation) -> str:
    """The sentence for the first option."""
    if situation.mask.sum() == 1:
        return sentence(f"the only legal {_NOUNS[situation.phase]}")
    words: dict[Phase, Callable[[Situation], str]] = {
        Phase.AUCTION: call_words,
        Phase.NAMING: strain_words,
        Phase.GIVING: exchange_words,
        Phase.PASSING: exchange_words,
        Phase.PLAY: play_words,
    }
    return sentence(words[situation.phase](situation))


def sentence(text: str) -> str:
    """A text with a capital letter and a full stop."""
    return f"{text[0].upper()}{text[1:]}."


def call_words(situation: Situation) -> str:
    """Why a bid or a pass."""
    best, others = situation.options[0], situation.options[1:]
    if best.action > 0:
        return bid_words(situation)
    bids = [option for option in others if option.action > 0]
    if not bids:  # nothing more was worth trying
        return "no bid is worth trying"
    bid = max(bids, key=lambda option: option.points.mean)
    strain, stands = played(situation, bid)
    if not stands:
        return f"{short(bid)} is outbid in every deal; {compared(situation)}"
    hand = holding(situation.kinds, strain, situation.tables)
    return f"{hand}: {short(bid)} would be made in {per_hundred(bid)} of 100 deals{ending(situation)}"


def bid_words(situation: Situation) -> str:
    """Why a bid: what is held, how often it is made, and what the next higher bid comes to."""
    best = situation.options[0]
    strain, stands = played(situation, best)
    if not stands:
        return f"somebody bids on in every deal; {compared(situation)}"
    hand = holding(situation.kinds, strain, situation.tables)
    head = "" if situation.mask[0] else "a pass is not allowed, and the hand has "
    text = f"{head}{hand}: {goal(situation, best)} in {per_hundred(best)} of 100 deals"
    after = best.action + actions.of(situation.rules).strains_per_bid
    for option in situation.options:
        if option.action == after and option.loss >= LEAST and played(situation, option)[1]:
            if per_hundred(option) < per_hundred(best):
                text += f", {short(option)} in only {per_hundred(option)}"
    return text + ending(situation)


def strain_words(situation: Situation) -> str:
    """Why a strain, by its tricks; and those of the next best."""
    best, second = situation.options[:2]
    strain = best.action - actions.of(situation.rules).trump_offset
    hand = holding(situation.kinds, strain, situation.tables)
    text = f"{hand}: {goal(situation, best)} in {per_hundred(best)} of 100 deals"
    other = STRAIN_WORDS[second.action - actions.of(situation.rules).trump_offset]
    where = other if other == "no trump" else f"with {other} as trump"
    where = "at no trump" if other == "no trump" else where
    if per_hundred(second) < per_hundred(best):
        return f"{text}, {where} in only {per_hundred(second)}"
    return text + ending(situation)


def exchange_words(situation: Situation) -> str:
    """Why a card is given up or passed."""
    first = actions.of(situation.rules).card_offset
    words = give_words if situation.phase == Phase.GIVING else pass_words
    kind = situation.options[0].action - first
    text = words(kind, situation.kinds, int(situation.view["strain"]), situation.tables)
    return text + ending(situation)


def play_words(situation: Situation) -> str:
    """Why a card is played."""
    first = actions.of(situation.rules).card_offset
    legal = [int(action) - first for action in np.flatnonzero(situation.mask)]
    kind = situation.options[0].action - first
    text = card_words(kind, legal, situation.kinds, situation.view, situation.tables)
    return text + ending(situation)


def played(situation: Situation, option: Option) -> tuple[int, bool]:
    """The strain in which a bid is played most often, and whether it ever is."""
    column, weights = situation.counted.column(option.action), situation.counted.weights
    own = weights * (column["declarer"] == 0)
    if not own.any():
        return -1, False
    return int(np.bincount(np.maximum(column["strain"], 0), own).argmax()), True


def goal(situation: Situation, option: Option) -> str:
    """The tricks that a contract needs: "five tricks", "all six tricks alone"."""
    column, t = situation.counted.column(option.action), situation.tables
    level = int(column["level"][column["declarer"] == 0][0])
    need, alone = int(t["need"][level]), bool(t["alone"][level])
    every = "all " if need == t["tricks"] else ""
    return f"{every}{NUMBERS[need]} trick{'s' * (need > 1)}{' alone' * alone}"


def per_hundred(option: Option) -> int:
    """Of how many deals of a hundred a contract is made."""
    return round(100 * option.made.mean) if option.made else 0


def short(option: Option) -> str:
    """A bid without the word."""
    name = option.name.removeprefix("bid ")
    return f"a bid of {name}" if name[0].isdigit() else name


def ending(situation: Situation) -> str:
    """The comparison with the other options, as the end of a sentence; or nothing."""
    text = compared(situation)
    return f"; {text}" if text else ""


def compared(situation: Situation) -> str:
    """How far the first option is ahead of the next, or behind a better one, in points."""
    best, others = situation.options[0], situation.options[1:]
    if not others:
        return ""
    most = max(others, key=lambda option: option.points.mean)
    more = most.points.mean - best.points.mean
    if more >= max(LEAST, 2 * most.error):
        text = f"{most.name} would bring {more:.1f} points more"
        if most.wins.mean <= best.wins.mean - 0.005:
            return f"{text}, but win the game less often"
        return text
    worse = [option for option in others if option.loss >= max(LEAST, 2 * option.error)]
    if not worse:
        return "nothing else is clearly better or worse"
    second = min(worse, key=lambda option: option.loss)
    return f"{second.loss:.1f} points more than {second.name}"
