"""Explanations of actions: one sentence from the hand and the outcomes in sampled deals.

`why` composes the sentence; most other functions format one of its clauses. A clause states a fact
about the position, or a result of an option.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np

from bideuchre_env.agents.advice.advice import (
    LEAST,
    NOUNS,
    Option,
    amount,
    clearly_behind,
    format_gap,
)
from bideuchre_env.agents.advice.figures import (
    LEAST_CHANCE,
    LEAST_GAIN,
    Counted,
    KeyCards,
    key_cards,
)
from bideuchre_env.agents.advice.words import (
    card_words,
    give_words,
    holding,
    number_word,
    pass_words,
)
from bideuchre_env.agents.protocols import Goal
from bideuchre_env.core.records import View
from bideuchre_env.core.state import Phase
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.rules import actions
from bideuchre_env.rules.cards import COPY_SHIFT, STRAIN_WORDS, hand_kinds
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.jit import Array

# shares of the deals in which a bid becomes the contract
RARELY = 0.2  # below this share the chance to make the bid is not mentioned
MOSTLY = 0.9  # below this share "where it stands" is added


@dataclass(frozen=True)
class Situation:
    """A position of the seat to act, the results of the actions tried, and the agent's choice."""

    rules: Rules
    seat: int
    """The seat number to report; `view` and the outcomes have relative seats, 0 the seat to act."""
    to_do: str
    """The decision in words, one of the values of `Advice.phase`, such as "call" or "play"."""
    view: View
    """The view of the seat to act, a record of `VIEW`."""
    mask: Array
    """The legal actions, int8 (A,)."""
    certain: int
    """An action that is certain to take every trick left, or -1."""
    counted: Counted
    """The outcomes of the actions that were tried, by world."""
    chosen: int
    """The action that the agent chooses."""
    learned: dict[int, float]
    """Learned priors by action, if the agent uses them: chances to win the game for calls, points
    up to a constant for cards."""
    goal: Goal
    """The agent's goal: "game" or "points"."""
    doubt: float = 0.0
    """Doubt about how the callers bid: the standard error of a mean result that more deals do not
    reduce, in standard deviations of the result over deals."""
    unexplained: tuple[int, ...] = ()
    """The seats whose calls are unlikely with every hand in the deals."""
    options: tuple[Option, ...] = ()
    """The actions that were tried, best first, with mean results; losses are relative to the first.
    Empty until `Advisor.advice` fills it in."""

    @property
    def best(self) -> Option:
        """The first option, with which the others are compared."""
        return self.options[0]

    @property
    def tables(self) -> Any:
        """The compiled tables of the rules, one record."""
        return compile_tables(self.rules)[0]

    @property
    def kinds(self) -> list[int]:
        """The kinds of the cards in hand; a kind held twice is listed twice."""
        return hand_kinds(int(self.view["held"]) | int(self.view["held_pair"]) << COPY_SHIFT)

    @property
    def phase(self) -> Phase:
        """The phase of the hand."""
        return Phase(int(self.view["phase"]))

    def option(self, action: int) -> Option:
        """Return the option of an action that was tried."""
        return next(option for option in self.options if option.action == action)


def why(situation: Situation, taken: int | None = None) -> str:
    """Return one sentence that explains an action by its effect and by comparison with others.

    Without enough deals for chances it has only the effect.

    It explains the action `taken`. If that is None, it explains the agent's choice, or the first
    option if the choice is clearly behind it.
    """
    best, option = situation.best, situation.option(situation.chosen if taken is None else taken)
    if situation.mask.sum() == 1:
        text = f"the only legal {NOUNS.get(situation.to_do, 'card')}"
    elif best.action == situation.certain and taken in (None, situation.certain):
        takes = "takes every trick"
        if situation.phase == Phase.PLAY:
            takes = "and the cards led after it take every trick left"
        text = f"{best.name} {takes}, whatever the others hold{verdict(situation)}"
    elif situation.counted.few:
        text = plain_words(situation, option)
    elif taken is not None and option is not best:
        text = f"{action_words(situation, option)}{loss_words(situation, option)}"
    else:
        option = best if clearly_behind(option, situation.goal) else option
        text = f"{action_words(situation, option)}{lead(situation)}{verdict(situation)}"
    return f"{text[0].upper()}{text[1:]}."


