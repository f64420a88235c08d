"""What scripts that compare agents share: who can play a game, which rules, figures in words."""

from __future__ import annotations

import sys

import bideuchre_env
from bideuchre_env.agents.learned.shipped import shipped_weights
from bideuchre_env.errors import OptionError

LEARNED = ("net", "ppo")  # agents that need weights for the game


def with_weights(agents: tuple[str, ...], game: bideuchre_env.Variant) -> list[str]:
    """The agents without those that have no weights for a game; a line on stderr names these."""
    found = []
    for agent in agents:
        name, options = bideuchre_env.agents.parse(agent)
        try:
            if name in LEARNED and "weights" not in options:
                shipped_weights(name, game.rules)
            found.append(agent)
        except OptionError:
            told = f"{game.name}: {agent} is left out: no weights for this game"
            print(told, file=sys.stderr)
    return found


def around(given: dict[str, float | None] | None, sign: str = "") -> str:
    """A mean and half its interval, to three decimals; the mean alone, or nothing, if need be.

    `sign` is "+" for a difference.
    """
    if given is None or given["mean"] is None:
        return ""
    if given["low"] is None or given["high"] is None:
        return f"{given['mean']:{sign}.3f}"
    return f"{given['mean']:{sign}.3f} ± {(given['high'] - given['low']) / 2:.3f}"
