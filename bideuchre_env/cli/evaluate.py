"""Evaluate agents against a fixed field of opponents, for tables of papers: `bideuchre evaluate`.

Play each agent A against each agent of the field on duplicate boards and in whole games. The tables
have points per hand (mean over the field, and against each opponent), the share of games won, a
Bradley-Terry rating (the first agent of the field has 0), all with 95 % intervals, decisions per
second, and the differences to the first A on the same boards.

In the field, rash and timid are rule with bids that are too high and too low; always-defend is
rule that almost never bids. Any agent can be in the field. Points over the field are comparable
between tables with the same field, boards and seed.

The folder gets the tables (results.md, results.tex) and all figures (results.json, results.csv),
with command, seed and versions, updated after every match. The same command resumes a stopped run;
with more agents or variants it plays the missing matches. Time per agent and variant on one core:
a minute for net or rule, two minutes for expert, a quarter of an hour for pimc.

    bideuchre evaluate net --workers 2
    bideuchre evaluate ./mine.py:Mine net expert --variant all --workers 2 --out runs/mine
    bideuchre evaluate ppo net --field rule expert always-defend --boards 10000 --games 0
"""

from __future__ import annotations

import argparse
import shlex
from functools import partial
from typing import Any

from bideuchre_env.cli.options import DEFAULT_GAME, argument, check_agents, new_command
from bideuchre_env.cli.screen import AGENTS, VARIANTS
from bideuchre_env.cli.tournament import add_matches, play, variants_of

DEFAULT_BOARDS = 2000
DEFAULT_GAMES = 200
DEFAULT_FIELD = ("rule", "cautious", "expert", "net", "rash", "timid")
RESUME = "; the same command resumes"


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = new_command(commands, "evaluate", run, __doc__, VARIANTS, AGENTS)
    add_field(parser, DEFAULT_FIELD, "agents to evaluate; differences are to the first")
    add_matches(parser, "evaluate", DEFAULT_BOARDS, DEFAULT_GAMES)


def add_field(parser: argparse.ArgumentParser, field: tuple[str, ...], meaning: str) -> None:
    """Add the positional agents, with their `meaning`, and the option of the field."""
    argument(parser, "agents A", meaning, nargs="+")
    argument(parser, "--field A", "opponents of all agents", default=list(field), nargs="+")


def run(arguments: argparse.Namespace, command: str = "evaluate") -> int:
    """Play the missing matches, print and write the tables; return the exit code of `report`.

    `command` is "evaluate" or "crossplay".
    """
    check_agents([*arguments.agents, *arguments.field])
    variants = variants_of(arguments)
    from bideuchre_env.evaluation import field

    play_field = partial(
        field.play,
        variants,
        arguments.agents,
        arguments.field,
        crossplay=command == "crossplay",
        command=command_line(command, arguments),
    )
    return play(arguments, play_field, RESUME)


def command_line(command: str, arguments: argparse.Namespace) -> str:
    """Return the command line that makes the same tables, with all options that matter."""
    words = ["bideuchre", command, *arguments.agents, "--field", *arguments.field]
    variants = arguments.variants or ([] if arguments.rules else [DEFAULT_GAME])
    for option, values in (("--variant", variants), ("--rules", arguments.rules)):
        words += [option, *values] if values else []
    for value in arguments.option:
        words += ["--option", value]
    for option in ("boards", *(["games"] if command == "evaluate" else []), "seed"):
        words += [f"--{option}", str(getattr(arguments, option))]
    return shlex.join(words)