def plain_words(situation: Situation, option: Option) -> str:
    """Return a clause on an action without chances: a card's effect, or the hand in its strain."""
    if situation.phase > Phase.NAMING:
        return action_words(situation, option)
    strain = option.action - actions.of(situation.rules).trump_offset
    if situation.phase == Phase.AUCTION:
        bids = (each for each in (option, *situation.options) if each.action > 0)
        strain = next((contract_strain(situation, each)[0] for each in bids), -1)
    return option.name if strain < 0 else holding(situation.kinds, strain, situation.tables)


def action_words(situation: Situation, option: Option) -> str:
    """Return a clause on the action itself: a call's or strain's chance, or a card's effect."""
    if situation.phase == Phase.AUCTION:
        return call_words(situation, option)
    if situation.phase == Phase.NAMING:
        return strain_words(situation, option)
    first, kinds, t = actions.of(situation.rules).card_offset, situation.kinds, situation.tables
    if situation.phase == Phase.PLAY:
        legal = [int(action) - first for action in np.flatnonzero(situation.mask)]
        return card_words(option.action - first, legal, kinds, situation.view, t)
    words = give_words if situation.phase == Phase.GIVING else pass_words
    return words(option.action - first, kinds, int(situation.view["strain"]), t)


def call_words(situation: Situation, option: Option) -> str:
    """Explain a bid by the hand and the chance to make it; a pass by the chance of the best bid."""
    first, passes = option is situation.best, option.action == 0
    bid = next((each for each in situation.options if each.action > 0), None) if passes else option
    if bid is None:
        return "no bid is worth trying"
    strain, stands = contract_strain(situation, bid)
    if not stands:
        return f"{option.name}: others bid on over {bid.name} in every deal"
    head = "" if situation.mask[0] else "a pass is not allowed, and the hand has "
    head = "a pass with " if passes and not first else head
    hand = f"{head}{holding(situation.kinds, strain, situation.tables)}"
    if stands < RARELY:
        return f"{hand}: others bid on over {bid.name} in {deals_of(1 - stands)}"
    takes = goal(situation, bid) if first else f"{bid.name} needs {goal(situation, bid)}, made"
    takes = f"{short(bid)} would be made" if passes else takes
    stand = " where it stands" if stands < MOSTLY else ""
    text = f"{hand}: {takes} in {per_hundred(bid)}{stand}{contract_key(situation, bid)}"
    higher = None if passes else next_bid(situation, bid)
    if higher is None:
        return text
    text += f", {short(higher)} in {per_hundred(higher, only=True)}"
    return text + contract_key(situation, higher)


def next_bid(situation: Situation, bid: Option) -> Option | None:
    """Return the next higher bid in the same strain, if it is made less often and has a worse mean.

    None otherwise, and if it was not tried or rarely becomes the contract.
    """
    t = compile_tables(situation.rules)[0]
    levels, strains = t["call_levels"], t["call_strains"]
    level, same = levels[bid.action] + 1, (-1, strains[bid.action])
    higher = next(
        (
            option
            for option in situation.options
            if levels[option.action] == level and strains[option.action] in same
        ),
        None,
    )
    if higher is None or chance(higher) >= chance(bid):
        return None
    if higher.behind.mean <= bid.behind.mean:
        return None
    return higher if contract_strain(situation, higher)[1] >= RARELY else None


