"""The advice itself: options with their figures, best first, and a sentence that says why."""

from __future__ import annotations

import math
import textwrap
from dataclasses import dataclass
from typing import Any

from bideuchre_env._columns import columns
from bideuchre_env._intervals import Interval

SHOWN = 3  # options that are printed
WIDTH = 80


@dataclass(frozen=True)
class Option:
    """One action and what it comes to, over the same deals as every other of its advice."""

    action: int
    name: str
    """In notation: "bid 4 H", "JH"."""
    points: Interval
    """The points of the hand, ours minus theirs."""
    made: Interval | None
    """The chance that our contract is made, or theirs is set; of a bid, the chance that it is made
    where it becomes the contract. None where nobody ever plays one."""
    wins: Interval
    """The chance to win the game."""
    tricks: float
    """The tricks our side takes; of a bid, where it becomes the contract."""
    loss: float
    """The expected points behind the best option; 0.0 for that, and where there are more."""
    error: float
    """The standard error of that difference, which is taken deal by deal; infinite of one deal."""
    wins_loss: float
    """The chance to win the game behind the best option; 0.0 for that, and where it is higher."""
    wins_error: float
    """The standard error of that."""

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers; None for what is not known."""
        return {
            "action": self.name,
            "points": self.points.to_dict(),
            "made": self.made.to_dict() if self.made else None,
            "wins": self.wins.to_dict(),
            "tricks": self.tricks,
            "loss": self.loss,
            "error": self.error if math.isfinite(self.error) else None,
        }


@dataclass(frozen=True)
class Advice:
    """What an agent would do in a position, how every option does, and why."""

    seat: int
    """Who is advised; 0 where an observation was given, which counts seats from its own."""
    phase: str
    """What is to be done: "call", "name the strain", "give up a card", "pass a card", "play"."""
    agent: str
    chosen: int
    """What the agent itself would do."""
    options: tuple[Option, ...]
    """The best first, by what they are worth in these deals. The agent's own choice is taken for
    the best unless another is better by two standard errors."""
    drawn: int
    """The deals that all options were tried in."""
    worlds: int
    """How many of them are different: a likely one is drawn, and counts, more than once."""
    effective: float
    """As many deals that all count alike would tell as much: few where a few weigh the most."""
    why: str
    """One sentence."""

    @property
    def best(self) -> Option:
        """The best by what was counted; where that is not sure, the agent's own choice."""
        return self.options[0]

    @property
    def choice(self) -> Option:
        """The agent's own choice."""
        return self.option(self.chosen)

    def option(self, action: int) -> Option:
        """The option of an action; `KeyError` for one that was not tried."""
        for option in self.options:
            if option.action == action:
                return option
        raise KeyError(action)

    def to_dict(self) -> dict[str, Any]:
        """Everything as a JSON object."""
        return {
            "seat": self.seat,
            "phase": self.phase,
            "agent": self.agent,
            "choice": self.choice.name,
            "drawn": self.drawn,
            "worlds": self.worlds,
            "effective": self.effective,
            "why": self.why,
            "options": [option.to_dict() for option in self.options],
        }

    def __str__(self) -> str:
        return self.text()

    def text(self, width: int = WIDTH, also: tuple[int, ...] = ()) -> str:
        """The best options as a table, and why, in so many columns.

        The agent's choice and actions `also` have a row in any case.
        """
        asked = (self.chosen, *also)
        rows = list(self.options[:SHOWN])
        rows += [option for option in self.options[SHOWN:] if option.action in asked]
        deals = f"{self.drawn:,} deal{'s' * (self.drawn != 1)}"
        if self.worlds < self.drawn:
            deals += f", {self.worlds:,} of them different"
        if round(self.effective) < self.worlds:
            deals += f", that tell as much as {self.effective:,.0f} alike"
        head = (
            f"Seat {self.seat} is to {self.phase}. {self.agent} chooses {self.choice.name}. "
            f"The best first, by {deals}:"
        )
        title = ["", "points", "made or set", "wins the game", "behind"]
        lines = [title, *(row_of(option, self.best) for option in rows)]
        return "\n\n".join(
            (
                textwrap.fill(head, width, break_on_hyphens=False),
                columns(lines, "lrrrr"),
                textwrap.fill(self.why, width, break_on_hyphens=False),
            )
        )


def row_of(option: Option, best: Option) -> list[str]:
    """The cells of an option; with more points than the best it is behind by -2.3."""
    behind = f"{best.points.mean - option.points.mean:.1f}" + spread(option.error * 2, ".1f")
    behind = "" if option is best else behind.replace("-0.0", "0.0")
    made = "" if option.made is None else percent(option.made)
    points = f"{option.points.mean:+.1f}" + spread(option.points.half, ".1f")
    return [option.name, points, made, percent(option.wins), behind]


def percent(interval: Interval) -> str:
    """A chance with half the width of its interval."""
    return f"{100 * interval.mean:.0f} %" + spread(100 * interval.half, ".0f")


def spread(half: float, form: str) -> str:
    """ " ±0.4", or nothing where it is not known."""
    return f" ±{half:{form}}" if math.isfinite(half) else ""
