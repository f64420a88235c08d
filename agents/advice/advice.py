"""The result of advice: `Advice`, with one `Option` per action tried, and its text format."""

from __future__ import annotations

import textwrap
from dataclasses import asdict, dataclass
from math import inf
from typing import Any

from bideuchre_env._columns import columns
from bideuchre_env._intervals import Interval
from bideuchre_env.agents.advice.figures import NO_GAP, too_few
from bideuchre_env.agents.protocols import Goal

SHOWN = 3  # number of best options in the printed table
WIDTH = 80
LEAST = 0.05  # smaller losses, in points or percent of games, are printed as 0.0
SAFER = 0.95  # an option is safer if its deviation is less than this share of the largest
NOUNS = {"call": "call", "name the strain": "strain"}  # by `Advice.phase`; "card" in other phases


@dataclass(frozen=True)
class Option:
    """An action and its mean results over sampled deals; all options have the same deals."""

    action: int
    name: str
    """In notation: "bid 4 H", "JH"."""
    points: Interval
    """The mean points of the hand, ours minus theirs."""
    made: Interval | None
    """The chance that our contract is made or theirs is set; for a bid, the chance that it is made
    if it becomes the contract. None if no deal has such a contract."""
    wins: Interval
    """The chance to win the game."""
    tricks: float
    """The mean tricks of our side; for a bid, over the deals in which it becomes the contract (over
    all deals if it never does)."""
    deviation: float
    """The standard deviation of the points over deals."""
    behind: Interval
    """The mean of the first option's result minus this option's, paired by deal: in points if the
    advice's `goal` is "points", else as a difference of the chance to win the game."""
    loss: float
    """The mean points of the first option minus those of this option."""
    error: float
    """The standard error of `loss`, from paired deals; infinite for one deal."""
    wins_loss: float
    """The first option's chance to win the game minus that of this option."""
    wins_error: float
    """The standard error of `wins_loss`; infinite for one deal."""
    dominated: bool
    """Whether the first option is certainly as good or better: it is certain to take every trick
    left; or no deal has a better result for the goal with this option, some deals have a worse one,
    and the deals are all possible ones (`Advice.exact`) or have the same result with the first."""

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as JSON values, but `action` as the action's name, not its number.

        Intervals become dicts; infinite standard errors become None.
        """
        figures = {name: None if value == inf else value for name, value in asdict(self).items()}
        return {**figures, "action": self.name}


@dataclass(frozen=True)
class Advice:
    """An agent's choice in a position, the results of the actions tried, and an explanation."""

    seat: int
    """The seat to act. For an observation, whose seats are relative, it is 0 by default."""
    phase: str
    """The decision: "call", "name the strain", "lay away a card" (for a kitty), "give up a card",
    "pass a card" or "play"."""
    agent: str
    """The name of the agent that chose `chosen`."""
    goal: Goal
    """The agent's goal: "game" (chance to win the game) or "points" (points of the hand). It sets
    the order of the options and the unit of `Option.behind`."""
    chosen: int
    """The action that the agent chooses."""
    legal: int
    """The number of legal actions. `options` has only the actions that were tried."""
    options: tuple[Option, ...]
    """The actions that were tried, by mean result for the goal, best first. An action that is
    certain to take every trick left precedes all others; in a review, `chosen` comes first."""
    drawn: int
    """The number of deals in which every option was tried."""
    worlds: int
    """The number of different deals; likely deals are drawn, and count, more than once."""
    effective: float
    """The effective sample size: small if a few deals have most of the weight."""
    exact: bool
    """Whether all possible deals were tried, so that the results have no sampling error."""
    unexplained: tuple[int, ...]
    """The seats whose calls are unlikely with every hand in the deals."""
    why: str
    """The explanation, one sentence."""

    @property
    def best(self) -> Option:
        """The first option; those in `close` may be as good."""
        return self.options[0]

    @property
    def choice(self) -> Option:
        """The option of the agent's choice, `chosen`."""
        return self.option(self.chosen)

    @property
    def close(self) -> tuple[Option, ...]:
        """The options after the first that are neither significantly worse nor dominated."""
        return tuple(
            each
            for each in self.options[1:]
            if not (each.dominated or clearly_behind(each, self.goal))
        )

    @property
    def few(self) -> bool:
        """Whether the deals are too few to compare (`too_few`); the text then has no figures."""
        return too_few(self.exact, self.effective)

    @property
    def safer(self) -> Option | None:
        """The option whose points vary least (`deviation`) of the first option and `close`.

        None unless its deviation is below `SAFER` times the highest, and for goal "game", where
        points say nothing about the risk.
        """
        if self.goal != "points" or self.few:
            return None
        first, *others = sorted((self.best, *self.close), key=lambda option: option.deviation)
        varies_less = others and first.deviation < SAFER * others[-1].deviation
        return first if varies_less else None

    @property
    def tie(self) -> str:
        """The reason why the options in `close` are not worse than the first, in words."""
        if self.few:
            return "too few likely deals to compare"
        equal = all(option.behind == NO_GAP for option in self.close)
        return "equally good" if equal else "too close to call"

    @property
    def headline(self) -> str:
        """Text that names the seat to act, the agent's choice and the best options.

        It ends with the seats whose calls are `unexplained`, if there are any.
        """
        if not self.unexplained:
            return self._summary
        seats = " and ".join(f"seat {seat}" for seat in self.unexplained)
        return (
            f"{self._summary} The calls of {seats} are unlikely with every hand in the deals tried."
        )

    @property
    def _summary(self) -> str:
        """The headline without its last sentence.

        Best options are the first one and those in `close`, unless the deals are too `few` to tell
        them apart. If only one action is legal, the text has only the seat and the choice.
        """
        text = f"Seat {self.seat} is to {self.phase}. {self.agent} chooses {self.choice.name}"
        if self.legal == 1:
            return f"{text}."
        near = [option.name for option in (self.best, *self.close)]
        if self.few and not all(option.dominated for option in self.options[1:]):
            return f"{text}. {self.tie.capitalize()}: effective sample size {self.effective:,.0f}."
        if len(near) == 1:
            if self.choice is self.best:
                return f"{text}, the best."
            how = "better" if self.choice.behind.mean > 0.0 else "certain to be as good"
            return f"{text}, but {near[0]} is {how}."
        text += f". {self.tie.capitalize()}"
        if len(near) > SHOWN + 1:
            near[SHOWN:] = [f"{len(near) - SHOWN} more"]
        text += f": {', '.join(near[:-1])} or {near[-1]}"
        if self.safer is None:
            return f"{text}."
        return f"{text}; {self.safer.name} is the {'safer' if len(near) == 2 else 'safest'}."

    def option(self, action: int) -> Option:
        """Return the option of an action; raise `KeyError` if the action was not tried."""
        for option in self.options:
            if option.action == action:
                return option
        raise KeyError(action)

    def to_dict(self) -> dict[str, Any]:
        """Return a dict of JSON values: all fields, `choice`, `close`, `few`, `safer`, `headline`.

        `choice`, `close` and `safer` are names of actions; each option is `Option.to_dict()`.
        """
        return {
            **vars(self),
            "choice": self.choice.name,
            "close": [option.name for option in self.close],
            "few": self.few,
            "safer": self.safer.name if self.safer else None,
            "headline": self.headline,
            "unexplained": list(self.unexplained),
            "options": [option.to_dict() for option in self.options],
        }

    def __str__(self) -> str:
        return self.text()

    def text(self, width: int = WIDTH, also: tuple[int, ...] = ()) -> str:
        """Format the headline, the best options as a table, and the explanation.

        There is no table if the deals are too `few`.

        Args:
            width: maximum line length of the headline and the explanation, in characters.
            also: actions that get a row in the table even if they are not among the best.
                The agent's choice always gets one.
        """
        deals = f"{self.drawn:,} deal{'s' * (self.drawn != 1)}"
        if self.exact:
            deals = f"all {self.worlds:,} possible deals" if self.worlds > 1 else "the only deal"
        elif self.worlds < self.drawn:
            deals += f" ({self.worlds:,} different)"
        if not self.exact and round(self.effective) < self.worlds:
            deals += f", effective sample size {self.effective:,.0f}"
        tried = f"{len(self.options)} of {self.legal} legal {NOUNS.get(self.phase, 'card')}s"
        unit = "points" if self.goal == "points" else "games won"
        order = f"{tried} tried in {deals}; best first by {unit}:"
        head = f"{self.headline} {order if self.legal > 1 else f'In {deals}:'}"
        head = textwrap.fill(self.headline if self.few else head, width, break_on_hyphens=False)
        table = [] if self.few else [columns(self.table((self.chosen, *also)), "lrrrr")]
        return "\n\n".join([head, *table, textwrap.fill(self.why, width, break_on_hyphens=False)])

    def table(self, also: tuple[int, ...] = ()) -> list[list[str]]:
        """Return the table as rows of cells: column titles, then one row per option.

        The rows are the first `SHOWN` options, and later options whose actions are in `also`. The
        columns are the name, the result for the goal, the loss against the first option, and the
        other results.
        """
        rows = list(self.options[:SHOWN])
        rows += [option for option in self.options[SHOWN:] if option.action in also]
        titles = ["", "points", "behind", "made or set", "wins the game"]
        lines = [titles, *(self._cells(option) for option in rows)]
        if self.goal == "points":
            return lines
        return [[line[0], line[4], line[2], line[1], line[3]] for line in lines]

    def _cells(self, option: Option) -> list[str]:
        """Return an option's row of the table, with the columns in the order for goal "points".

        Only the name is not blank if the deals are too `few`.
        """
        if self.few:
            return [option.name, "", "", "", ""]
        return [
            option.name,
            format_points(option.points, "+"),
            "" if option is self.best else format_gap(option.behind, self.goal),
            "" if option.made is None else percent(option.made),
            percent(option.wins),
        ]


