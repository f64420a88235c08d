"""Print an agent's row of the benchmark protocol, for a paper: `bideuchre evaluate`.

Play agent A against the fixed opponents of the protocol, on fixed boards of nine variants. The row
has points per hand with 95 % intervals, in the mean over the opponents and for each variant, and
decisions per second of processor time. State the budget of the agent's training: decisions in all
games of the training, and minutes of all processor cores. The page "Benchmark protocol" defines
every column, and has the rows of the package's agents. The opponents can change between versions of
the package, so compare only rows of the same version.

    bideuchre evaluate rule --protocol v1 --decisions 0 --minutes 0
    bideuchre evaluate ./mine.py:Mine --protocol v1 --decisions 2e8 --minutes 90 --out runs/mine
"""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from bideuchre_env.cli.options import add_workers, argument, check_agents, new_command
from bideuchre_env.cli.program import ending
from bideuchre_env.cli.progress import Bars
from bideuchre_env.cli.screen import AGENTS


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = new_command(commands, "evaluate", run, __doc__, AGENTS)
    argument(parser, "agent A", "agent to evaluate")
    argument(parser, "--protocol VERSION", "version of the protocol, for example v1", required=True)
    argument(parser, "--decisions N", "decisions of the agent's training", float)
    argument(parser, "--minutes X", "processor minutes of the agent's training", float)
    add_workers(parser)
    meaning = "folder of the matches, from which the same command resumes (default: not saved)"
    argument(parser, "--out FOLDER", meaning)
    argument(parser, "--force", "overwrite other results in the folder")
    argument(parser, "--json", "print the row as one JSON object")


def run(arguments: argparse.Namespace) -> int:
    """Play the missing matches and print the row; return 0, or the exit code of Ctrl-C."""
    check_agents([arguments.agent])
    from bideuchre_env.evaluation.protocol import evaluate, markdown
    from bideuchre_env.evaluation.ray_pool import workers_of

    pool = workers_of(arguments.workers, arguments.ray, arguments.ray_address)
    with pool as workers, Bars() as bars:
        row = evaluate(
            arguments.agent,
            arguments.protocol,
            decisions=arguments.decisions,
            minutes=arguments.minutes,
            out=arguments.out,
            workers=workers,
            force=arguments.force,
            progress=bars.show_titled,
        )
    if row is None:
        resume = "" if arguments.out is None else ": the same command resumes"
        print(f"interrupted{resume}", file=sys.stderr)
        return ending([], interrupted=True)
    print(json.dumps(row) if arguments.json else markdown(row))
    return 0
