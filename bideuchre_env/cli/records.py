"""Verify, print and export game records: `bideuchre records`.

bideuchre help records COMMAND explains a command.

    bideuchre records check games.jsonl
    bideuchre records show games.jsonl --game 2 --analyse
    bideuchre records export games.jsonl games.parquet
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from bideuchre_env._checks import printable
from bideuchre_env._files import Output, write_file
from bideuchre_env.cli import export
from bideuchre_env.cli.options import add_rules, argument, check_agents, new_command, text_game
from bideuchre_env.cli.program import FAILED as BAD
from bideuchre_env.cli.program import USAGE, complain
from bideuchre_env.cli.progress import progress_bar
from bideuchre_env.cli.screen import AGENTS, VARIANTS
from bideuchre_env.errors import OptionError

if TYPE_CHECKING:
    from bideuchre_env.analysis import Review
    from bideuchre_env.records.files import Line
    from bideuchre_env.records.record import GameRecord
    from bideuchre_env.rules.rules import Rules

REVIEWER = "inference"
PIPE_WIDTH = 100
MOST_BAD_FIRST = 20
MOST_GAMES = 50
"""Maximum number of games in a page; each takes about 100 to 300 kB."""

_IN_FILE = "the game in FILE; only PTN text can be read as another game"

Reviewer = Callable[[int, "GameRecord"], "Review"]

_CHECK = """Verify game records by replaying every hand: `bideuchre records check`.

