"""Common to all faces of the game: names, layout, spaces, and how an action is read."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from itertools import chain, repeat
from typing import Any, TypeAlias

import numpy as np
from gymnasium import spaces

from bideuchre_env._checks import shown
from bideuchre_env.core.legality import legal_names
from bideuchre_env.core.observation.layout import Layout, layout_of
from bideuchre_env.envs.options import Episode, ObservationKind, Reward
from bideuchre_env.errors import NotationError, OutOfBoundsError
from bideuchre_env.rules import actions
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.jit import Array

Observation: TypeAlias = Any
"""What is seen: by `observation` a dict of two arrays, or one array."""


_CUT = 32  # arrays out of one: whoever keeps one of them keeps the memory of all


class Face:
    """A way to play a game of these `rules`."""

    rules: Rules
    episode: Episode
    """"game" or "hand": what an episode is."""
    reward: Reward
    """"win" or "points": what is rewarded."""
    observation: ObservationKind
    """"dict" or "flat": how observations are given."""

    @property
    def observation_layout(self) -> Layout:
        """The blocks of an observation; prints as a table, `decode(obs)` gives words."""
        return layout_of(self.rules)

    @property
    def action_names(self) -> list[str]:
        """The name of every action, by index."""
        return list(actions.of(self.rules).names)


def fresh_rows(width: int) -> Iterator[Array]:
    """New arrays, int8 (width,), without end: cut out of larger ones, in half the time of others.

    What is in them is still to be written.
    """
    return chain.from_iterable(map(np.empty, repeat((_CUT, width)), repeat(np.int8)))


def row_space(rules: Rules, observation: str = "dict") -> spaces.Space[Any]:
    """The space of what one seat sees and, but for a "flat" `observation`, may do."""
    layout = layout_of(rules)
    if observation == "flat":
        return spaces.Box(-1.0, 1.0, (layout.size,), np.float32)
    box = spaces.Box(layout.low, layout.high, dtype=np.int8)
    mask = spaces.Box(0, 1, (actions.of(rules).n,), np.int8)
    return spaces.Dict({"observation": box, "action_mask": mask})


def whole_action(action: Any, rules: Rules, who: str = "", states: Array | None = None) -> int:
    """An action as a number in range; `OutOfBoundsError`, beginning with `who`, otherwise.

    With `states`, of which row 0 is asked what is legal, it may be an action's name.
    """
    n = actions.of(rules).n
    try:
        if isinstance(action, (bool, np.bool_, np.ma.MaskedArray)):
            raise TypeError
        choice = operator.index(action)
    except TypeError:
        if states is not None and isinstance(action, str):
            return named_action(action, rules, who, states)
        raise OutOfBoundsError(
            f"{who}action {shown(action)} is {type(action).__name__}; a whole number from 0 to "
            f"{n - 1} is expected"
        ) from None
    if not 0 <= choice < n:
        raise OutOfBoundsError(f"{who}action {shown(choice)} is out of range: 0 to {n - 1}")
    return choice


def named_action(name: str, rules: Rules, who: str, states: Array) -> int:
    """The number of an action, as `Actions.parse` reads its name.

    For what is no action, an `OutOfBoundsError` that says what is legal in row 0 of `states`.
    """
    acts = actions.of(rules)
    try:
        return acts.parse(name)
    except NotationError:
        legal = ", ".join(map(repr, legal_names(states[0], rules)))
        raise OutOfBoundsError(f"{who}{acts.no_action(name)}; legal: {legal}") from None