def clearly_behind(option: Option, goal: Goal) -> bool:
    """Whether an option is significantly worse than the first, and by a mean of `LEAST` or more.

    Significantly: the 95 % interval of `behind` is above 0. `LEAST` is in points, or for goal
    "game" in percent of games.
    """
    least = LEAST if goal == "points" else LEAST / 100
    low = option.behind.low
    return low is not None and low > 0.0 and option.behind.mean >= least


def amount(option: Option, goal: Goal) -> str:
    """Format an option's loss: "1.2 points", or for goal "game" "1.2 points and 1.5 % of games".

    For goal "game" a loss in points below `LEAST` is left out.
    """
    points = f"{option.loss:.1f} points"
    if goal == "points":
        return points
    games = f"{100 * option.wins_loss:.1f} % of games"
    return f"{points} and {games}" if option.loss >= LEAST else games


def format_points(interval: Interval, sign: str = "") -> str:
    """Format mean points with half the interval's width: "1.2 ±0.4"; with sign "+", "+1.2 ±0.4"."""
    return f"{round(interval.mean, 1) + 0.0:{sign}.1f}" + spread(interval.half, ".1f")


def format_gap(gap: Interval, goal: Goal) -> str:
    """Format a loss against the first option: "1.2 ±0.4" (points), or "1.5 % ±0.4" (of games)."""
    if goal == "points":
        return format_points(gap)
    return f"{round(100 * gap.mean, 1) + 0.0:.1f} %" + spread(100 * gap.half, ".1f")


def percent(interval: Interval) -> str:
    """Format a chance with half the width of its interval: "45 % ±3"."""
    return f"{100 * interval.mean:.0f} %" + spread(100 * interval.half, ".0f")


def spread(half: float, form: str) -> str:
    """Format half the width of an interval with format spec `form`: " ±0.4"; "" if infinite."""
    return "" if half == inf else f" ±{half:{form}}"
