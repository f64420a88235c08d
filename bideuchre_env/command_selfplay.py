"""`bideuchre selfplay`: two agents against each other on duplicate deals."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from bideuchre_env.errors import OptionError
from bideuchre_env.registration import Variant, make, variants

if TYPE_CHECKING:
    from rich.progress import Task
    from rich.text import Text

    from bideuchre_env.selfplay import Result

DEFAULT_GAMES = 2000
REDRAW_SECONDS = 0.1
INTERRUPTED = 130

Progress = Callable[[int, int, int], None]

_DESCRIPTION = """\
Partnerships of agent A against partnerships of agent B on duplicate deals: every deal is
played twice with the sides swapped, so the luck of the deal cancels. Points are A's minus B's,
with a 95 % confidence interval over the pairs. Where A and B have one name, B is shown as
NAME#2. Options of an agent may stand behind its name, as pimc:worlds=20,solved=4. Ctrl-C prints
what is finished."""


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "selfplay",
        help="play two agents against each other on duplicate deals",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_game(parser)
    parser.add_argument(
        "--agents",
        nargs=2,
        default=["rule", "random"],
        metavar=("A", "B"),
        help="who plays, each by name or as NAME:OPTION=VALUE,... (default: rule random)",
    )
    length = parser.add_mutually_exclusive_group()
    length.add_argument(
        "--hands", type=int, metavar="N", help="play N boards, each a single deal at two tables"
    )
    length.add_argument(
        "--games",
        type=int,
        metavar="N",
        help=f"play N whole games in pairs dealt alike (default: {DEFAULT_GAMES})",
    )
    parser.add_argument(
        "--out", metavar="FILE", help="where to write game records (default: a new file in runs/)"
    )
    parser.add_argument("--force", action="store_true", help="replace FILE if it exists")
    parser.add_argument("--no-records", action="store_true", help="write no game records")
    parser.add_argument("--json", action="store_true", help="print the result as one JSON object")
    parser.set_defaults(run=run)


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


def run(arguments: argparse.Namespace) -> int:
    """Play, and print the result; 130 if it was interrupted."""
    game = variant_of(arguments.variant, arguments.option)
    hands, games = arguments.hands, arguments.games
    if hands is None and games is None:
        games = DEFAULT_GAMES
    for name, number in (("--hands", hands), ("--games", games)):
        if number is not None and number < 1:
            raise OptionError(f"{name} {number}: 1 or more")
    if arguments.out is not None and arguments.no_records:
        raise OptionError("--out and --no-records exclude each other")
    check_agents(arguments.agents)
    from bideuchre_env import selfplay

    unit = "games" if hands is None else "boards"
    with progress_bar(" - ".join(arguments.agents), unit) as progress:
        result = selfplay.play(
            game,
            *arguments.agents,
            hands=hands,
            games=games,
            seed=arguments.seed,
            out=None if arguments.no_records else _out(arguments),
            overwrite=arguments.force,
            progress=progress,
        )
    _print(result, arguments.json)
    return INTERRUPTED if result.interrupted else 0


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


def _out(arguments: argparse.Namespace) -> str:
    if arguments.out is not None:
        return str(arguments.out)
    from bideuchre_env.records_io import file_stem, free_path

    words = ("selfplay", arguments.variant, *arguments.agents, f"seed{arguments.seed}")
    return str(free_path("runs", file_stem(*words)))


def _print(result: Result, as_json: bool) -> None:
    print(json.dumps(result.to_dict()) if as_json else str(result))


@contextmanager
def progress_bar(title: str, unit: str) -> Iterator[Progress]:
    """A bar with rate and time left on stderr, if that is a terminal; else next to nothing."""
    if not sys.stderr.isatty():
        yield _untold
        return
    from rich.console import Console
    from rich.progress import BarColumn, ProgressColumn, TextColumn
    from rich.progress import Progress as Bar
    from rich.table import Column
    from rich.text import Text

    class Done(ProgressColumn):
        def render(self, task: Task) -> Text:
            if task.total is None:
                return Text("starting", style="dim")
            left = "-:--" if task.time_remaining is None else _clock(task.time_remaining)
            done = f"{int(task.completed):,}/{int(task.total):,} {unit}"
            return Text(f"{done}  {task.fields['rate']:,.0f} decisions/s  {left} left")

    bar = Bar(
        TextColumn("{task.description}", table_column=Column(no_wrap=True)),
        BarColumn(bar_width=None),
        Done(Column(no_wrap=True)),
        console=Console(stderr=True),
        transient=True,
        expand=True,
    )
    with bar:
        yield _updater(bar, bar.add_task(title, total=None, rate=0.0))


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def _untold(done: int, total: int, decisions: int) -> None:
    """Where nobody looks, progress is not told."""


def _updater(bar: Any, task: Any) -> Progress:
    started = drawn = 0.0

    def update(done: int, total: int, decisions: int) -> None:
        nonlocal started, drawn
        now = time.perf_counter()
        if decisions == 0:
            return
        started = started or now
        if now - drawn < REDRAW_SECONDS and done < total:
            return
        drawn = now
        rate = decisions / max(now - started, 1e-3)
        bar.update(task, completed=done, total=total, rate=rate)

    return update
