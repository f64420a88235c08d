"""`bideuchre check` and `bideuchre show`: verify files of game records, and print games."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from bideuchre_env._checks import printable
from bideuchre_env.cli.program import FAILED as BAD
from bideuchre_env.cli.program import USAGE, complain
from bideuchre_env.errors import OptionError

if TYPE_CHECKING:
    from rich import console

    from bideuchre_env.records.files import Line

PIPE_WIDTH = 100


def add(commands: Any) -> None:
    """Add both commands to the parser."""
    check_parser = commands.add_parser(
        "check",
        help="verify game records by replaying every hand",
        description=(
            "Replay every hand of every game and compare each stated result. The first fault of "
            "each bad line is printed as FILE:LINE: fault; the exit code is then 1."
        ),
    )
    check_parser.add_argument("files", nargs="+", metavar="FILE", help="- is standard input")
    check_parser.set_defaults(run=check)
    show_parser = commands.add_parser(
        "show",
        help="print games as a person would read them",
        description=(
            "Print the games of a file of records: in colour on a terminal, plain in a pipe. "
            "A game's number is that of its line. Broken lines are reported and skipped; the exit "
            "code is then 1."
        ),
    )
    show_parser.add_argument("file", metavar="FILE", help="- is standard input")
    show_parser.add_argument(
        "--game",
        type=int,
        action="append",
        metavar="N",
        help="only game N, from 1; may be repeated",
    )
    show_parser.add_argument("--first", type=int, metavar="K", help="only the first K games")
    show_parser.set_defaults(run=show)


def check(arguments: argparse.Namespace) -> int:
    """Verify every file; 2 if one cannot be read, else 1 if a line is bad."""
    return max([_check_file(path) for path in arguments.files])


def _check_file(path: str) -> int:
    """Print a file's faults and what is verified; the exit code for it."""
    from bideuchre_env.records.files import scan

    games = hands = bad = 0
    try:
        for line in scan(path):
            if line.record is None:
                bad += 1
                print(_fault(path, line))
            else:
                games += 1
                hands += len(line.record.hands)
    except OptionError as error:
        sys.stdout.flush()
        complain(str(error))
        return USAGE
    faults = f"{bad:,} bad line{'s' if bad != 1 else ''}" if bad else "no fault"
    print(f"{_named(path)}: {games:,} games, {hands:,} hands verified, {faults}")
    return BAD if bad else 0


def show(arguments: argparse.Namespace) -> int:
    """Print the chosen games; 1 if a line on the way is bad or a chosen game is not there."""
    for name, numbers in (("--game", arguments.game or []), ("--first", [arguments.first])):
        for number in numbers:
            if number is not None and number < 1:
                raise OptionError(f"{name} {number}: 1 or more")
    from bideuchre_env.records.render import record_view

    console = _console()
    left = set(arguments.game or [])
    shown = bad = 0
    for line in _chosen(arguments.file, left, arguments.first):
        if line.record is None:
            bad += 1
            sys.stdout.flush()
            print(_fault(arguments.file, line), file=sys.stderr)
            continue
        if shown:
            console.print()
        console.print(record_view(line.record, line.number))
        shown += 1
        left.discard(line.number)
    if left:
        missing = ", ".join(map(str, sorted(left)))
        raise OptionError(f"{_named(arguments.file)} has no readable game {missing}")
    return BAD if bad else 0


def _chosen(path: str, numbers: set[int], first: int | None) -> Iterator[Line]:
    """The lines to show; reading stops after the last of them."""
    from bideuchre_env.records.files import scan

    last = max(numbers, default=None)
    games = 0
    for line in scan(path, numbers or None):
        yield line
        games += line.record is not None
        if line.number == last or games == first:
            return


def _console() -> console.Console:
    from rich import console

    class Console(console.Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError  # which `main` deals with, for every command alike

    piped = not sys.stdout.isatty()
    return Console(width=PIPE_WIDTH if piped else None, highlight=False, soft_wrap=piped)


def _fault(path: str, line: Line) -> str:
    """A bad line as one line of text, whatever stands in it."""
    return printable(f"{_named(path)}:{line.number}: {line.error}")


def _named(path: str) -> str:
    return "<stdin>" if path == "-" else printable(path)