def strain_words(situation: Situation, option: Option) -> str:
    """Explain a strain by its chance to make the contract, compared with another strain.

    The first option is compared with the second, any other option with the first.
    """
    first = option is situation.best
    other = situation.options[1] if first else situation.best
    offset = actions.of(situation.rules).trump_offset
    hand = holding(situation.kinds, option.action - offset, situation.tables)
    head = "" if first else f"{with_strain(option.action - offset)}, "
    text = f"{head}{hand}: {goal(situation, option)} in {per_hundred(option)}"
    text += contract_key(situation, option)
    if chance(option) == chance(other):
        return text
    only = chance(other) < chance(option)
    return f"{text}, {with_strain(other.action - offset)} in {per_hundred(other, only)}"


def with_strain(strain: int) -> str:
    """Format a strain with its preposition: "with hearts", "at no trump"."""
    word = STRAIN_WORDS[strain]
    return f"at {word}" if "no trump" in word else f"with {word}"


def contract_strain(situation: Situation, option: Option) -> tuple[int, float]:
    """Return the usual strain of a bid, and the share of deals where the bid becomes the contract.

    The strain is the most frequent one in these deals; (-1, 0.0) if there are none. The option may
    also be the naming of a strain.
    """
    column, weights = situation.counted.column(option.action), situation.counted.weights
    own = weights * (column["declarer"] == 0)
    if not own.any():
        return -1, 0.0
    strain = int(np.bincount(np.maximum(column["strain"], 0), own).argmax())
    return strain, float(own.sum() / weights.sum())


def goal(situation: Situation, option: Option) -> str:
    """Format the tricks that a bid or strain must take: "five tricks", "all six tricks alone".

    The seat to act must become declarer in at least one deal.
    """
    column, t = situation.counted.column(option.action), situation.tables
    level = int(column["level"][column["declarer"] == 0][0])
    need, alone = int(t["need"][level]), bool(t["alone"][level])
    every = "all " if need == t["tricks"] else ""
    return f"{every}{number_word(need)} trick{'s' * (need > 1)}{' alone' * alone}"


def chance(option: Option) -> int:
    """Return an option's chance `made` in percent, rounded; 0 if it is None."""
    return round(100 * option.made.mean) if option.made else 0


def per_hundred(option: Option, only: bool = False) -> str:
    """Format an option's `chance`: "37 of 100 deals"; with `only`, "only 37", or "none" for 0."""
    deals = chance(option)
    if only:
        return f"only {deals}" if deals else "none"
    return deals_of(deals / 100)


def deals_of(share: float) -> str:
    """Format a share from 0 to 1: "37 of 100 deals"; "none of 100 deals" if it rounds to 0."""
    return f"{round(100 * share) or 'none'} of 100 deals"


def short(option: Option) -> str:
    """Format a bid as a noun: "a bid of 4 H"."""
    return f"a bid of {option.name.removeprefix('bid ')}"


def contract_key(situation: Situation, option: Option) -> str:
    """Format the condition on hidden cards that most affects whether a bid or strain is made.

    The result has the chances in percent: " (60 if partner has AC, 20 if not)". It is "" if no
    condition matters enough (`key_cards`).
    """
    counted, column = situation.counted, situation.counted.column(option.action)
    own, strain = counted.weights * (column["declarer"] == 0), contract_strain(situation, option)[0]
    reason = key_cards(
        column["good"].astype(float), own, int(situation.view["unseen"]), strain, counted.hands,
        situation.tables, least=LEAST_CHANCE, design_effect=counted.design_effect,
    )  # fmt: skip
    if reason is None:
        return ""
    yes, no = (round(100 * chance) or "none" for chance in (reason.true, reason.false))
    return f" ({yes} if {reason.words}, {no} if not)"


