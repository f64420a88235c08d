"""Decisions per second of every way to play: AEC, vector env, rollouts in a kernel, agents.

    python benchmarks/throughput.py
    python benchmarks/throughput.py --groups vec threads --seconds 1

Each group is measured in rounds, so that its figures can be divided by each other. Tasks run on
one pinned core, in processor time; those with several threads are not pinned, in wall time.
"""

from __future__ import annotations

import argparse
import sys

import reporting
from reports import Report

import bideuchre_env
from bideuchre_env.agents.registry import BUILT_IN
from bideuchre_env.bench import measure
from bideuchre_env.bench.tasks import GROUPS, LONGER, SEARCH, Setup, measure_group
from bideuchre_env.cli.options import argument
from bideuchre_env.cli.program import script
from bideuchre_env.errors import OptionError

ROWS = (256, 1_024, 4_096, 16_384, 65_536)
GAME = bideuchre_env.cincinnati_v0
TARGETS = {  # decisions per second, on one core
    "raw_env(), episodes of a game": 200e3,
    "raw_env(), episodes of a hand": 200e3,
    "env(), episodes of a game": 150e3,
    "env(), episodes of a hand": 150e3,
    "4,096 rows, step alone": 8e6,
    "random, cincinnati_v0": 40e6,
    "random, observing, cincinnati_v0": 12e6,
    "rule, act_rows on 4,096 rows": 2e6,
    "ppo, act_rows on 4,096 rows": 200e3,
    "net, act_rows on 4,096 rows": 200e3,
}


def parse_args(arguments: list[str] | None = None) -> argparse.Namespace:
    """Parse the command line."""
    parser = reporting.options(__doc__)
    names = {"nargs": "+", "choices": list(GROUPS)}
    argument(parser, "--groups NAME", "groups to measure", default=list(GROUPS), **names)
    argument(parser, "--rows N", "rows of the vec env", int, list(ROWS), nargs="+")
    meaning = "threads where several are used"
    argument(parser, "--threads N", meaning, int, measure.core_count())
    return parser.parse_args(arguments)


def main(args: argparse.Namespace) -> int:
    """Measure the groups of `--groups` and publish the report, or redraw a saved one; return 0."""
    if args.redraw:
        return reporting.redraw("throughput", args.out)
    measure.check(args.repeats, args.seconds)
    if min(args.rows) < 1 or args.threads < 1:
        raise OptionError(f"--rows {min(args.rows)} --threads {args.threads}: 1 or more")
    with measure.pinned(args.core) as core:
        pass  # the core is available
    agents = [agent for agent in BUILT_IN if agent not in SEARCH]
    others = [game for game in bideuchre_env.variants.values() if game is not GAME]
    setup = Setup(GAME, args.rows, args.threads, agents, others)
    figures: list[measure.Figure] = []
    for name in [name for name in GROUPS if name in args.groups]:
        title, make = GROUPS[name]
        reporting.announce(title)
        figures += measure_group(name, make(setup), args.repeats, args.seconds, core, TARGETS)
    report = Report(
        "throughput",
        "Throughput",
        f"{GAME.name} unless said, uniform legal play unless said, {reporting.pinning(core)} "
        f"unless said, processor time unless said, medians of {args.repeats} rounds of "
        f"{args.seconds} s each, {LONGER} times that where an agent searches.",
        figures,
    )
    reporting.publish(report, args)
    return 0


if __name__ == "__main__":
    sys.exit(script(lambda: main(parse_args())))
