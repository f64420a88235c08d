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
from bideuchre_env.agents.advice.causes import LEAST_CHANCE, LEAST_POINTS, cause
from bideuchre_env.agents.advice.figures import Counted
from bideuchre_env.agents.advice.holding import holding, number_word
from bideuchre_env.agents.advice.outcomes import certain_choice
from bideuchre_env.core.state import Phase
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.learning.view import new_view
from bideuchre_env.records.words import STRAIN_WORDS
from bideuchre_env.rules import actions
from bideuchre_env.rules.cards import COPY_SHIFT, hand_kinds
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.jit import Array, Row

LEAST = 0.05  # points that are told: what would read 0.0 is none
RARELY = 0.2  # the share of deals in which a bid is played, under which no chance of it is told
MOSTLY = 0.9  # and that from which it goes without saying
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
    chosen: int
    """The agent's own choice."""
    learned: dict[int, float]
    """What calls or cards are worth by what it has learned of them; empty where it has not."""

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

    @property
    def certain(self) -> int:
        """The action by which every trick left is taken, whatever the others hold, or -1."""
        views = new_view()
        views[0] = self.view
        return int(certain_choice(views, self.mask[np.newaxis], compile_tables(self.rules)))


def why(situation: Situation) -> str:
    """The sentence for the first option."""
    if situation.mask.sum() == 1:
        return sentence(f"the only legal {_NOUNS[situation.phase]}")
    if situation.options[0].action == situation.certain:
        return sentence(certain_words(situation, situation.options[0]))
    words: dict[Phase, Callable[[Situation], str]] = {
        Phase.AUCTION: call_words,
        Phase.NAMING: strain_words,
        Phase.GIVING: exchange_words,
        Phase.PASSING: exchange_words,
        Phase.PLAY: play_words,
    }
    text = words[situation.phase](situation)
    return sentence(f"{text}{verdict(situation)}")


def sentence(text: str) -> str:
    """A text with a capital letter and a full stop."""
    return f"{text[0].upper()}{text[1:]}."


def certain_words(situation: Situation, option: Option) -> str:
    """Say that an action is certain to take every trick left."""
    what = "every trick"
    if situation.phase == Phase.PLAY:
        what = "with the cards led after it every trick left"
    return f"{option.name} takes {what}, whatever the others hold"


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
    if stands < RARELY:
        return f"{short(bid)} would be outbid in {deals_of(1 - stands)}{ending(situation)}"
    hand = holding(situation.kinds, strain, situation.tables)
    text = f"{hand}: {short(bid)} would be made in {per_hundred(bid)}{where(stands)}"
    text += decided(situation, bid, strain)
    if clearly_worse(bid):
        return f"{text} and bring {points(bid)} fewer than a pass"
    return text + ending(situation)


def bid_words(situation: Situation) -> str:
    """Why a bid: what is held, how often it is made, and what the next higher bid comes to."""
    best = situation.options[0]
    strain, stands = played(situation, best)
    if not stands:
        return f"somebody bids on in every deal{ending(situation)}"
    hand = holding(situation.kinds, strain, situation.tables)
    head = "" if situation.mask[0] else "a pass is not allowed, and the hand has "
    if stands < RARELY:
        return f"{head}{hand}: others bid on in {deals_of(1 - stands)}{ending(situation)}"
    text = f"{head}{hand}: {goal(situation, best)} in {per_hundred(best)}{where(stands)}"
    text += decided(situation, best, strain)
    higher = next_bid(situation)
    if higher:
        text += f", {short(higher)} in {per_hundred(higher, only=True)}"
        text += decided(situation, higher, strain)
    return text + ending(situation, told=higher)


def next_bid(situation: Situation) -> Option | None:
    """The bid above the first option, in its strain, if it is made less often and brings less."""
    best = situation.options[0]
    after = best.action + actions.of(situation.rules).strains_per_bid
    higher = next((option for option in situation.options if option.action == after), None)
    if higher is None or higher.loss < LEAST or chance(higher) >= chance(best):
        return None
    return higher if played(situation, higher)[1] >= RARELY else None


def strain_words(situation: Situation) -> str:
    """Why a strain, by its tricks; and those of the next best."""
    best, second = situation.options[:2]
    strain = best.action - actions.of(situation.rules).trump_offset
    hand = holding(situation.kinds, strain, situation.tables)
    text = f"{hand}: {goal(situation, best)} in {per_hundred(best)}"
    text += decided(situation, best, strain)
    other = STRAIN_WORDS[second.action - actions.of(situation.rules).trump_offset]
    where = f"at {other}" if other == "no trump" else f"with {other}"
    if chance(second) < chance(best):
        return f"{text}, {where} in {per_hundred(second, only=True)}"
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


def played(situation: Situation, option: Option) -> tuple[int, float]:
    """The strain in which a bid is played most often, and the share of deals in which it is."""
    column, weights = situation.counted.column(option.action), situation.counted.weights
    own = weights * (column["declarer"] == 0)
    if not own.any():
        return -1, 0.0
    strain = int(np.bincount(np.maximum(column["strain"], 0), own).argmax())
    return strain, float(own.sum() / weights.sum())


def where(stands: float) -> str:
    """What is said of a bid that does not stand in all deals, by the share in which it does."""
    return " where it stands" if stands < MOSTLY else ""


def goal(situation: Situation, option: Option) -> str:
    """The tricks that a contract needs: "five tricks", "all six tricks alone"."""
    column, t = situation.counted.column(option.action), situation.tables
    level = int(column["level"][column["declarer"] == 0][0])
    need, alone = int(t["need"][level]), bool(t["alone"][level])
    every = "all " if need == t["tricks"] else ""
    return f"{every}{number_word(need)} trick{'s' * (need > 1)}{' alone' * alone}"


