"""Functions shared by the adapters: import checks, and parsing of games and options."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from os import PathLike
from typing import Any, TypeAlias

from bideuchre_env._checks import brief, is_number
from bideuchre_env._install import how_to_install
from bideuchre_env.envs.registration import Variant, make
from bideuchre_env.errors import OptionError
from bideuchre_env.rules.rules import Rules

Game: TypeAlias = str | PathLike[str] | Rules | Variant
"""A variant, or an argument from which `bideuchre_env.make` creates one."""


def variant_of(game: Game) -> Variant:
    """Return the variant; create it first from a name, a file or `Rules`."""
    return game if isinstance(game, Variant) else make(game)


def with_fixed(options: Mapping[str, Any], trainer: str, **fixed: Any) -> dict[str, Any]:
    """Return the options and the `fixed` ones; `OptionError` if an option contradicts `fixed`.

    A tuple is a choice of values, of which the first is the default.
    """
    result = dict(options)
    for name, value in fixed.items():
        allowed = value if isinstance(value, tuple) else (value,)
        chosen = options.get(name, allowed[0])
        result[name] = getattr(chosen, "value", chosen)  # also for a member of an enum
        if result[name] not in allowed:
            raise OptionError(
                f"{name}={brief(chosen)}: for {trainer} it is {' or '.join(map(repr, allowed))}, "
                "as its trainers need it"
            )
    return result


def checked_scale(reward_scale: Any) -> float:
    """Return the scale as a float; `OptionError` unless it is a positive number."""
    if not is_number(reward_scale) or reward_scale <= 0:
        raise OptionError(f"reward_scale={brief(reward_scale)}: expected a positive number")
    return float(reward_scale)


FLOATS = ("flat", "features")
"""The forms of observations that are one float32 vector."""


@contextmanager
def needs(extra: str) -> Iterator[None]:
    """Context manager for an adapter's imports, which names the extra to install.

    A missing library raises `ModuleNotFoundError` with a message of one line.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"bideuchre_env.adapters.{extra} needs {error.name}: {how_to_install(extra)}",
            name=error.name,
        ) from None
