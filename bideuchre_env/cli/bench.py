"""`bideuchre bench`: how fast the game is on this machine, in about twenty seconds."""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

from bideuchre_env.cli.options import add_rules, game_of
from bideuchre_env.cli.program import ending
from bideuchre_env.cli.screen import VARIANTS, folded, help_of
from bideuchre_env.errors import OptionError, OutputError

if TYPE_CHECKING:
    from bideuchre_env.bench.measure import Figure, Task
    from bideuchre_env.envs.registration import Variant

DEFAULT_SECONDS = 20.0
REPEATS = 5
ROWS, MANY_ROWS = 4_096, 16_384

_DESCRIPTION = """\
Play the game in every way it can be played, and print decisions per second: medians and quartiles
of five rounds in which all ways take turns. What is not compiled yet is compiled first, once, which
takes up to a minute."""
_EXAMPLES = ("bideuchre bench", "bideuchre bench --variant barrie_v0 --seconds 10")


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "bench",
        help="measure how fast the game is on this machine",
        **help_of(_DESCRIPTION, _EXAMPLES, VARIANTS),
    )
    add_rules(parser)
    parser.add_argument(
        "--seconds",
        type=float,
        default=DEFAULT_SECONDS,
        metavar="S",
        help="how long to measure, about (default: %(default)g)",
    )
    parser.add_argument("--json", metavar="FILE", help="write the figures to FILE as well")
    parser.add_argument("--force", action="store_true", help="replace FILE if it exists")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Measure, print a table, write the file."""
    game = game_of(arguments)
    if not 0 < arguments.seconds < math.inf:
        raise OptionError(f"--seconds {arguments.seconds:g}: it must be a number above 0")
    from bideuchre_env._files import Output, write_file

    if arguments.json is None:
        _run(arguments, game)
        return 0
    with Output(arguments.json, overwrite=arguments.force) as output:
        report = _run(arguments, game)
        try:
            write_file(output, json.dumps(report, indent=1) + "\n")
        except OutputError as error:
            return ending([str(error)])
    return 0


def _run(arguments: argparse.Namespace, game: Variant) -> dict[str, Any]:
    """Measure and print a table; the report."""
    from bideuchre_env.bench import measure

    with _status() as announce:
        core, figures = _measure(game, arguments.seconds, announce)
    facts = measure.machine()
    print(f"{game.name}, medians and quartiles of {REPEATS} rounds")
    print(f"{folded(measure.machine_line(facts))}\n")
    print(measure.table(figures))
    return {
        "variant": game.name,
        "seconds": arguments.seconds,
        "core": core,
        "machine": facts,
        "figures": [row.to_dict() for row in figures],
    }


def _measure(
    game: Variant, seconds: float, announce: Callable[[str], None]
) -> tuple[int | None, list[Figure]]:
    """The core that was pinned, if any, and the figures, those on all cores first."""
    from bideuchre_env.bench import measure

    cores = measure.core_count()
    several, single = _several(game, cores) if cores > 1 else {}, _single(game)
    with measure.pinned() as core:
        pass  # which one it is
    each = seconds / REPEATS / (len(several) + len(single))
    title = "One core" if core is None else f"One pinned core ({core})"
    title += ", processor time"
    figures: list[Figure] = []
    # what a pinned thread starts is pinned too, so the many threads come first
    for group, tasks in ((f"All {cores} cores, wall time", several), (title, single)):
        with measure.pinned(core) if tasks is single else nullcontext():
            figures += measure.group_figures(group, tasks, REPEATS, each, announce)
    return core, figures


def _several(game: Variant, threads: int) -> dict[str, Task]:
    from bideuchre_env.bench import tasks

    return {
        f"vec({MANY_ROWS}), actions drawn": tasks.vec(game, MANY_ROWS, threads=threads),
        "rollouts": tasks.rollouts(game, threads=threads),
        "rollouts, observing": tasks.rollouts(game, observe=True, threads=threads),
    }


def _single(game: Variant) -> dict[str, Task]:
    from bideuchre_env.bench import tasks

    return {
        "raw_env()": tasks.aec(game, wrapped=False),
        "env()": tasks.aec(game, wrapped=True),
        f"vec({ROWS}), actions drawn": tasks.vec(game, ROWS),
        f"vec({ROWS}), step alone": tasks.vec(game, ROWS, sampled=False),
        "rollouts": tasks.rollouts(game),
        "rollouts, observing": tasks.rollouts(game, observe=True),
        "rule player, act_rows": tasks.agent_rows(game, "rule", ROWS),
        "self-play, rule and random": tasks.self_play(game, "rule", "random"),
    }


@contextmanager
def _status() -> Iterator[Callable[[str], None]]:
    """Print the figure being measured, or what compiles, on stderr if that is a terminal."""
    if not sys.stderr.isatty():
        yield lambda name: None
        return
    from rich.console import Console

    from bideuchre_env.runtime import jit

    measuring = "starting"

    def announce(name: str) -> None:
        nonlocal measuring
        measuring = f"measuring: {name}"
        status.update(measuring)

    def compiling(text: str) -> None:
        status.update(text or measuring)

    with Console(stderr=True).status(measuring) as status, jit.compiling.shown_by(compiling):
        yield announce
