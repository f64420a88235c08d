"""Options of several commands: which game is played, by which rules."""

from __future__ import annotations

import argparse
import json
from typing import Any

from bideuchre_env.envs.registration import Variant, make, variants
from bideuchre_env.errors import OptionError


def add_rules(parser: argparse.ArgumentParser) -> None:
    """Add the options that say which game is played."""
    parser.add_argument(
        "--variant", default="cincinnati_v0", metavar="V", help="the game (default: %(default)s)"
    )
    parser.add_argument(
        "--option",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="change an option of its rules, as target=40; may be repeated",
    )


def add_game(parser: argparse.ArgumentParser) -> None:
    """Add the options that say which game is dealt, and from which seed."""
    add_rules(parser)
    parser.add_argument(
        "--seed", type=int, default=0, metavar="S", help="same seed, same deals (default: 0)"
    )


def variant_of(name: str, options: list[str]) -> Variant:
    """The variant of a name and NAME=VALUE options; values are JSON, or else plain words."""
    if name not in variants:
        raise OptionError(f"no variant {name!r}: the variants are {', '.join(variants)}")
    values: dict[str, Any] = {}
    for option in options:
        key, equals, text = option.partition("=")
        if not equals or not key:
            raise OptionError(f"--option {option!r}: NAME=VALUE, as target=40")
        try:
            values[key] = json.loads(text)
        except (ValueError, RecursionError):  # no JSON, or more of it than Python reads
            values[key] = text
    return make(name, **values)


def check_agents(names: list[str]) -> None:
    """Raise `OptionError` for a name that is no agent's; its options are checked when it plays."""
    from bideuchre_env.agents import parse

    for name in names:
        parse(name)
