"""`bideuchre show --html`: games as a page to step through."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from typing import Any

from bideuchre_env._checks import printable
from bideuchre_env._files import Output, write_file
from bideuchre_env.cli.reviewing import Reviewer
from bideuchre_env.errors import OptionError

MOST_GAMES = 50
"""In one page: a game is some 100 to 300 kB of it."""


def write_replay(
    arguments: argparse.Namespace, games: Iterable[tuple[int, Any]], reviewer: Reviewer | None
) -> str:
    """Write the page of these games, by their numbers; a line that says so.

    With a `reviewer` every action is marked with what it gave away.
    The file is reserved before a game is read, and takes its place whole.
    """
    from bideuchre_env.records.page.page import replays_page

    with Output(arguments.html, overwrite=arguments.force) as output:
        numbers: list[str] = []
        records: list[Any] = []
        notes: list[Any] = []
        for number, record in games:
            if len(records) == MOST_GAMES:
                raise OptionError(
                    f"--html: a page has up to {MOST_GAMES} games, and there are more: choose some "
                    "with --game or --first"
                )
            numbers.append(f"game {number}")
            records.append(record)
            notes.append(None if reviewer is None else reviewer(number, record).notes())
        if not records:
            raise OptionError("--html: there is no game to show")
        write_file(output, replays_page(records, notes, names=numbers))
    count = f"{len(records)} game{'s' * (len(records) != 1)}"
    return f"{printable(arguments.html)}: {count} to step through; open it in a browser"
