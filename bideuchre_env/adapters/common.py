"""Shared by the adapters: the check for their libraries, and their arguments."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from os import PathLike
from typing import Any, TypeAlias

from bideuchre_env._checks import shown
from bideuchre_env.envs.registration import Variant, make
from bideuchre_env.errors import OptionError
from bideuchre_env.rules.rules import Rules

Game: TypeAlias = str | PathLike[str] | Rules | Variant
"""A variant, or what `bideuchre_env.make` makes one of."""


PYTHON = {"openspiel": (3, 11), "tianshou": (3, 11)}
"""Extras that install nothing on an older Python."""


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


def how_to_install(extra: str) -> str:
    """The command that installs an extra, and the Python it takes where this one is too old."""
    major, minor = PYTHON.get(extra, (0, 0))
    late = f", with Python {major}.{minor} or later" if sys.version_info < (major, minor) else ""
    return f'pip install "bideuchre_env[{extra}]"{late}'


@contextmanager
def needs(extra: str) -> Iterator[None]:
    """Around an adapter's imports: a missing library is one line that names the extra."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"bideuchre_env.adapters.{extra} needs {error.name}: {how_to_install(extra)}",
            name=error.name,
        ) from None
