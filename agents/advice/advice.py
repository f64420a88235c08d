"""The result of advice: options with their results, best first, and an explanation."""

from __future__ import annotations

import textwrap
from dataclasses import asdict, dataclass
from math import inf
from typing import Any

from bideuchre_env._columns import columns
from bideuchre_env._intervals import Interval
from bideuchre_env.agents.advice.figures import NO_GAP
from bideuchre_env.agents.protocols import Goal

SHOWN = 3  # options that are printed
WIDTH = 80
LEAST = 0.05  # points, or percent of games: less is printed as 0.0
SAFER = 0.95  # the safer option has less than this share of the largest deviation
NOUNS = {"call": "call", "name the strain": "strain"}  # by phase; "card" in other phases


@dataclass(frozen=True)
class Option:
    """An action and its results, over the same deals as all options of an advice."""

    action: int
    name: str
    """In notation: "bid 4 H", "JH"."""
    points: Interval
    """The points of the hand, ours minus theirs."""
    made: Interval | None
    """The chance that our contract is made or theirs is set; for a bid, the chance that it is made
    if it becomes the contract. None if no deal has such a contract."""
    wins: Interval
    """The chance to win the game."""
    tricks: float
    """The mean tricks of our side; for a bid, if it becomes the contract."""
    deviation: float
    """The standard deviation of the points over deals."""
    behind: Interval
    """The expected loss against the first option, paired by deal, in the unit of the advice's goal:
    points, or chances to win the game."""
    loss: float
    """The expected points behind the first option; negative if ahead."""
    error: float
    """The standard error of `loss`, from paired deals; infinite for one deal."""
    wins_loss: float
    """The chance to win the game behind the first option; negative if ahead."""
    wins_error: float
    """The standard error of `wins_loss`."""

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values: `action` is the name, too; infinite standard errors become None."""
        figures = {name: None if value == inf else value for name, value in asdict(self).items()}
        return {**figures, "action": self.name}


@dataclass(frozen=True)
class Advice:
    """An agent's choice in a position, the results of every option, and an explanation."""

    seat: int
    """The advised seat; 0 for an observation, which counts seats from its own."""
    phase: str
    """The decision: "call", "name the strain", "give up a card", "pass a card" or "play"."""
    agent: str
    goal: Goal
    """The agent's goal, "game" or "points": the order of the options, and the unit of their
    differences."""
    chosen: int
    """The agent's own choice."""
    legal: int
    """The number of legal actions; `options` has the actions that were tried."""
    options: tuple[Option, ...]
    """The options by their mean for the goal, best first."""
    drawn: int
    """The number of deals in which all options were tried."""
    worlds: int
    """The number of different deals; likely deals are drawn, and count, more than once."""
    effective: float
    """The effective sample size: small if a few deals have most of the weight."""
    why: str
    """One sentence."""

    @property
    def best(self) -> Option:
        """The first option; the options of `close` may be equally good."""
        return self.options[0]

    @property
    def choice(self) -> Option:
        """The agent's own choice."""
        return self.option(self.chosen)

    @property
    def close(self) -> tuple[Option, ...]:
        """The options that are not significantly behind the first: too close to call."""
        return tuple(each for each in self.options[1:] if not clearly_behind(each, self.goal))

    @property
    def safer(self) -> Option | None:
        """The option with the lowest deviation, of the first option and `close`.

        None if `close` is empty, or if all deviations are similar.
        """
        first, *others = sorted((self.best, *self.close), key=lambda option: option.deviation)
        varies_less = others and first.deviation < SAFER * others[-1].deviation
        return first if varies_less else None

    @property
    def headline(self) -> str:
        """The seat to act, the agent's choice, and the best option, or those too close to call."""
        text = f"Seat {self.seat} is to {self.phase}. {self.agent} chooses {self.choice.name}"
        if self.legal == 1:
            return f"{text}."
        near = [option.name for option in (self.best, *self.close)]
        if len(near) == 1:
            own = self.choice is self.best
            return f"{text}, {'the best' if own else f'but {near[0]} is better'}."
        equal = all(option.behind == NO_GAP for option in self.close)
        text += ". Equally good" if equal else ". Too close to call"
        if len(near) > SHOWN + 1:
            near[SHOWN:] = [f"{len(near) - SHOWN} more"]
        text += f": {', '.join(near[:-1])} or {near[-1]}"
        if self.safer is None:
            return f"{text}."
        return f"{text}; {self.safer.name} is the {'safer' if len(near) == 2 else 'safest'}."

    def option(self, action: int) -> Option:
        """Return the option of an action; `KeyError` if the action was not tried."""
        for option in self.options:
            if option.action == action:
                return option
        raise KeyError(action)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as a JSON object."""
        return {
            **vars(self),
            "choice": self.choice.name,
            "close": [option.name for option in self.close],
            "safer": self.safer.name if self.safer else None,
            "headline": self.headline,
            "options": [option.to_dict() for option in self.options],
        }

    def __str__(self) -> str:
        return self.text()

    def text(self, width: int = WIDTH, also: tuple[int, ...] = ()) -> str:
        """Format the headline, the best options as a table, and the explanation.

        Args:
            width: columns of the headline and the explanation.
            also: actions that always have a row, like the agent's choice.
        """
        deals = f"{self.drawn:,} deal{'s' * (self.drawn != 1)}"
        if self.worlds < self.drawn:
            deals += f" ({self.worlds:,} different)"
        if round(self.effective) < self.worlds:
            deals += f", effective sample size {self.effective:,.0f}"
        tried = f"{len(self.options)} of {self.legal} legal {NOUNS.get(self.phase, 'card')}s"
        unit = "points" if self.goal == "points" else "games won"
        order = f"{tried} tried in {deals}; best first by {unit}:"
        head = f"{self.headline} {order if self.legal > 1 else f'In {deals}:'}"
        return "\n\n".join(
            (
                textwrap.fill(head, width, break_on_hyphens=False),
                columns(self.table((self.chosen, *also)), "lrrrr"),
                textwrap.fill(self.why, width, break_on_hyphens=False),
            )
        )

    def table(self, also: tuple[int, ...] = ()) -> list[list[str]]:
        """Return cells: titles, the `SHOWN` best options, and any others of the actions `also`.

        The goal's figure comes first, followed by the distance to the first option.
        """
        rows = list(self.options[:SHOWN])
        rows += [option for option in self.options[SHOWN:] if option.action in also]
        titles = ["", "points", "behind", "made or set", "wins the game"]
        lines = [titles, *(self._cells(option) for option in rows)]
        if self.goal == "points":
            return lines
        return [[line[0], line[4], line[2], line[1], line[3]] for line in lines]

    def _cells(self, option: Option) -> list[str]:
        return [
            option.name,
            format_points(option.points, "+"),
            "" if option is self.best else format_gap(option.behind, self.goal),
            "" if option.made is None else percent(option.made),
            percent(option.wins),
        ]


def clearly_behind(option: Option, goal: Goal) -> bool:
    """Whether an option is significantly behind the first, by more than is printed as 0.0."""
    least = LEAST if goal == "points" else LEAST / 100
    low = option.behind.low
    return low is not None and low > 0.0 and option.behind.mean >= least


def amount(option: Option, goal: Goal) -> str:
    """Format an option's loss: "1.2 points", "1.2 points and 1.5 % of games"."""
    points = f"{option.loss:.1f} points"
    if goal == "points":
        return points
    games = f"{100 * option.wins_loss:.1f} % of games"
    return f"{points} and {games}" if option.loss >= LEAST else games


def format_points(interval: Interval, sign: str = "") -> str:
    """Format points with half the width of their interval: "1.2 ±0.4"."""
    return f"{round(interval.mean, 1) + 0.0:{sign}.1f}" + spread(interval.half, ".1f")


def format_gap(gap: Interval, goal: Goal) -> str:
    """Format the distance to the first option: "1.2 ±0.4" points, or "1.5 % ±0.4" of games."""
    if goal == "points":
        return format_points(gap)
    return f"{round(100 * gap.mean, 1) + 0.0:.1f} %" + spread(100 * gap.half, ".1f")


def percent(interval: Interval) -> str:
    """Format a chance with half the width of its interval: "45 % ±3"."""
    return f"{100 * interval.mean:.0f} %" + spread(100 * interval.half, ".0f")


def spread(half: float, form: str) -> str:
    """Format half a width: " ±0.4"; empty if it is infinite."""
    return "" if half == inf else f" ±{half:{form}}"
