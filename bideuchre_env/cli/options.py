"""Functions that declare commands and options, and the options that several commands share."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bideuchre_env._checks import brief, unknown_options
from bideuchre_env.cli.screen import help_of
from bideuchre_env.envs.registration import Variant, make
from bideuchre_env.errors import OptionError
from bideuchre_env.rules.options import OPTIONS, from_text

if TYPE_CHECKING:
    from bideuchre_env.rules.rules import Rules

DEFAULT_GAME = "cincinnati_v0"


def new_command(
    commands: Any,
    name: str,
    run: Callable[[argparse.Namespace], int] | None,
    doc: str | None,
    *names: str,
) -> argparse.ArgumentParser:
    """Add a command, which calls `run`, to the subparsers `commands`; return its parser.

    `run` is None for a command that has commands itself.

    The first line of `doc` is its purpose; a description and indented examples follow. `names` are
    the kinds of names that `help_of` lists.
    """
    first, *rest = str(doc).splitlines()
    purpose = first.partition(": `")[0]
    description = "\n".join(line for line in rest if not line.startswith("    "))
    examples = [line.strip() for line in rest if line.startswith("    ")]
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=purpose[:1].lower() + purpose[1:],
        **help_of(description or purpose, examples, *names),
    )
    if run is not None:
        parser.set_defaults(run=run, parser=parser)
    return parser


def argument(
    parser: Any, spelling: str, meaning: str, kind: Any = str, default: Any = None, **more: Any
) -> None:
    """Add an option (`--games N`), a flag (`--force`) or a positional argument (`a A`).

    `--sprt LOW HIGH` takes two values. `kind` converts a value from text. A default is appended to
    the meaning. `more` is passed to `add_argument`.
    """
    name, *values = spelling.split()
    if not values and "choices" not in more:
        parser.add_argument(name, action="store_true", help=meaning, **more)
        return
    if len(values) > 1:
        more |= {"nargs": len(values), "metavar": tuple(values)}
    elif values:
        more["metavar"] = values[0]
    if kind is str and values and values[0] in ("FILE", "FOLDER", "OUT"):
        kind = _path
    if default not in (None, []):
        words = " ".join(map(str, default)) if isinstance(default, list) else default
        meaning += f" (default: {words})"
    parser.add_argument(name, type=kind, default=default, help=meaning, **more)


def _path(text: str) -> str:
    """Return the path of an argument; an empty one, as of an unset variable, is an error."""
    if not text:
        raise argparse.ArgumentTypeError("expected a path, not ''")
    return text


def add_rules(parser: argparse.ArgumentParser, default: str = DEFAULT_GAME) -> None:
    """Add the options for the rules of the game; `game_of` or `text_game` reads them."""
    game = parser.add_mutually_exclusive_group()
    argument(game, "--variant V", f"variant of the game (default: {default})")
    meaning = "custom rules, a TOML file; `bideuchre variants --toml V` prints a template"
    argument(game, "--rules FILE", meaning)
    add_option(parser)


def add_option(parser: argparse.ArgumentParser) -> None:
    """Add the option that changes the rules of the game; see `variant_of`."""
    meaning = "change an option of the rules, as target=40; repeatable"
    argument(parser, "--option NAME=VALUE", meaning, action="append", default=[])


def add_seed(parser: argparse.ArgumentParser) -> None:
    """Add the option for the seed of the deals."""
    argument(parser, "--seed S", "random seed of the deals", int, 0)


def add_workers(parser: argparse.ArgumentParser) -> None:
    """Add the options for the processes of a match; see `workers_of`."""
    argument(parser, "--workers K", "number of processes; the results do not depend on it", int, 1)
    argument(parser, "--ray", "run on Ray: join the cluster of this machine, or start Ray here")
    argument(parser, "--ray-address HOST:PORT", "run on the Ray cluster at this address")


def game_of(arguments: argparse.Namespace) -> Variant:
    """Return the game that the options of `add_rules` select; errors as `variant_of`."""
    file = arguments.rules
    variant = DEFAULT_GAME if arguments.variant is None else arguments.variant
    return variant_of(variant if file is None else Path(file), arguments.option)


def text_game(arguments: argparse.Namespace, *paths: str) -> tuple[str, Rules] | None:
    """Return the name and rules that the options of `add_rules` select for files of PTN text.

    None without these options. Raises `OptionError` for a file of records, which has its rules, and
    for `--option` without `--variant` or `--rules`; other errors as `variant_of`.
    """
    from bideuchre_env.records.ptn import is_text

    for name in ("variant", "rules", "option"):
        if getattr(arguments, name) not in (None, []) and not all(map(is_text, paths)):
            raise OptionError(f"--{name}: not with FILE, whose record has the rules")
    if arguments.variant is None and arguments.rules is None:
        if arguments.option:
            value = brief(arguments.option[0])
            raise OptionError(f"--option {value}: expected --variant or --rules with it")
        return None
    game = game_of(arguments)
    return game.name, game.rules


def variant_of(game: str | Path, options: list[str]) -> Variant:
    """Return a game by name or file, with NAME=VALUE options applied; values as `from_text`.

    Raises `OptionError` for an unknown game or option, `RulesError` for invalid rules.
    """
    values: dict[str, Any] = {}
    for option in options:
        key, equals, text = option.partition("=")
        if not equals or not key:
            raise OptionError(f"--option {brief(option)}: expected NAME=VALUE, as target=40")
        if unknown := unknown_options([key], OPTIONS):
            raise OptionError(unknown)
        values[key] = from_text(key, text)
    return make(game, **values)


def check_agents(names: list[str]) -> None:
    """Raise `OptionError` for an unknown agent; its options are checked when it is made."""
    from bideuchre_env.agents import parse

    for name in names:
        parse(name)
