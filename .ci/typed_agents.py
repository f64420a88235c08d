"""Custom agents for type checkers: CI runs `mypy --strict` on this file.

Expected errors are marked `type: ignore`; mypy refuses the mark on lines without an error.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bideuchre_env import agents
from bideuchre_env.agents import Agent, RowAgent
from bideuchre_env.evaluation.match import match
from bideuchre_env.evaluation.results import Result

Rows = NDArray[np.int8]
GAME = "six_card_v0"


class Once:
    """Chooses for one observation at a time."""

    def act(self, observation: Rows, action_mask: Rows) -> int:
        return int(action_mask.argmax())


class Many:
    """Chooses for rows; its arguments have other names than those of `ActsOnRows`."""

    def __init__(self, depth: int = 1) -> None:
        self.depth = depth

    def act_rows(self, seen: Rows, legal: Rows) -> NDArray[np.int64]:
        chosen: NDArray[np.int64] = legal.argmax(axis=1)
        return chosen


class Ours(RowAgent):
    """Chooses for rows that `RowAgent` has validated."""

    def choose(self, observations: Rows, action_masks: Rows) -> NDArray[np.int64]:
        chosen: NDArray[np.int64] = action_masks.argmax(axis=1)
        return chosen


class Neither:
    """Has no method of an agent."""


def matches() -> list[Result]:
    """Play matches with each kind of argument that names, is or makes an agent."""
    made: Agent = Once()
    agents.register("ours", Ours)
    return [
        match(GAME, Once(), made, boards=2),
        match(GAME, Many(), Many, boards=2),
        match(GAME, Ours, "ours", boards=2),
        match(GAME, Once, lambda rules: Many(2), boards=2),
    ]


def wrong() -> None:
    """Pass an object that is no agent."""
    match(GAME, Neither(), "rule", boards=2)  # type: ignore[arg-type]
