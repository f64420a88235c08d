"""Agents of somebody's own as type checkers see them: CI runs `mypy --strict` on this file.

What is wrong is marked `type: ignore`, which mypy refuses where nothing is wrong.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import bideuchre_env
from bideuchre_env import agents
from bideuchre_env.agents import Agent, RowAgent
from bideuchre_env.evaluation import match, selfplay
from bideuchre_env.evaluation.results import Result

Rows = NDArray[np.int8]
GAME = "six_card_v0"


class Once:
    """Chooses for one observation at a time."""

    def act(self, observation: Rows, action_mask: Rows) -> int:
        """The first legal action."""
        return int(action_mask.argmax())


class Many:
    """Chooses for rows of them; its arguments have names of their own."""

    def __init__(self, depth: int = 1) -> None:
        self.depth = depth

    def act_rows(self, seen: Rows, legal: Rows) -> NDArray[np.int64]:
        """The first legal actions."""
        chosen: NDArray[np.int64] = legal.argmax(axis=1)
        return chosen


class Ours(RowAgent):
    """Has the checks of the package's agents."""

    def choose(self, observations: Rows, action_masks: Rows) -> NDArray[np.int64]:
        """The first legal actions."""
        chosen: NDArray[np.int64] = action_masks.argmax(axis=1)
        return chosen


class Neither:
    """No agent."""

    def choose(self, observation: Rows) -> int:
        """No method of an agent."""
        return 0


def matches() -> list[Result]:
    """Every way to give an agent."""
    made: Agent = Once()
    agents.register("ours", Ours)
    return [
        match.play(GAME, Once(), made, boards=2),
        match.play(GAME, Many(), Many, boards=2),
        match.play(GAME, Ours, "ours", boards=2),
        selfplay.play(GAME, Once, lambda rules: Many(2), boards=2),
    ]


def wrong() -> None:
    """What is no agent."""
    match.play(GAME, Neither(), "rule", boards=2)  # type: ignore[arg-type]


def complete() -> tuple[str, int]:
    """What is made has a name, and chooses for one observation."""
    rules = bideuchre_env.make(GAME).rules
    agent = agents.agent_of(Many, rules)
    return agent.name, agent.act(np.zeros(3, np.int8), np.ones(3, np.int8))
