"""`bideuchre check` and `bideuchre show`: verify files of game records, and print games."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from bideuchre_env._checks import printable
from bideuchre_env.cli.program import FAILED as BAD
from bideuchre_env.cli.program import USAGE, complain
from bideuchre_env.cli.reviewing import Reviewer, add_review, reviewer_of
from bideuchre_env.cli.screen import AGENTS, help_of
from bideuchre_env.errors import OptionError

if TYPE_CHECKING:
    from rich import console

    from bideuchre_env.records.files import Line

PIPE_WIDTH = 100
MOST_BAD_FIRST = 20


def add(commands: Any) -> None:
    """Add both commands to the parser."""
    check_parser = commands.add_parser(
        "check",
        help="verify game records by replaying every hand",
        **help_of(
            "Replay every hand of every game and compare each stated result. The first fault of "
            "each bad line is printed as FILE:LINE: fault; the exit code is then 1.",
            ("bideuchre check games.jsonl", "bideuchre check runs/*.jsonl"),
        ),
    )
    check_parser.add_argument(
        "files", nargs="+", metavar="FILE", help="may be gzip-compressed; - is standard input"
    )
    check_parser.set_defaults(run=check)
    show_parser = commands.add_parser(
        "show",
        help="print games as a person would read them",
        **help_of(
            "Print the games of a file of records: in colour on a terminal, plain in a pipe; with "
            "--html as a page to step through, in one file for any browser. "
            "A game's number is that of its line. Broken lines are reported and skipped; the exit "
            "code is then 1.",
            (
                "bideuchre show games.jsonl --first 1",
                "bideuchre show games.jsonl --game 2 --hand 3 --hand 4",
                "bideuchre show games.jsonl --game 2 --analyse",
                "bideuchre show games.jsonl --game 2 --analyse --html game.html",
            ),
            AGENTS,
        ),
    )
    show_parser.add_argument(
        "file", metavar="FILE", help="may be gzip-compressed; - is standard input"
    )
    show_parser.add_argument(
        "--game",
        type=int,
        action="append",
        metavar="N",
        help="only game N, from 1; may be repeated",
    )
    show_parser.add_argument("--first", type=int, metavar="K", help="only the first K games")
    show_parser.add_argument(
        "--hand",
        type=int,
        action="append",
        metavar="N",
        help="only hand N of each game, from 1; may be repeated",
    )
    show_parser.add_argument(
        "--html",
        metavar="FILE",
        help="write a replay to this file; FILE#hand=3&card=12 leads to a place in it",
    )
    show_parser.add_argument(
        "--force", action="store_true", help="replace the file of --html if it exists"
    )
    add_review(show_parser)
    show_parser.set_defaults(run=show)


def check(arguments: argparse.Namespace) -> int:
    """Verify every file; 2 if one cannot be read, else 1 if a line is bad."""
    return max([_check_file(path) for path in arguments.files])


def _check_file(path: str) -> int:
    """Print a file's faults and what is verified; the exit code for it."""
    from bideuchre_env.records.files import scan

    games = hands = bad = 0
    try:
        for line in _from_first_game(path, scan(path), fewer_pass=True):
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
    faults = _count(bad, "bad line") if bad else "no fault"
    print(f"{_named(path)}: {_count(games, 'game')}, {_count(hands, 'hand')} verified, {faults}")
    return BAD if bad else 0


def show(arguments: argparse.Namespace) -> int:
    """Print the chosen games; 1 if a line on the way is bad or a chosen game is not there."""
    asked = {"--game": arguments.game, "--hand": arguments.hand, "--first": [arguments.first]}
    for name, numbers in asked.items():
        for number in numbers or []:
            if number is not None and number < 1:
                raise OptionError(f"{name} {number}: it must be 1 or more")
    if arguments.html is None and arguments.force:
        raise OptionError("--force: it goes with --html FILE")
    if arguments.html is not None and arguments.hand:
        raise OptionError("--hand: a page has every hand, and FILE#hand=3 leads to one of them")
    chosen, reviewer = _Chosen(arguments), reviewer_of(arguments)
    if arguments.html is not None:
        from bideuchre_env.cli.replay import write_replay

        print(write_replay(arguments, ((line.number, line.record) for line in chosen), reviewer))
    elif reviewer is not None:
        _print_reviews(chosen, reviewer)
    else:
        _print_games(chosen, set(arguments.hand or []))
    return BAD if chosen.bad else 0


class _Chosen:
    """The games to show, as lines; bad ones on the way are reported, and counted in `bad`.

    Raises `OptionError` in the end for a game or hand asked for that is not there.
    """

    def __init__(self, arguments: argparse.Namespace) -> None:
        self.arguments = arguments
        self.bad = 0

    def __iter__(self) -> Iterator[Line]:
        path, hands = self.arguments.file, set(self.arguments.hand or [])
        games, shown, longest = set(self.arguments.game or []), 0, 0
        for line in _from_first_game(path, _chosen(path, games, self.arguments.first)):
            if line.record is None:
                self.bad += 1
                sys.stdout.flush()
                print(_fault(path, line), file=sys.stderr)
                continue
            games.discard(line.number)
            longest = max(longest, len(line.record.hands))
            if not hands or min(hands) <= len(line.record.hands):
                shown += 1
                yield line
        _require_all(self.arguments, games, longest)
        if not shown:
            print(f"{_named(path)}: no games", file=sys.stderr)


def _print_games(chosen: _Chosen, hands: set[int]) -> None:
    from bideuchre_env.records.render import record_view

    console = _console()
    for count, line in enumerate(chosen):
        if count:
            console.print()
        assert line.record is not None
        console.print(record_view(line.record, line.number, hands or None))


def _print_reviews(chosen: _Chosen, reviewer: Reviewer) -> None:
    for count, line in enumerate(chosen):
        assert line.record is not None
        review = reviewer(line.number, line.record)
        print("\n" * bool(count) + f"Game {line.number}: {review}", flush=True)


def _require_all(arguments: argparse.Namespace, games: set[int], longest: int) -> None:
    """Raise `OptionError` for games and hands asked for that are not there."""
    name = _named(arguments.file)
    if games:
        raise OptionError(f"{name} has no readable game {_listed(games)}")
    missing = {hand for hand in arguments.hand or [] if hand > longest}
    if missing:
        which = "it shows" if arguments.game or arguments.first else "of it"
        raise OptionError(
            f"{name}: no hand {_listed(missing)}; the longest game {which} has {longest} hands"
        )


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'s' * (number != 1)}"


def _listed(numbers: set[int]) -> str:
    return ", ".join(map(str, sorted(numbers)))


def _from_first_game(
    path: str, lines: Iterator[Line], *, fewer_pass: bool = False
) -> Iterator[Line]:
    """The same lines; `OptionError`, in place of a screen of faults, where no game is among them.

    A file that begins with `MOST_BAD_FIRST` bad lines is not read to its end; one that has fewer
    lines, and no game, may pass.
    """
    bad: list[Line] = []
    for line in lines:
        if line.record is not None:
            yield from (*bad, line)
            yield from lines
            return
        bad.append(line)
        if len(bad) == MOST_BAD_FIRST:
            break
    if fewer_pass and len(bad) < MOST_BAD_FIRST:
        yield from bad
    elif bad:
        where = f"its first {len(bad)} lines" if len(bad) > 1 else "it"
        first = f"line {bad[0].number}: {bad[0].error}"
        raise OptionError(f"{_named(path)}: no game record in {where} ({first})")


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
