"""`bideuchre variants`: the table of all variants and options, or one variant's rule sheet."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import textwrap
from typing import Any

from bideuchre_env.command_selfplay import variant_of
from bideuchre_env.errors import OptionError
from bideuchre_env.registration import variants
from bideuchre_env.rules import OPTIONS, Bid, Rules

GAP = "   "
SHEET_INDENT = " " * 10


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "variants",
        help="the table of all variants and their options, or one variant's rules",
        description="Without a name, every variant and its options; with one, its rule sheet.",
    )
    parser.add_argument("name", nargs="?", metavar="NAME", help="a variant, as barrie_v0")
    parser.add_argument(
        "--option",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="change an option of the variant named, as target=40; may be repeated",
    )
    parser.add_argument("--json", action="store_true", help="print options as one JSON object")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the table or the sheet."""
    if arguments.name is None and arguments.option:
        raise OptionError(
            "--option changes one variant: name it, as `bideuchre variants barrie_v0`"
        )
    if arguments.name is not None:
        chosen = {arguments.name: variant_of(arguments.name, arguments.option).rules}
    else:
        chosen = {name: variant.rules for name, variant in variants.items()}
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    if arguments.json:
        print(json.dumps({name: rules.to_dict() for name, rules in chosen.items()}))
    elif arguments.name is not None:
        print(f"{arguments.name}\n\n{sheet(chosen[arguments.name], width)}")
    else:
        print(table(chosen, width))
    return 0


def sheet(rules: Rules, width: int | None = None) -> str:
    """The rule sheet, its lines folded under their text where too wide."""
    lines = str(rules).splitlines()
    if width is None:
        return "\n".join(lines)
    folded = [
        textwrap.fill(line, max(width, 40), subsequent_indent=SHEET_INDENT, drop_whitespace=True)
        for line in lines
    ]
    return "\n".join(folded)


def table(games: dict[str, Rules], width: int | None = None) -> str:
    """A column a variant, a row an option; below one another, several tables, where too wide."""
    rows = [(name, [_cell(rules, name) for rules in games.values()]) for name in _row_names()]
    rows = [("", [[name] for name in games]), *rows]
    label = max(len(name) for name, _ in rows)
    widths = [max(len(line) for _, cells in rows for line in cells[i]) for i in range(len(games))]
    tables = []
    for columns in _groups(widths, None if width is None else width - label):
        lines = [
            line
            for name, cells in rows
            for line in _lines(
                name, [cells[i] for i in columns], label, [widths[i] for i in columns]
            )
        ]
        tables.append("\n".join(lines))
    return "\n\n".join(tables)


def _row_names() -> list[str]:
    after_deck = OPTIONS.index("copies") + 1
    return [*OPTIONS[:after_deck], "cards", "tricks", *OPTIONS[after_deck:]]


def _cell(rules: Rules, name: str) -> list[str]:
    """The lines of a cell: a line a lone bid, one for anything else."""
    value = getattr(rules, name)
    if name == "lone":
        return [_lone(bid) for bid in value] or ["-"]
    if name == "partnered" and value is not None:
        return [f"{value[0]} to {value[1]}"]
    return ["-" if value is None else str(value)]


def _lone(bid: Bid) -> str:
    return f"{bid.name}: {bid.value}"


def _groups(widths: list[int], room: int | None) -> list[list[int]]:
    """The columns in as few tables as fit side by side in the room; None has room for all."""
    groups: list[list[int]] = [[]]
    used = 0
    for column, width in enumerate(widths):
        needed = len(GAP) + width
        if room is not None and groups[-1] and used + needed > room:
            groups.append([])
            used = 0
        groups[-1].append(column)
        used += needed
    return groups


def _lines(name: str, cells: list[list[str]], label: int, widths: list[int]) -> list[str]:
    lines = []
    for i in range(max(map(len, cells))):
        parts = [cell[i] if i < len(cell) else "" for cell in cells]
        padded = [part.ljust(width) for part, width in zip(parts, widths, strict=True)]
        lines.append(GAP.join([(name if i == 0 else "").ljust(label), *padded]).rstrip())
    return lines
