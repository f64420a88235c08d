"""Measure how much better one agent is than another: `bideuchre match`.

Play partnerships of agent A against partnerships of agent B. Boards measure how much better A is: a
board is one deal played twice with the sides swapped, so that the luck of the cards cancels. Points
per hand are A's minus B's, with a 95 % confidence interval over boards. Games measure how often A
wins: whole games, in pairs with the same deals. If A and B have the same name, B is listed as
NAME#2.

--records writes the games to a file. bideuchre selfplay is the same command, but plays 2,000 games
and writes them to a new file in runs/ by default.

--sprt LOW HIGH stops as soon as the boards show that A is worth at most LOW or at least HIGH points
per hand, with an error of 5 % either way. The printed interval is not corrected for early stopping.

Ctrl-C, or SIGTERM from a batch system, stops early: the result of the finished boards and games is
printed, and they are written. A second Ctrl-C ends at once, without results.

    bideuchre match expert rule --boards 500
    bideuchre match rule cautious --variant barrie_v0 --games 1000
    bideuchre match pimc:worlds=20 expert --sprt 0 0.1 --workers 2
    bideuchre match rule rule --games 200 --records games.jsonl
    bideuchre match pimc expert --ray-address 10.0.0.5:6379
"""

from __future__ import annotations

import argparse
import json
import os
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from bideuchre_env._checks import MAX_NAME, brief
from bideuchre_env._files import TakenError
from bideuchre_env.cli.options import (
    add_rules,
    add_seed,
    add_workers,
    argument,
    check_agents,
    game_of,
    new_command,
)
from bideuchre_env.cli.program import ending
from bideuchre_env.cli.progress import Bars
from bideuchre_env.cli.screen import AGENTS, VARIANTS
from bideuchre_env.errors import OptionError, OutputError

if TYPE_CHECKING:
    from bideuchre_env._files import Output
    from bideuchre_env.evaluation.results import Result

DEFAULT_BOARDS = 2000
MOST_TESTED = 50_000
NEW_FILE = True  # the value of `--records` without FILE


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = new_command(commands, "match", run, __doc__, VARIANTS, AGENTS)
    argument(parser, "agents A", "the two agents", default=["rule", "cautious"], nargs="*")
    add_rules(parser)
    add_seed(parser)
    argument(
        parser,
        "--boards N",
        f"play N boards (default: {DEFAULT_BOARDS}; with --sprt at most {MOST_TESTED}; "
        "none if only --games is given)",
        int,
    )
    meaning = "also play N whole games, in pairs with the same deals; an odd N is rounded up"
    argument(parser, "--games N", meaning, int, 0)
    meaning = "stop once A is worth at most LOW, or at least HIGH, points per hand, as 0 0.1"
    argument(parser, "--sprt LOW HIGH", meaning, float)
    add_workers(parser)
    meaning = "boards in lockstep; fewer for slow agents (default: set by the agents, or 256)"
    argument(parser, "--at-once N", meaning, int)
    argument(parser, "--json", "print the result as one JSON object")
    meaning = "write the game records (without FILE: to a new file in runs/)"
    argument(parser, "--records FILE", meaning, nargs="?", const=NEW_FILE)
    argument(parser, "--csv FILE", "write a line per board as CSV")
    argument(parser, "--picture FILE", "draw the result (needs matplotlib)")
    argument(parser, "--force", "overwrite existing files")


def run(arguments: argparse.Namespace) -> int:
    """Play, print and write the result; return `ending`: 1 after a failed write."""
    game = game_of(arguments)
    if len(arguments.agents) != 2:
        raise OptionError(f"agents={brief(arguments.agents)}: expected two agents")
    check_agents(arguments.agents)
    from bideuchre_env.evaluation.ray_pool import workers_of

    with ExitStack() as stack:
        files = _reserved(arguments, stack)
        pool = workers_of(arguments.workers, arguments.ray, arguments.ray_address)
        result = _play(arguments, game, stack.enter_context(pool))
        # files before the report, which fails if its reader has closed the pipe; pictures last
        errors = [result.unwritten] if result.unwritten else []
        errors += _written(result, files, "csv")
        try:
            print(json.dumps(result.to_dict()) if arguments.json else result, flush=True)
        finally:
            errors += _written(result, files, "picture")
    return ending(errors, result.interrupted)


def _play(arguments: argparse.Namespace, game: Any, workers: Any) -> Result:
    """Play with a progress bar."""
    from bideuchre_env.evaluation.match import match
    from bideuchre_env.evaluation.statistics.sequential import Bounds

    boards = arguments.boards
    if boards is None:
        boards = MOST_TESTED if arguments.sprt else 0 if arguments.games else DEFAULT_BOARDS
    while True:
        try:
            with Bars(" against ".join(arguments.agents)) as bars:
                return match(
                    game,
                    *arguments.agents,
                    boards=boards,
                    games=arguments.games,
                    sprt=Bounds(*arguments.sprt) if arguments.sprt else None,
                    seed=arguments.seed,
                    workers=workers,
                    at_once=arguments.at_once,
                    records=_records(arguments, game.name),
                    overwrite=arguments.force,
                    progress=bars.show,
                )
        except TakenError:  # another run has just taken that name: use the next free one
            if arguments.records is not NEW_FILE:
                raise


def _records(arguments: argparse.Namespace, game: str) -> str | None:
    """Return the file of the records, which is a new one in runs/ without a name."""
    if arguments.records is not NEW_FILE:
        return None if arguments.records is None else str(arguments.records)
    from bideuchre_env.records.files import file_stem, free_path

    agents = (name[-MAX_NAME:] for name in arguments.agents)  # a path may be of any length
    words = ("match", game, *agents, f"seed{arguments.seed}")
    return str(free_path("runs", file_stem(*words)))


def _reserved(arguments: argparse.Namespace, stack: ExitStack) -> dict[str, Output]:
    """Reserve the output files, before any board is played; return them by kind.

    Raises `OptionError` for a path that cannot be used or is named twice, and for a picture that
    cannot be drawn.
    """
    from bideuchre_env._files import Output
    from bideuchre_env.evaluation.export import check_picture

    if arguments.picture:
        check_picture(arguments.picture)
    names = {kind: getattr(arguments, kind) for kind in ("csv", "picture", "records")}
    files = {kind: name for kind, name in names.items() if isinstance(name, str)}
    if len({*map(os.path.realpath, files.values())}) < len(files):
        raise OptionError("--csv, --picture, --records: expected a different file for each")
    return {
        kind: stack.enter_context(Output(name, overwrite=arguments.force))
        for kind, name in files.items()
        if kind != "records"  # `match` reserves it
    }


def _written(result: Result, files: dict[str, Output], *kinds: str) -> list[str]:
    """Write the files of these kinds; return the messages about files that cannot be written.

    Without a finished board or game nothing is written.
    """
    from bideuchre_env.agents.registry import in_one_line
    from bideuchre_env.evaluation.export import draw, write_csv

    writers = {"csv": write_csv, "picture": draw}
    errors = []
    for kind in kinds if result.boards.boards or result.games.boards else ():
        try:
            if kind in files:
                writers[kind](files[kind], result)
        except OutputError as error:
            errors.append(str(error))
        except Exception as error:
            if kind != "picture":  # fonts, memory or settings of matplotlib may make it fail
                raise
            path = os.fspath(files[kind].path)
            errors.append(f"{path} could not be drawn: {in_one_line(error)}")
    return errors
