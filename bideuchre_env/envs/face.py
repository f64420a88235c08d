"""Common to all faces of the game: names, layout, spaces, and how an action is read."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from gymnasium import spaces

from bideuchre_env._checks import shown
from bideuchre_env.core.observation.layout import Layout, layout_of
from bideuchre_env.errors import OutOfBoundsError
from bideuchre_env.rules import actions
from bideuchre_env.rules.rules import Rules


class Face:
    """A way to play a game of these `rules`."""

    rules: Rules

    @property
    def observation_layout(self) -> Layout:
        """The blocks of an observation; prints as a table, `decode(obs)` gives words."""
        return layout_of(self.rules)

    @property
    def action_names(self) -> list[str]:
        """The name of every action, by index."""
        return list(actions.of(self.rules).names)


def row_space(rules: Rules) -> spaces.Dict:
    """The space of what one seat sees and may do."""
    layout = layout_of(rules)
    box = spaces.Box(layout.low, layout.high, dtype=np.int8)
    mask = spaces.Box(0, 1, (actions.of(rules).n,), np.int8)
    return spaces.Dict({"observation": box, "action_mask": mask})


def whole_action(action: Any, rules: Rules, who: str = "") -> int:
    """An action as a number in range; `OutOfBoundsError`, beginning with `who`, otherwise."""
    n = actions.of(rules).n
    try:
        if isinstance(action, (bool, np.bool_, np.ma.MaskedArray)):
            raise TypeError
        choice = operator.index(action)
    except TypeError:
        raise OutOfBoundsError(
            f"{who}action {shown(action)} is {type(action).__name__}; a whole number from 0 to "
            f"{n - 1} is expected"
        ) from None
    if not 0 <= choice < n:
        raise OutOfBoundsError(f"{who}action {shown(choice)} is out of range: 0 to {n - 1}")
    return choice
