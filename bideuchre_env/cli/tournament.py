"""Play a tournament, with tables and ratings: `bideuchre tournament`.

Play every agent against every other, or only some pairs, or each against a fixed field of
opponents. Each pair plays the same boards, every deal twice with the sides swapped, so that the
luck of the cards cancels. The tables have points per hand (the row's agent minus the column's) with
95 % intervals, ratings and decision times. The first agent has rating 0; a lead of 400 means ten
boards won for each board lost.

With --field, for tables of papers, they have points per hand (mean over the field, and against each
opponent), the share of games won, ratings (the first agent of the field has 0), decisions per
second, and the differences to the first A on the same boards. Points over the field are comparable
between tables with the same field, boards and seed. In the field, rash and timid are rule with bids
that are too high and too low; always-defend is rule that almost never bids. Time per agent and
variant on one core: a minute for net or rule, two minutes for expert, a quarter of an hour for
pimc.

With --partners, every agent A is the partner of every agent, itself included, against the field.
The tables have points per hand of all pairs of partners, of each agent in self-play (with itself)
and in cross-play (mean over the other agents), and the difference of cross-play minus self-play on
the same boards. The difference also contains that in strength between the partners: compare agents
of similar strength.

The folder gets all figures (results.json, results.csv), the tables (results.md, and results.tex for
a field) and heat maps (results-light.svg, results-dark.svg; they need matplotlib), updated after
every pair. The same command resumes a stopped tournament; with more agents or variants it plays the
missing pairs.

    bideuchre tournament
    bideuchre tournament --variant all --workers 2 --out runs/all
    bideuchre tournament rule expert ./mine.py:Mine --games 200
    bideuchre tournament expert pimc inference --sprt 0 0.1
    bideuchre tournament --pairs "net vs expert" "pimc:worlds=20 vs expert"
    bideuchre tournament ./mine.py:Mine net expert --field --variant all --out runs/mine
    bideuchre tournament ppo net --field rule expert always-defend --boards 10000 --games 0
    bideuchre tournament rule net ppo --partners --workers 2
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
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
DEFAULT_AGENTS = ["random", "cautious", "rule", "expert"]
DEFAULT_FIELD = ["rule", "cautious", "expert", "net", "rash", "timid"]
PARTNERS_FIELD = ["rule", "expert"]


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = new_command(commands, "tournament", run, __doc__, VARIANTS, AGENTS)
    players = parser.add_mutually_exclusive_group()
    words = " ".join(DEFAULT_AGENTS)
    meaning = (
        f"agents, weakest first (default: {words}); with --field, differences are to the first"
    )
    argument(players, "agents A", meaning, default=[], nargs="*")
    meaning = 'play only these pairs, the stronger agent of each first, as "net vs expert"'
    argument(players, "--pairs PAIR", meaning, nargs="+")
    meaning = f"play against these opponents only (without A: {' '.join(DEFAULT_FIELD)})"
    argument(parser, "--field A", meaning, nargs="*")
    meaning = "play the agents as partners of each other against the field"
    argument(parser, "--partners", f"{meaning} (default: {' '.join(PARTNERS_FIELD)})")
    more: dict[str, Any] = {"nargs": "+", "action": "extend", "default": []}
    meaning = f"variants of the game, or {ALL}; repeatable (default: {DEFAULT_GAME})"
    argument(parser, "--variant V", meaning, dest="variants", **more)
    argument(parser, "--rules FILE", "custom rules, each a TOML file; repeatable", **more)
    add_option(parser)
    argument(parser, "--boards N", "boards per match and variant", int, DEFAULT_BOARDS)
    meaning = "also play N whole games per match and variant (default: 0; agents in a field: 200)"
    argument(parser, "--games N", meaning, int)
    meaning = (
        "stop a pair once its later agent is worth at most LOW, or at least HIGH, points per hand"
    )
    argument(parser, "--sprt LOW HIGH", f"{meaning}; --boards is the maximum", float)
    add_seed(parser)
    add_workers(parser)
    meaning = "folder of the results (default: runs/tournament, with --field or --partners runs/"
    argument(parser, "--out FOLDER", f"{meaning} and that name)")
    argument(parser, "--force", "overwrite other results in the folder")
    argument(parser, "--json", "print all figures as one JSON object, that of results.json")


def run(arguments: argparse.Namespace) -> int:
    """Play the missing pairs, print and write the results; return the exit code of `report`."""
    set_defaults(arguments)
    field, agents = arguments.field, arguments.agents
    pairs = None if arguments.pairs is None else [pair_of(text) for text in arguments.pairs]
    check_agents([*agents, *(field or ()), *(name for pair in pairs or () for name in pair)])
    variants = variants_of(arguments)
    from bideuchre_env.evaluation.ray_pool import workers_of
    from bideuchre_env.evaluation.statistics.sequential import Bounds
    from bideuchre_env.evaluation.tournament import tournament
    from bideuchre_env.evaluation.tournament_tables import line

    pool = workers_of(arguments.workers, arguments.ray, arguments.ray_address)
    with pool as workers, Bars() as bars:

        def finished(match: dict[str, Any]) -> None:
            if not arguments.json:
                bars.close()  # so that the line is printed above the next bar
                print(f"{match['variant']:<16} {line(match)}", flush=True)

        results = tournament(
            variants,
            agents if pairs is None else None,
            pairs=pairs,
            field=field,
            partners=arguments.partners,
            boards=arguments.boards,
            games=arguments.games,
            sprt=Bounds(*arguments.sprt) if arguments.sprt else None,
            seed=arguments.seed,
            workers=workers,
            out=arguments.out,
            force=arguments.force,
            progress=bars.show_titled,
            finished=finished,
            command=None if field is None else command_line(arguments),
        )
    return report(results, arguments)


def set_defaults(arguments: argparse.Namespace) -> None:
    """Set agents, field, games and folder, whose defaults depend on the kind of tournament."""
    kind = "partners" if arguments.partners else "field"
    if arguments.field is None and not arguments.partners:
        kind = "tournament"
        arguments.agents = arguments.agents or ([] if arguments.pairs else DEFAULT_AGENTS)
    else:
        default = PARTNERS_FIELD if arguments.partners else DEFAULT_FIELD
        arguments.field = arguments.field or default
    if arguments.games is None:
        arguments.games = 200 if kind == "field" else 0
    arguments.out = arguments.out or f"runs/{kind}"


def command_line(arguments: argparse.Namespace) -> str:
    """Return the command line that makes the same tables, with all options that matter."""
    words = ["bideuchre", "tournament", *arguments.agents, "--field", *arguments.field]
    words += ["--partners"] * arguments.partners
    variants = arguments.variants or ([] if arguments.rules else [DEFAULT_GAME])
    for option, values in (("--variant", variants), ("--rules", arguments.rules)):
        words += [option, *values] if values else []
    for value in arguments.option:
        words += ["--option", value]
    for option in ("boards", "games", "seed"):
        words += [f"--{option}", str(getattr(arguments, option))]
    return shlex.join(words)


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


def report(results: Any, arguments: argparse.Namespace) -> int:
    """Print the tables of a tournament and the names of its files, or JSON; and how to resume.

    Returns `ending`: 1 if a file could not be written.
    """
    if results.interrupted:
        finished = f"interrupted: {len(results.matches)} finished matches are saved"
        print(f"{finished}; the same command resumes", file=sys.stderr)
    if arguments.json:
        print(json.dumps(results.to_dict()))
    else:
        parts = [results.origin, str(results) if results.matches else ""]
        if results.written:
            parts.append(folded(f"written to {arguments.out}: {', '.join(results.written)}"))
        print(*(f"\n{part}" for part in parts if part), sep="\n")
    if not results.matches:
        return ending([], results.interrupted)
    from bideuchre_env.evaluation.tournament_files import has_picture

    lacks_picture = not any(name.endswith(".svg") for name in results.written)
    if has_picture(results.data) and lacks_picture and results.unwritten is None:
        print(f"no heat map: it needs matplotlib, {how_to_install('plot')}", file=sys.stderr)
    return ending([] if results.unwritten is None else [results.unwritten], results.interrupted)