def loss_key(situation: Situation, option: Option, subject: Option) -> KeyCards | None:
    """Return the condition on hidden cards that most affects an option's loss against the first.

    The loss is in points, or for goal "game" in percent of games. The condition is on the cards in
    the strain of `subject`, the one of the two options that is explained, or of the other option if
    `subject` leads to no contract. None if no condition matters enough (`key_cards`), or if neither
    option has a strain.
    """
    counted, view, best = situation.counted, situation.view, situation.best
    strain = int(view["strain"])
    if situation.phase <= Phase.NAMING:  # the strain of the view is that of the standing bid
        strains = [contract_strain(situation, each)[0] for each in (subject, best, option)]
        strain = next((each for each in strains if each >= 0), -1)
    if strain < 0:
        return None
    figure, scale = ("points", 1.0) if situation.goal == "points" else ("wins", 100.0)
    gains = scale * counted.differences(option.action, best.action, figure)
    return key_cards(
        gains, counted.weights, int(view["unseen"]), strain, counted.hands, situation.tables,
        least=max(LEAST_GAIN, scale * option.behind.mean), design_effect=counted.design_effect,
    )  # fmt: skip


def if_not(situation: Situation, reason: KeyCards) -> str:
    """Format a result of `loss_key`: "1.5 if partner has AC, 0.2 if not"; with "%" for games."""
    unit = "" if situation.goal == "points" else " %"
    yes, no = (f"{round(gain, 1) + 0.0:.1f}{unit}" for gain in (reason.true, reason.false))
    return f"{yes} if {reason.words}, {no} if not"


def lead(situation: Situation) -> str:
    """Return a clause on how much the first option gains over the best one clearly behind it.

    It includes the condition of `loss_key`. "" if no option is clearly behind.
    """
    goal, others = situation.goal, situation.options[1:]
    second = next((option for option in others if clearly_behind(option, goal)), None)
    if second is None:
        return ""
    reason = loss_key(situation, second, situation.best if second is others[0] else second)
    decides = f" ({if_not(situation, reason)})" if reason else ""
    if second is not others[0]:
        return f"; {second.name} loses {amount(second, goal)}{decides}"
    text = f"; {amount(second, goal)} more than {second.name}{decides}"
    if second.loss <= -max(LEAST, 2 * second.error):
        text += f", which brings {-second.loss:.1f} points more"
    return text


def loss_words(situation: Situation, option: Option) -> str:
    """Return a clause on the tricks that a card loses against the first option, and `loss_key`.

    Tricks are left out for calls and strains. The result is "" unless the option is clearly behind
    the first; it may be "" even then.
    """
    if not clearly_behind(option, situation.goal):
        return ""
    best, reason = situation.best, loss_key(situation, option, option)
    fewer, text = best.tricks - option.tricks, ""
    if situation.phase > Phase.NAMING and fewer >= LEAST:
        text = f"; it takes {fewer:.1f} tricks fewer than {best.name}"
    return text if reason is None else f"{text}; {best.name} gains {if_not(situation, reason)}"


def verdict(situation: Situation) -> str:
    """Return a clause on how far the agent's choice is behind the first option, and why.

    "" if the choice is the first option; it may be "" if the choice is not clearly behind.
    """
    best, own = situation.best, situation.option(situation.chosen)
    if own is best:
        return ""
    text = ""
    if clearly_behind(own, situation.goal):
        behind = format_gap(own.behind, situation.goal)
        text = f"; the agent chooses {own.name} all the same, which is {behind} behind here"
    return f"{text}{because(situation, best)}"


def because(situation: Situation, other: Option) -> str:
    """Return a clause that explains the agent's choice over another option by its learned values.

    "" unless the learned value of the choice is higher.
    """
    learned, own = situation.learned, situation.chosen
    if learned.get(own, -inf) <= learned.get(other.action, inf):
        return ""
    name = actions.of(situation.rules).names[own]
    if situation.phase != Phase.AUCTION:
        more = learned[own] - learned[other.action]
        text = f"; by what the agent has learned of cards {name} brings {more:.1f} points more"
        return f"{text} than {other.name}"
    chances = [f"{100 * learned[action]:.0f}" for action in (own, other.action)]
    return (
        f"; by what the agent has learned of calls {name} wins {chances[0]} games of 100, "
        f"{other.name} {chances[1]}"
    )
