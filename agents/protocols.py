"""Protocols of agents, for type checkers and for checks at run time, and metadata of agents.

An agent chooses actions from observations alone: an observation is int8 (D,), its mask int8 (A,),
1 for each legal action. An agent has `act`, for one observation, or `act_rows`, for a batch. Its
`name` is optional.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import (
    TYPE_CHECKING,
    Any,
    Literal,
    Protocol,
    SupportsIndex,
    TypeAlias,
    runtime_checkable,
)

from bideuchre_env._checks import brief, is_integer
from bideuchre_env.errors import OptionError

if TYPE_CHECKING:
    from bideuchre_env.runtime.jit import Array

GOALS = ("points", "game")


@runtime_checkable
class ActsOnce(Protocol):
    """An agent that acts on one observation at a time."""

    def act(self, observation: Array, action_mask: Array, /) -> SupportsIndex:
        """Return the action for one observation, int8 (D,), and its mask, int8 (A,)."""
        ...


@runtime_checkable
class ActsOnRows(Protocol):
    """An agent that acts on a batch of observations, one per row."""

    def act_rows(self, observations: Array, action_masks: Array, /) -> Array:
        """Return actions, integers (n,), for observations, int8 (n, D), and masks, int8 (n, A)."""
        ...


Agent: TypeAlias = ActsOnce | ActsOnRows
"""An object with `act` or `act_rows`; matches call `act_rows` if it has both."""
AgentSource: TypeAlias = str | Agent | Callable[..., Agent] | Callable[[Any, Any], SupportsIndex]
"""The name of an agent, an agent, a factory, or a function `(observation, mask) -> action`. Of
`rules`, `seed` and `goal`, a factory gets those that are among its parameters."""
Goal: TypeAlias = Literal["points", "game"]
"""Objective: the points of each hand, or winning the game."""
Factory: TypeAlias = Callable[..., Any]
"""A class or function `factory(rules, *, seed=None, goal=None, **options) -> agent`. Each of these
parameters is optional."""


class CompleteAgent(ActsOnce, ActsOnRows, Protocol):
    """An agent as `make` returns it, with all of `act`, `act_rows` and `name`."""

    name: str

    def act(self, observation: Array, action_mask: Array, /) -> int:
        """Return the action for one observation, int8 (D,), and its mask, int8 (A,)."""
        ...


@dataclass(frozen=True)
class AgentInfo:
    """Metadata of a class of agents, as its attribute `info`; subclasses do not inherit it.

    `options` are the options that can be written in a name, with their meanings; `milliseconds` is
    the processor time of a decision in Cincinnati (see the tables of `experiments/README.md`).
    """

    description: str
    options: Mapping[str, str] = field(default_factory=dict)
    milliseconds: float | None = None


GOAL_OPTION = {"goal": "objective: points of a hand, or game; matches set it by default"}
WEIGHTS_OPTION = {"weights": "file of weights (default: those of the package)"}


def check_range(option: str, value: Any, low: int, high: int) -> int:
    """Return an option's value; `OptionError` unless it is a whole number from `low` to `high`."""
    if not is_integer(value) or not low <= value <= high:
        raise OptionError(f"{option}={brief(value)}: expected a whole number from {low} to {high}")
    return int(value)


def check_number(
    option: str, value: Any, low: float, high: float, unit: str = "a number "
) -> float:
    """Return an option's value as a float; `OptionError` unless it is from `low` to `high`.

    The value must be an int or a float. `unit` is the text before the range in the error, such as
    "points ".
    """
    if type(value) not in (int, float) or not low <= value <= high:
        raise OptionError(f"{option}={brief(value)}: expected {unit}from {low} to {high}")
    return float(value)


def check_goal(goal: Any) -> Goal:
    """Return the goal; raise `OptionError` unless it is one of `GOALS`."""
    if not isinstance(goal, str) or goal not in GOALS:
        raise OptionError(f"goal={brief(goal)}: expected one of {', '.join(map(repr, GOALS))}")
    checked: Goal = goal  # type: ignore[assignment]
    return checked
