"""What an agent is: the protocols that type checkers see, and that are checked when one is made.

An agent chooses actions from observations alone: an observation is int8 (D,), its mask int8 (A,),
1 where an action is legal. It has `act`, which chooses for one of them, or `act_rows`, which
chooses for n of them at once; `name`, what it is called, may be left out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import (
    TYPE_CHECKING,
    Any,
    Literal,
    Protocol,
    SupportsIndex,
    TypeAlias,
    runtime_checkable,
)

from bideuchre_env._checks import shown
from bideuchre_env.errors import OptionError

if TYPE_CHECKING:
    from bideuchre_env.runtime.jit import Array

GOALS = ("points", "game")


@runtime_checkable
class ActsOnce(Protocol):
    """An agent that is asked about one observation at a time."""

    def act(self, observation: Array, action_mask: Array, /) -> SupportsIndex:
        """The action for one observation, int8 (D,), and its mask, int8 (A,)."""
        ...


@runtime_checkable
class ActsOnRows(Protocol):
    """An agent that is asked about many observations at once, one a row."""

    def act_rows(self, observations: Array, action_masks: Array, /) -> Array:
        """Actions, whole numbers (n,), for observations, int8 (n, D), and masks, int8 (n, A)."""
        ...


Agent: TypeAlias = ActsOnce | ActsOnRows
"""Whoever has `act` or `act_rows`; where it has both, matches call `act_rows`."""
AgentSource: TypeAlias = str | Agent | Callable[..., Agent] | Callable[[Any, Any], SupportsIndex]
"""An agent by name, an agent, a class or function that makes one, or a function that acts: it takes
an observation and its mask, and returns an action."""
Goal: TypeAlias = Literal["points", "game"]
"""What is played for: the points of each hand, or the game."""


class CompleteAgent(ActsOnce, ActsOnRows, Protocol):
    """An agent as `make` gives it: with `act`, with `act_rows`, and with a name."""

    name: str

    def act(self, observation: Array, action_mask: Array, /) -> int:
        """The action for one observation, int8 (D,), and its mask, int8 (A,)."""
        ...


def check_goal(goal: Any) -> Goal:
    """The goal as it is; `OptionError` for anything that is none."""
    if not isinstance(goal, str) or goal not in GOALS:
        raise OptionError(f"goal={shown(goal)}: one of {', '.join(map(repr, GOALS))}")
    checked: Goal = goal  # type: ignore[assignment]
    return checked


Factory: TypeAlias = Callable[..., Any]