Replay every hand of every game and compare each stated result. The first fault of each bad line is
printed as FILE:LINE: fault; the exit code is then 1. Files .ptn and .pbn are PTN text of Trickster
Cards: each event is a game of one hand, and a fault is printed as FILE:EVENT: line N: fault.
An event with unknown hands is a position for `bideuchre advise`, and no fault. --variant or
--rules, perhaps with --option, replaces the game options of PTN text.

    bideuchre records check games.jsonl
    bideuchre records check runs/*.jsonl
    bideuchre records check hands.ptn
"""
_SHOW = """Print recorded games, or write them as a page for a browser: `bideuchre records show`.

Print the games of a file of records, in colour on a terminal; with --html write a page in one file,
to step through in a browser. The number of a game is the number of its line. Bad lines are reported
and skipped; the exit code is then 1. Files .ptn and .pbn are PTN text of Trickster Cards. There the
number of a game is that of its event, and a fault is reported as FILE:EVENT: line N: fault.

    bideuchre records show games.jsonl --first 1
    bideuchre records show games.jsonl --game 2 --hand 3 --hand 4
    bideuchre records show games.jsonl --game 2 --analyse
    bideuchre records show games.jsonl --game 2 --analyse --html game.html
"""


def add(commands: Any) -> None:
    """Add the command and its three commands to the parser."""
    parser = new_command(commands, "records", None, __doc__)
    own = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    parser = new_command(own, "check", check, _CHECK, VARIANTS)
    meaning = "game records, plain or gzip-compressed; - is standard input"
    argument(parser, "files FILE", meaning, nargs="+")
    add_rules(parser, _IN_FILE)
    parser = new_command(own, "show", show, _SHOW, VARIANTS, AGENTS)
    argument(parser, "file FILE", "game records, plain or gzip-compressed; - is standard input")
    add_rules(parser, _IN_FILE)
    meaning = "only game N, from 1; repeatable"
    argument(parser, "--game N", meaning, int, action="append")
    argument(parser, "--first K", "only the first K games", int)
    meaning = "only hand N of each game, from 1; repeatable"
    argument(parser, "--hand N", meaning, int, action="append")
    meaning = "write a replay page; FILE#hand=3&card=12 opens it at that card"
    argument(parser, "--html FILE", meaning)
    argument(parser, "--force", "overwrite the file of --html")
    argument(
        parser,
        "--analyse",
        "review each game: mistakes, judged by what the player could know, and bad luck; "
        "with --html the page marks and lists them, too",
    )
    argument(parser, "--agent A", f"with --analyse: agent that reviews (default: {REVIEWER})")
    argument(
        parser,
        "--worlds N",
        "with --analyse: sampled deals per decision (default: 200); more find smaller mistakes "
        "and take longer",
        int,
    )
    export.add(own)


def check(arguments: argparse.Namespace) -> int:
    """Verify every file; return 2 if one cannot be read, else 1 if a line is bad, else 0."""
    game = text_game(arguments, *arguments.files)
    return max([_check_file(path, game) for path in arguments.files])


def _check_file(path: str, game: tuple[str, Rules] | None) -> int:
    """Print a file's faults and the number of valid games; return its code as in `check`."""
    from bideuchre_env.records.files import scan

    games = hands = positions = bad = 0
    try:
        for line in _from_first_game(path, scan(path, game=game), fewer_pass=True):
            if line.record is not None:
                games += 1
                hands += len(line.record.hands)
            elif line.is_position:
                positions += 1
            else:
                bad += 1
                print(_fault(path, line))
    except OptionError as error:
        sys.stdout.flush()
        complain(str(error))
        return USAGE
    verified = f"{_count(games, 'game')}, {_count(hands, 'hand')} verified"
    if positions:
        verified += f", {_count(positions, 'position')} for `bideuchre advise`"
    faults = _count(bad, f"bad {_unit(path)}") if bad else "no fault"
    print(f"{_file_name(path)}: {verified}, {faults}")
    return BAD if bad else 0


def show(arguments: argparse.Namespace) -> int:
    """Print the chosen games, or write them as a page; return 1 if a line is bad, else 0.

    Raises `OptionError` if a chosen game or hand is missing.
    """
    filters = {"--game": arguments.game, "--hand": arguments.hand, "--first": [arguments.first]}
    for name, numbers in filters.items():
        for number in numbers or []:
            if number is not None and number < 1:
                raise OptionError(f"{name} {number}: expected 1 or more")
    if arguments.html is None and arguments.force:
        raise OptionError("--force: expected only with --html")
    if arguments.html is not None and arguments.hand:
        raise OptionError(
            "--hand: not with --html; the page has every hand, and FILE#hand=3 opens one"
        )
    reviewer = _reviewer(arguments)
    bad: list[Line] = []
    games = _chosen_games(arguments, bad)
    if arguments.html is not None:
        _write_page(arguments, games, reviewer)
    elif reviewer is not None:
        for count, (number, record) in enumerate(games):
            _print_review(count, number, record, reviewer)
    else:
        _print_games(games, set(arguments.hand or []))
    return BAD if bad else 0


def _chosen_games(
    arguments: argparse.Namespace, bad: list[Line]
) -> Iterator[tuple[int, GameRecord]]:
    """Yield (number, record) of the games to show; report bad lines and add them to `bad`.

    Raises `OptionError` at the end for a requested game or hand that is missing.
    """
    path, hands, name = arguments.file, set(arguments.hand or []), _file_name(arguments.file)
    games, printed, longest = set(arguments.game or []), 0, 0
    lines = _lines_to_show(path, games, arguments.first, text_game(arguments, path))
    for line in _from_first_game(path, lines):
        if line.record is None:
            bad.append(line)
            sys.stdout.flush()
            print(_fault(path, line), file=sys.stderr)
            continue
        games.discard(line.number)
        longest = max(longest, len(line.record.hands))
        if not hands or min(hands) <= len(line.record.hands):
            printed += 1
            yield line.number, line.record
    if games:
        raise OptionError(f"{name} has no readable game {_listed(games)}")
    if missing := {hand for hand in hands if hand > longest}:
        which = "it shows" if arguments.game or arguments.first else "of it"
        raise OptionError(
            f"{name}: no hand {_listed(missing)}; the longest game {which} has {longest} hands"
        )
    if not printed:
        print(f"{name}: no games", file=sys.stderr)


def _lines_to_show(
    path: str, numbers: set[int], first: int | None, game: tuple[str, Rules] | None
) -> Iterator[Line]:
    """Yield the lines with these `numbers`, all if empty, until `first` games have been read."""
    from bideuchre_env.records.files import scan

    last = max(numbers, default=None)
    games = 0
    for line in scan(path, numbers or None, game):
        yield line
        games += line.record is not None
        if line.number == last or games == first:
            return


def _print_games(games: Iterator[tuple[int, GameRecord]], hands: set[int]) -> None:
    from rich import console

    from bideuchre_env.records.render import record_view

    class Console(console.Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError  # `main` handles it for every command

    piped = not sys.stdout.isatty()
    screen = Console(width=PIPE_WIDTH if piped else None, highlight=False, soft_wrap=piped)
    for count, (number, record) in enumerate(games):
        if count:
            screen.print()
        screen.print(record_view(record, number, hands or None))


def _reviewer(arguments: argparse.Namespace) -> Reviewer | None:
    """Return a function that reviews a game, with a bar on stderr; None without --analyse.

    It takes a game's number and record. Raises `OptionError` for an unknown agent, and for options
    of a review without --analyse.
    """
    if not arguments.analyse:
        for name in ("agent", "worlds"):
            if getattr(arguments, name) is not None:
                raise OptionError(f"--{name}: expected only with --analyse")
        return None
    agent = REVIEWER if arguments.agent is None else arguments.agent
    check_agents([agent])

    def reviewed(number: int, record: GameRecord) -> Review:
        from bideuchre_env.analysis import review

        chosen = {hand - 1 for hand in arguments.hand or []}
        hands = chosen & set(range(len(record.hands))) if chosen else None
        with progress_bar(f"game {number}, by {agent}", "actions") as progress:
            return review(record, agent, worlds=arguments.worlds, hands=hands, progress=progress)

    return reviewed


def _print_review(count: int, number: int, record: GameRecord, reviewer: Reviewer) -> Review:
    """Review a game after `count` others, print the review, and return it."""
    review = reviewer(number, record)
    print("\n" * bool(count) + f"Game {number}: {review}", flush=True)
    return review


def _write_page(
    arguments: argparse.Namespace,
    games: Iterator[tuple[int, GameRecord]],
    reviewer: Reviewer | None,
) -> None:
    """Write the page of these games, and print its path.

    With a `reviewer` each review is printed, and every action is marked with its cost. The file is
    reserved before the first game is read, and is written atomically. Raises `OptionError` without
    games, for more than `MOST_GAMES`, or if the file exists (unless `--force`).
    """
    from bideuchre_env.records.page.page import replays_page

    with Output(arguments.html, overwrite=arguments.force) as output:
        numbers: list[str] = []
        records: list[Any] = []
        notes: list[Any] = []
        for number, record in games:
            if len(records) == MOST_GAMES:
                raise OptionError(
                    f"--html: expected up to {MOST_GAMES} games, and there are more: choose with "
                    "--game or --first"
                )
            numbers.append(f"game {number}")
            notes.append(reviewer and _print_review(len(records), number, record, reviewer).notes())
            records.append(record)
        if not records:
            raise OptionError("--html: the file has no such game")
        write_file(output, replays_page(records, notes, names=numbers))
    count = _count(len(records), "game")
    print(f"{printable(arguments.html)}: {count} to step through; open it in a browser")


def _from_first_game(
    path: str, lines: Iterator[Line], *, fewer_pass: bool = False
) -> Iterator[Line]:
    """Yield the lines; raise one `OptionError`, not an error per line, if there is no game.

    Reading stops if the first `MOST_BAD_FIRST` lines are bad. With `fewer_pass`, a file of fewer
    lines without a game raises no error, and a position counts as a game.
    """
    bad: list[Line] = []
    for line in lines:
        if line.record is not None or (fewer_pass and line.is_position):
            yield from (*bad, line)
            yield from lines
            return
        bad.append(line)
        if len(bad) == MOST_BAD_FIRST:
            break
    if fewer_pass and len(bad) < MOST_BAD_FIRST:
        yield from bad
    elif bad:
        unit = _unit(path)
        where = f"its first {len(bad)} {unit}s" if len(bad) > 1 else "it"
        first = f"{unit} {bad[0].number}: {bad[0].error}"
        raise OptionError(f"{_file_name(path)}: no game record in {where} ({first})")


def _unit(path: str) -> str:
    """Return the name of the part of a file with one game: "line", or "event" in PTN text."""
    from bideuchre_env.records.ptn import is_text

    return "event" if is_text(path) else "line"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'s' * (number != 1)}"


def _listed(numbers: set[int]) -> str:
    return ", ".join(map(str, sorted(numbers)))


def _fault(path: str, line: Line) -> str:
    """Return the message about a bad line, in one line of printable text."""
    return printable(f"{_file_name(path)}:{line.number}: {line.error}")


def _file_name(path: str) -> str:
    return "<stdin>" if path == "-" else printable(path)
