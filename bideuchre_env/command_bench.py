"""`bideuchre bench`: how fast the game is on this machine, in about twenty seconds."""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bideuchre_env.command_selfplay import variant_of
from bideuchre_env.errors import OptionError

if TYPE_CHECKING:
    from bideuchre_env.registration import Variant
    from bideuchre_env.timing import Figure, Task

DEFAULT_SECONDS = 20.0
REPEATS = 5
ROWS, MANY_ROWS = 4_096, 16_384
UNIT = "decisions/s"

_DESCRIPTION = """\
Plays the game in every way it can be played, and prints decisions a second: medians and
quartiles of five rounds in which all ways take turns. What is not compiled yet is compiled
first, which takes up to a minute, once."""


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "bench",
        help="measure how fast the game is on this machine",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--variant", default="cincinnati_v0", metavar="V", help="the game (default: %(default)s)"
    )
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
    game = variant_of(arguments.variant, [])
    if not 0 < arguments.seconds < math.inf:
        raise OptionError(f"--seconds {arguments.seconds:g}: a number above 0")
    out = None if arguments.json is None else Path(arguments.json)
    if out is not None and out.exists() and not arguments.force:
        raise OptionError(f"{out} exists: another FILE, or --force")
    if out is not None and not out.parent.is_dir():
        raise OptionError(f"{out} cannot be written: there is no folder {out.parent}")
    from bideuchre_env import timing

    with _status() as told:
        core, figures = _measure(game, arguments.seconds, told)
    facts = timing.machine()
    print(f"{game.name}, medians and quartiles of {REPEATS} rounds\n{timing.machine_line(facts)}\n")
    print(timing.table(figures))
    if out is not None:
        found = {
            "variant": game.name,
            "seconds": arguments.seconds,
            "core": core,
            "machine": facts,
            "figures": [row.to_dict() for row in figures],
        }
        try:
            out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
        except OSError as error:
            raise OptionError(f"{out} cannot be written: {error.strerror}") from None
    return 0


def _measure(
    game: Variant, seconds: float, told: Callable[[str], None]
) -> tuple[int | None, list[Figure]]:
    """The core that was pinned, if any, and the figures, those on all cores first."""
    from bideuchre_env import timing

    cores = timing.core_count()
    several, single = _several(game, cores) if cores > 1 else {}, _single(game)
    with timing.pinned() as core:
        pass  # which one it is
    each = seconds / REPEATS / (len(several) + len(single))
    title = "One core" if core is None else f"One pinned core ({core})"
    figures: list[Figure] = []
    # what a pinned thread starts is pinned too, so the many threads come first
    for group, tasks in ((f"All {cores} cores", several), (title, single)):
        with timing.pinned(core) if tasks is single else nullcontext():
            rates = timing.rounds(tasks, REPEATS, each, told)
        figures += [timing.figure(group, name, UNIT, found) for name, found in rates.items()]
    return core, figures


def _several(game: Variant, threads: int) -> dict[str, Task]:
    from bideuchre_env import speed

    return {
        f"vec({MANY_ROWS}), actions drawn": speed.vec(game, MANY_ROWS, threads=threads),
        "rollouts": speed.rollouts(game, threads=threads),
        "rollouts, observing": speed.rollouts(game, observe=True, threads=threads),
    }


def _single(game: Variant) -> dict[str, Task]:
    from bideuchre_env import speed

    return {
        "raw_env()": speed.aec(game, wrapped=False),
        "env()": speed.aec(game, wrapped=True),
        f"vec({ROWS}), actions drawn": speed.vec(game, ROWS),
        f"vec({ROWS}), step alone": speed.vec(game, ROWS, sampled=False),
        "rollouts": speed.rollouts(game),
        "rollouts, observing": speed.rollouts(game, observe=True),
        "rule player, act_rows": speed.agent_rows(game, "rule", ROWS),
        "self-play, rule and random": speed.duel(game, "rule", "random"),
    }


@contextmanager
def _status() -> Iterator[Callable[[str], None]]:
    """What is being tried, on stderr if that is a terminal; else nothing."""
    if not sys.stderr.isatty():
        yield lambda name: None
        return
    from rich.console import Console

    with Console(stderr=True).status("starting") as status:
        yield lambda name: status.update(f"measuring: {name}")
