"""Options of several commands: which game is played, by which rules."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from bideuchre_env._checks import shown, unknown_options
from bideuchre_env.envs.registration import Variant, make
from bideuchre_env.errors import OptionError
from bideuchre_env.rules.options import OPTIONS, from_text

DEFAULT_GAME = "cincinnati_v0"


def add_rules(parser: argparse.ArgumentParser, default: str | None = DEFAULT_GAME) -> None:
    """Add the options that say which game is played; `game_of` reads them.

    Where that goes by what is given, `default` is None: `variant` then says if it was.
    """
    game = parser.add_mutually_exclusive_group()
    game.add_argument(
        "--variant", default=default, metavar="V", help=f"the game (default: {DEFAULT_GAME})"
    )
    game.add_argument(
        "--rules",
        metavar="FILE",
        help="rules of your own, a TOML file: `bideuchre variants --toml V` prints one to change",
    )
    add_option(parser)


def add_option(parser: argparse.ArgumentParser) -> None:
    """Add the option that changes the rules of the game; see `variant_of`."""
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


def add_workers(parser: argparse.ArgumentParser) -> None:
    """Add the options that say who plays a match; see `workers_of`."""
    parser.add_argument(
        "--workers", type=int, default=1, metavar="K", help="play in K processes; same results"
    )
    parser.add_argument(
        "--ray",
        action="store_true",
        help="play on Ray: on the cluster this machine is a node of, or on Ray started here",
    )
    parser.add_argument(
        "--ray-address", metavar="HOST:PORT", help="play on the Ray cluster of this address"
    )


def game_of(arguments: argparse.Namespace) -> Variant:
    """The game that the options of `add_rules` name."""
    file = arguments.rules
    named = arguments.variant or DEFAULT_GAME
    return variant_of(named if file is None else Path(file), arguments.option)


def variant_of(game: str | Path, options: list[str]) -> Variant:
    """The game of a name or file, changed by NAME=VALUE options; see `from_text` for values."""
    values: dict[str, Any] = {}
    for option in options:
        key, equals, text = option.partition("=")
        if not equals or not key:
            raise OptionError(f"--option {shown(option)}: NAME=VALUE, as target=40")
        if unknown := unknown_options([key], OPTIONS):
            raise OptionError(unknown)
        values[key] = from_text(key, text)
    return make(game, **values)


def check_agents(names: list[str]) -> None:
    """Raise `OptionError` for a name that is no agent's; its options are checked when it plays."""
    from bideuchre_env.agents import parse

    for name in names:
        parse(name)
