"""Play every agent against every other, with ratings: `bideuchre tournament`.

Play every agent against every other, or only some pairs. Each pair plays the same boards, every
deal twice with the sides swapped, so that the luck of the cards cancels. The tables have points per
hand (the row's agent minus the column's) with 95 % intervals, ratings and decision times. The first
agent has rating 0; a lead of 400 means ten boards won for each board lost.

The folder gets all figures (results.json, results.csv), the tables (results.md) and heat maps
(results-light.svg, results-dark.svg; they need matplotlib), updated after every pair. The same
command resumes a stopped tournament; with more agents or variants it plays the missing pairs.

    bideuchre tournament
    bideuchre tournament --variant all --workers 2 --out runs/all
    bideuchre tournament rule expert ./mine.py:Mine --games 200
    bideuchre tournament expert pimc inference --sprt 0 0.1
    bideuchre tournament --pairs "net vs expert" "pimc:worlds=20 vs expert"
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from bideuchre_env._checks import brief
from bideuchre_env._install import how_to_install
from bideuchre_env.cli.options import (
    DEFAULT_GAME,
    add_option,
    add_seed,
    add_workers,
    argument,
    check_agents,
    new_command,
    variant_of,
)
from bideuchre_env.cli.program import ending
from bideuchre_env.cli.progress import Bars
from bideuchre_env.cli.screen import AGENTS, VARIANTS, folded
from bideuchre_env.envs.registration import Variant
from bideuchre_env.errors import OptionError
from bideuchre_env.rules.variants import RULES

ALL = "all"
DEFAULT_BOARDS = 2000


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = new_command(commands, "tournament", run, __doc__, VARIANTS, AGENTS)
    players = parser.add_mutually_exclusive_group()
    meaning, default = "agents, weakest first", ["random", "cautious", "rule", "expert"]
    argument(players, "agents A", meaning, default=default, nargs="*")
    meaning = 'play only these pairs, the stronger agent of each first, as "net vs expert"'
    argument(players, "--pairs PAIR", meaning, nargs="+")
    add_matches(parser, "tournament", DEFAULT_BOARDS, 0)
    meaning = (
        "stop a pair once its later agent is worth at most LOW, or at least HIGH, points per hand"
    )
    argument(parser, "--sprt LOW HIGH", f"{meaning}; --boards is the maximum", float)


def add_matches(parser: argparse.ArgumentParser, name: str, boards: int, games: int | None) -> None:
    """Add the options of a command of many matches; `name` is that of its folder in runs/.

    `games` None means that the command plays no whole games.
    """
    more: dict[str, Any] = {"nargs": "+", "action": "extend", "default": []}
    meaning = f"variants of the game, or {ALL}; repeatable (default: {DEFAULT_GAME})"
    argument(parser, "--variant V", meaning, dest="variants", **more)
    argument(parser, "--rules FILE", "custom rules, each a TOML file; repeatable", **more)
    add_option(parser)
    argument(parser, "--boards N", "boards per match and variant", int, boards)
    if games is None:
        parser.set_defaults(games=0)
    else:
        argument(parser, "--games N", "also play N whole games per match and variant", int, games)
    add_seed(parser)
    add_workers(parser)
    argument(parser, "--out FOLDER", "folder of the results", default=f"runs/{name}")
    argument(parser, "--force", "overwrite other results in the folder")
    argument(parser, "--json", "print all figures as one JSON object, that of results.json")


def run(arguments: argparse.Namespace) -> int:
    """Play the missing pairs, print and write the results; return the exit code of `report`."""
    pairs: list[tuple[str, str]] | None = None
    agents: list[str] | None = arguments.agents
    if arguments.pairs is not None:
        pairs, agents = [pair_of(text) for text in arguments.pairs], None
    check_agents(agents or [name for pair in pairs or () for name in pair])
    games = variants_of(arguments)
    from bideuchre_env.evaluation import tournament
    from bideuchre_env.evaluation.statistics.sequential import Bounds

    sprt = Bounds(*arguments.sprt) if arguments.sprt else None
    return play(arguments, partial(tournament.play, games, agents, pairs=pairs, sprt=sprt))


def play(arguments: argparse.Namespace, play_matches: Callable[..., Any], resume: str = "") -> int:
    """Call `play_matches` with the options of `add_matches`; return the exit code of `report`."""
    from bideuchre_env.evaluation.ray_pool import workers_of
    from bideuchre_env.evaluation.tournament_tables import line

    pool = workers_of(arguments.workers, arguments.ray, arguments.ray_address)
    with pool as workers, Bars() as bars:

        def finished(match: dict[str, Any]) -> None:
            if not arguments.json:
                bars.close()  # so that the line is printed above the next bar
                print(f"{match['variant']:<16} {line(match)}", flush=True)

        results = play_matches(
            boards=arguments.boards,
            games=arguments.games,
            seed=arguments.seed,
            workers=workers,
            out=arguments.out,
            force=arguments.force,
            progress=bars.show_titled,
            finished=finished,
        )
    return report(results, arguments, resume)


def pair_of(text: str) -> tuple[str, str]:
    """Parse "net vs expert" as two agents; `OptionError` for other text."""
    a, between, b = text.partition(" vs ")
    if not between:
        raise OptionError(f'--pairs {brief(text)}: expected "AGENT vs AGENT"')
    return a.strip(), b.strip()


def variants_of(arguments: argparse.Namespace) -> list[Variant]:
    """Return the variants of --variant and --rules, with --option applied.

    The default is `DEFAULT_GAME`. Raises `OptionError` for `ALL` beside names.
    """
    names = arguments.variants or ([] if arguments.rules else [DEFAULT_GAME])
    if ALL in names:
        if len(names) > 1:
            raise OptionError(
                f"--variant {' '.join(names)}: expected {ALL} or names of variants, not both"
            )
        names = list(RULES)
    return [variant_of(each, arguments.option) for each in (*names, *map(Path, arguments.rules))]


def report(results: Any, arguments: argparse.Namespace, resume: str) -> int:
    """Print the tables of a tournament and the names of its files, or JSON; and how to `resume`.

    Returns `ending`: 1 if a file could not be written.
    """
    if results.interrupted:
        finished = f"interrupted: {len(results.matches)} finished matches are saved{resume}"
        print(finished, file=sys.stderr)
    if arguments.json:
        print(json.dumps(results.to_dict()))
    else:
        parts = [results.origin, str(results) if results.matches else ""]
        if results.written:
            parts.append(folded(f"written to {arguments.out}: {', '.join(results.written)}"))
        print(*(f"\n{part}" for part in parts if part), sep="\n")
    if not results.matches:
        return ending([], results.interrupted)
    lacks_picture = not any(name.endswith(".svg") for name in results.written)
    if results.has_picture and lacks_picture and results.unwritten is None:
        print(f"no heat map: it needs matplotlib, {how_to_install('plot')}", file=sys.stderr)
    return ending([] if results.unwritten is None else [results.unwritten], results.interrupted)