def chance(option: Option) -> int:
    """Of how many deals of a hundred a contract is made."""
    return round(100 * option.made.mean) if option.made else 0


def per_hundred(option: Option, only: bool = False) -> str:
    """The same in words; after another such figure `only` so many."""
    deals = chance(option)
    if only:
        return f"only {deals}" if deals else "none"
    return deals_of(deals / 100)


def deals_of(share: float) -> str:
    """A share of deals in words."""
    return f"{round(100 * share) or 'none'} of 100 deals"


def short(option: Option) -> str:
    """A bid as a thing."""
    return f"a bid of {option.name.removeprefix('bid ')}"


def decided(situation: Situation, option: Option, strain: int) -> str:
    """Which hidden card, void or split decides whether a contract is made, and how far."""
    counted, column = situation.counted, situation.counted.column(option.action)
    own = counted.weights * (column["declarer"] == 0)
    found = cause(
        column["good"].astype(float), own, int(situation.view["unseen"]), strain, counted.hands,
        situation.tables, least=LEAST_CHANCE, alike=counted.alike,
    )  # fmt: skip
    if found is None:
        return ""
    yes, no = (round(100 * chance) or "none" for chance in (found.true, found.false))
    return f" ({yes} if {found.words}, {no} if not)"


def gained(situation: Situation, second: Option) -> str:
    """Which hidden card, void or split decides what the first option gains on another."""
    counted, view, first = situation.counted, situation.view, situation.options[0]
    best, other = (counted.column(option.action)["points"] for option in (first, second))
    strain = int(view["strain"])
    if strain < 0:
        strain = max(played(situation, first)[0], played(situation, second)[0])
    if strain < 0:
        return ""
    found = cause(
        (best - other).astype(float), counted.weights, int(view["unseen"]),
        strain, counted.hands, situation.tables, least=max(LEAST_POINTS, second.loss),
        alike=counted.alike,
    )  # fmt: skip
    if found is None:
        return ""
    return f" ({found.true:+.1f} if {found.words}, {found.false:+.1f} if not)"


def ending(situation: Situation, told: Option | None = None) -> str:
    """How far the first option is ahead of the next, in points, and what decides that.

    Nothing where that is the option that has been told of, or where another brings more points.
    """
    others = situation.options[1:]
    if not others or ahead(situation):
        return ""
    near = [option for option in others if not clearly_worse(option)]
    worse = [option for option in others if clearly_worse(option)]
    second = min(worse, key=lambda option: option.loss, default=None)
    if second is None and len(near) > 2:
        return "; nothing else is clearly better or worse"
    near = [option for option in near if option is not told]
    if len(near) > 2 or not near:
        if second is None or second is told:
            return ""
        return f"; {points(second)} more than {second.name}{gained(situation, second)}"
    alike = " and ".join(option.name for option in near)
    text = f"; {alike} {'does' if len(near) == 1 else 'do'} about as well"
    if second is None or situation.phase == Phase.AUCTION:
        return text
    return f"{text}, {second.name} loses {points(second)}{gained(situation, second)}"


def ahead(situation: Situation) -> Option | None:
    """The option that clearly brings more points than the first, if one does."""
    best, others = situation.options[0], situation.options[1:]
    most = max(others, key=lambda option: option.points.mean, default=best)
    more = most.points.mean - best.points.mean
    return most if more >= max(LEAST, 2 * most.error) else None


def verdict(situation: Situation) -> str:
    """Where the figures and the agent's choice differ: by how much, how surely, and why."""
    best, counted = situation.options[0], situation.counted
    own = next(option for option in situation.options if option.action == situation.chosen)
    if own is not best:
        wins, error = counted.behind(own.action, best.action, "wins")
        text = f"; the agent chooses {own.name} all the same, which wins {games(wins, error)}"
        return f"{text} fewer games here{because(situation, best)}"
    most = ahead(situation)
    if most is None:
        return ""
    more = f"; {most.name} brings {most.points.mean - best.points.mean:.1f} points more here"
    wins, error = counted.behind(best.action, most.action, "wins")
    if wins < 0.005:
        return f"{more}, but wins the game {'less often' if wins <= -0.005 else 'no more often'}"
    sure = "" if wins >= 2 * error else ", too little to be sure"
    return f"{more} and wins {games(wins, error)} more games{sure}{because(situation, most)}"


def because(situation: Situation, other: Option) -> str:
    """Why the agent does not do the other thing, where it goes by more than these deals."""
    learned, own = situation.learned, situation.chosen
    if own not in learned or other.action not in learned:
        return ""
    if learned[own] <= learned[other.action]:
        return ""
    name = actions.of(situation.rules).names[own]
    if situation.phase != Phase.AUCTION:
        more = learned[own] - learned[other.action]
        return f"; by what the agent has learned of cards {name} brings {more:.1f} points more"
    chances = [f"{100 * learned[action]:.0f}" for action in (own, other.action)]
    return (
        f"; by what the agent has learned of calls {name} wins {chances[0]} games of 100, "
        f"{other.name} {chances[1]}"
    )


def games(share: float, error: float) -> str:
    """A difference of chances to win with its 95 % interval: "9 ± 7 %"."""
    return f"{100 * share:.0f} ± {100 * 2 * error:.0f} %"


def clearly_worse(option: Option) -> bool:
    """Whether an option is behind by more than its standard errors may be."""
    return option.loss >= max(LEAST, 2 * option.error)


def points(option: Option) -> str:
    """The points an option is behind, in words."""
    return f"{option.loss:.1f} points"
