"""The arguments of adapters: a game, and options of its faces."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import Any, TypeAlias

from bideuchre_env._checks import shown
from bideuchre_env.envs.registration import Variant, make
from bideuchre_env.errors import OptionError
from bideuchre_env.rules.rules import Rules

Game: TypeAlias = str | PathLike[str] | Rules | Variant
"""A variant, or what `bideuchre_env.make` makes one of."""


def variant_of(game: Game) -> Variant:
    """The variant itself, or the one of this name, file or `Rules`."""
    return game if isinstance(game, Variant) else make(game)


def with_fixed(options: Mapping[str, Any], trainer: str, **fixed: Any) -> dict[str, Any]:
    """The options with those that are `fixed`; `OptionError` for another value of one of these."""
    for name, value in fixed.items():
        chosen = options.get(name, value)
        if getattr(chosen, "value", chosen) != value:  # an enum's member, too
            raise OptionError(
                f"{name}={shown(chosen)}: for {trainer} it is {value!r}, as its trainers need it"
            )
    return {**options, **fixed}
