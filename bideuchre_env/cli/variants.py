"""List the variants with their options, or print the rules of one: `bideuchre variants`.

Without NAME, list every variant with its options; with NAME, print its rule sheet. Other commands
take a game as --variant V or --rules FILE.

    bideuchre variants
    bideuchre variants barrie_v0 --option target=40
    bideuchre variants --toml barrie_v0 > farm.toml
    bideuchre variants farm.toml
"""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from bideuchre_env._columns import GAP, columns
from bideuchre_env.cli.options import add_option, argument, new_command, variant_of
from bideuchre_env.cli.screen import VARIANTS, folded, width
from bideuchre_env.envs.registration import variants
from bideuchre_env.errors import OptionError
from bideuchre_env.rules.options import OPTIONS
from bideuchre_env.rules.rules import Rules

SHEET_INDENT = " " * 10


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = new_command(commands, "variants", run, __doc__, VARIANTS)
    argument(parser, "name NAME", "variant, as barrie_v0, or a .toml file of rules", nargs="?")
    add_option(parser)
    form = parser.add_mutually_exclusive_group()
    argument(form, "--json", "print the options as one JSON object")
    argument(form, "--toml", "print the rules as a TOML file, a template for --rules")


def run(arguments: argparse.Namespace) -> int:
    """Print a table of all variants, or the rule sheet of one; or JSON, or its TOML; return 0."""
    for option in ("option", "toml"):
        if arguments.name is None and getattr(arguments, option):
            raise OptionError(f"--{option}: expected with NAME, as `bideuchre variants barrie_v0`")
    if arguments.name is not None:
        game = variant_of(arguments.name, arguments.option)
        chosen = {game.name: game.rules}
    else:
        chosen = {name: variant.rules for name, variant in variants.items()}
    on_screen = sys.stdout.isatty()
    if arguments.json:
        print(json.dumps({name: rules.to_dict() for name, rules in chosen.items()}))
    elif arguments.toml:
        print(game.rules.to_toml(), end="")
    elif arguments.name is not None:
        print(f"{game.name}\n\n{sheet(game.rules, on_screen)}")
    else:
        print(table(chosen, width() if on_screen else None))
    return 0


def sheet(rules: Rules, on_screen: bool = False) -> str:
    """Return the rule sheet; on a screen, long lines are wrapped with a hanging indent."""
    lines = str(rules).splitlines()
    if not on_screen:
        return "\n".join(lines)
    whole: list[str] = []
    for line in lines:
        if whole and line.startswith(SHEET_INDENT) and whole[-1][-1] not in ".)":
            whole[-1] += f" {line.strip()}"  # continues the sentence
        else:
            whole.append(line)
    return "\n".join(folded(line, SHEET_INDENT) for line in whole)


def table(games: dict[str, Rules], width: int | None = None) -> str:
    """Format a table with a column per variant and a row per option.

    It is split into tables of at most `width` characters; None does not split it.
    """
    names = _row_names()
    cells = {game: [game, *(_cell(rules, name) for name in names)] for game, rules in games.items()}
    labels = ["", *names]
    return "\n\n".join(
        columns(zip(labels, *(cells[game] for game in group), strict=True), "l" * (1 + len(group)))
        for group in _groups(cells, None if width is None else width - max(map(len, names)))
    )


def _row_names() -> list[str]:
    after_deck = OPTIONS.index("copies") + 1
    return [*OPTIONS[:after_deck], "cards", "tricks", *OPTIONS[after_deck:]]


def _cell(rules: Rules, name: str) -> str:
    """Return the text of a cell: one line, or a line for each lone bid."""
    value = getattr(rules, name)
    if name == "lone":
        return "\n".join(f"{bid.name}: {bid.value}" for bid in value) or "-"
    if name == "partnered" and value is not None:
        return f"{value[0]} to {value[1]}"
    return "-" if value is None else str(value)


def _groups(cells: dict[str, list[str]], width: int | None) -> list[list[str]]:
    """Split the games into as few tables as fit the width; into one if it is None."""
    groups: list[list[str]] = [[]]
    used = 0
    for game, column in cells.items():
        needed = GAP + max(len(line) for cell in column for line in cell.splitlines())
        if width is not None and groups[-1] and used + needed > width:
            groups.append([])
            used = 0
        groups[-1].append(game)
        used += needed
    return groups
