"""Shared by all environment classes: names, layout, spaces, and parsing of actions."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from itertools import chain, repeat
from typing import Any, TypeAlias, TypeVar

import numpy as np
from gymnasium import spaces

from bideuchre_env._checks import brief
from bideuchre_env.core.legality import legal_names
from bideuchre_env.core.observation.layout import Layout, layout_of
from bideuchre_env.core.tables import most_points_ahead
from bideuchre_env.envs.options import Episode, ObservationKind, Reward
from bideuchre_env.errors import NotationError, OptionError, OutOfBoundsError
from bideuchre_env.learning.encoder import FeatureEncoder, encoder_of
from bideuchre_env.rules import actions
from bideuchre_env.rules.cards import AGENT_NAMES
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.jit import Array

Observation: TypeAlias = Any
"""A dict of two arrays, or one array, depending on the option `observation`."""
T = TypeVar("T")

_CUT = 32  # arrays that share one allocation; keeping one of them keeps all


class Face:
    """The attributes that all environment classes share."""

    rules: Rules
    episode: Episode
    """The length of an episode: "game" or "hand"."""
    reward: Reward
    """The kind of reward: "win" or "points"."""
    observation: ObservationKind
    """The form of observations: "dict", "flat" or "features"."""

    @property
    def observation_layout(self) -> Layout:
        """The blocks of int8 and flat observations, as a table; `decode(obs)` returns words."""
        return layout_of(self.rules)

    @property
    def features(self) -> FeatureEncoder:
        """The inputs of `observation="features"`; prints as a table, and converts actions."""
        return encoder_of(self.rules)

    @property
    def action_names(self) -> list[str]:
        """The name of every action, by index."""
        return list(actions.of(self.rules).names)


def fresh_rows(width: int) -> Iterator[Array]:
    """Yield new uninitialised arrays, int8 (width,), endlessly.

    They are views of larger arrays, which takes half the time of separate allocations.
    """
    return chain.from_iterable(map(np.empty, repeat((_CUT, width)), repeat(np.int8)))


def row_space(rules: Rules, observation: str = "dict") -> spaces.Space[Any]:
    """The observation space of one seat: a dict with the mask, or a box of float32."""
    layout = layout_of(rules)
    if observation != "dict":
        size = layout.size if observation == "flat" else encoder_of(rules).size
        return spaces.Box(-1.0, 1.0, (size,), np.float32)
    box = spaces.Box(layout.low, layout.high, dtype=np.int8)
    mask = spaces.Box(0, 1, (actions.of(rules).n,), np.int8)
    return spaces.Dict({"observation": box, "action_mask": mask})


def default_illegal_reward(rules: Rules, episode: Episode, reward: Reward) -> float:
    """Return the reward of an illegal action: minus an upper bound of the loss of an episode.

    With any higher reward, a policy without a mask can learn to quit rather than to lose.
    """
    if reward == "win":
        return -1.0
    hands = 1 if episode == "hand" else rules.hands_to_play or rules.max_hands
    return -float(hands * most_points_ahead(rules))


def whole_action(action: Any, rules: Rules, who: str = "", states: Array | None = None) -> int:
    """Return an action as a number from 0 to A - 1; its legality is not checked.

    Raises `OutOfBoundsError`, whose message begins with `who`, for any other value. With `states`,
    an action's name is accepted too; for an unknown name the message lists row 0's legal actions.
    """
    acts = actions.of(rules)
    try:
        if isinstance(action, (bool, np.bool_, np.ma.MaskedArray)):
            raise TypeError
        choice = operator.index(action)
    except TypeError:
        if states is None or not isinstance(action, str):
            raise OutOfBoundsError(
                f"{who}action {brief(action)} is {type(action).__name__}: expected a whole number "
                f"from 0 to {acts.n - 1}"
            ) from None
        try:
            return acts.parse(action)
        except NotationError:
            legal = ", ".join(map(repr, legal_names(states[0], rules)))
            raise OutOfBoundsError(f"{who}{acts.no_action(action)}; legal: {legal}") from None
    if not 0 <= choice < acts.n:
        raise OutOfBoundsError(f"{who}action {brief(choice)} is out of range: 0 to {acts.n - 1}")
    return choice


def item_of(by_agent: dict[str, T], agent: Any) -> T:
    """Return the value of an agent; `OptionError` for another name."""
    try:
        return by_agent[agent]
    except (KeyError, TypeError):
        raise OptionError(
            f"agent={brief(agent)}: expected one of {', '.join(AGENT_NAMES)}"
        ) from None
