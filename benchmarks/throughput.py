"""Decisions a second of every way to play: AEC, vector env, rollouts in a kernel, agents.

    python benchmarks/throughput.py
    python benchmarks/throughput.py --groups vec threads --seconds 1

Each group is measured in rounds, so that its figures may be divided by each other. Everything runs
on one pinned core but what is said to use several.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from contextlib import nullcontext

import measure

import bideuchre_env
from bideuchre_env import speed, timing
from bideuchre_env.errors import BidEuchreError, OptionError
from bideuchre_env.timing import Figure, Task

UNIT = "decisions/s"
ROWS = (256, 1_024, 4_096, 16_384, 65_536)
USUAL = 4_096
SEARCH, FEW = ("pimc", "inference"), 8  # agents that take milliseconds a decision get few rows
GAME = bideuchre_env.cincinnati_v0
TARGETS = {  # decisions a second, on one core
    ("aec", "raw_env(), episodes of a game"): 200e3,
    ("aec", "raw_env(), episodes of a hand"): 200e3,
    ("aec", "env(), episodes of a game"): 150e3,
    ("aec", "env(), episodes of a hand"): 150e3,
    ("vec", "4,096 rows, step alone"): 8e6,
    ("rollouts", "random, cincinnati_v0"): 40e6,
    ("rollouts", "random, observing, cincinnati_v0"): 12e6,
    ("agents", "rule, act_rows on 4,096 rows"): 2e6,
}
WAYS = {"actions drawn": True, "step alone": False}

Tasks = dict[str, Task]


def aec(args: argparse.Namespace) -> Tasks:
    """One game at a time from Python, by episodes, wrappers and variants."""
    tasks = {}
    for episode in ("game", "hand"):
        for name, wrapped in (("raw_env()", False), ("env()", True)):
            tasks[f"{name}, episodes of a {episode}"] = speed.aec(
                GAME, wrapped=wrapped, episode=episode
            )
    for name, variant in others().items():
        tasks[f"raw_env(), {name}"] = speed.aec(variant, wrapped=False)
    return tasks


def vec(args: argparse.Namespace) -> Tasks:
    """The vector env by rows, and by variants at the usual number of rows."""
    tasks = {}
    for rows in args.rows:
        for way, sampled in WAYS.items():
            tasks[f"{rows:,} rows, {way}"] = speed.vec(GAME, rows, sampled=sampled)
    for name, variant in others().items():
        for way, sampled in WAYS.items():
            title = f"{USUAL:,} rows, {way}, {name}"
            tasks[title] = speed.vec(variant, USUAL, sampled=sampled)
    return tasks


def solo(args: argparse.Namespace) -> Tasks:
    """The Gymnasium environments of one learner, its own decisions only."""
    tasks: Tasks = {}
    for opponents in ("random", "rule"):
        tasks[f"one, {opponents} opponents"] = speed.solo(GAME, opponents)
        tasks[f"{USUAL:,} rows, {opponents} opponents"] = speed.solo_vec(GAME, opponents, USUAL)
    return tasks


def threads(args: argparse.Namespace) -> Tasks:
    """The vector env and rollouts on one thread and on several, not pinned."""
    tasks: Tasks = {}
    for count in dict.fromkeys((1, args.threads)):
        many = f"{count} thread" + "s" * (count > 1)
        for rows in args.rows:
            tasks[f"{rows:,} rows, step alone, {many}"] = speed.vec(
                GAME, rows, threads=count, sampled=False
            )
        for name, observe in (("rollouts", False), ("rollouts, observing", True)):
            tasks[f"{name}, {many}"] = speed.rollouts(GAME, observe=observe, threads=count)
    return tasks


def rollouts(args: argparse.Namespace) -> Tasks:
    """Hands played inside one kernel: the game alone, observing, and by the rule player."""
    tasks: Tasks = {}
    for name, variant in bideuchre_env.variants.items():
        tasks[f"random, {name}"] = speed.rollouts(variant)
        tasks[f"random, observing, {name}"] = speed.rollouts(variant, observe=True)
        tasks[f"rule player, {name}"] = speed.rollouts(variant, "rule")
    return tasks


def agents(args: argparse.Namespace) -> Tasks:
    """The agents alone on rows of observations, and in self-play with everything it does."""
    tasks: Tasks = {}
    for agent in bideuchre_env.agents.names():
        rows = FEW if agent in SEARCH else USUAL
        tasks[f"{agent}, act_rows on {rows:,} rows"] = speed.agent_rows(GAME, agent, rows)
    for a, b in (("rule", "random"), ("rule", "rule")):
        tasks[f"self-play, {a} and {b}"] = speed.duel(GAME, a, b)
    return tasks


def others() -> dict[str, bideuchre_env.Variant]:
    """The variants besides the one that is measured in every way."""
    return {n: variant for n, variant in bideuchre_env.variants.items() if variant is not GAME}


# Those on several threads first: what a pinned thread starts is pinned too.
GROUPS: dict[str, tuple[str, Callable[[argparse.Namespace], Tasks]]] = {
    "threads": ("Threads (not pinned)", threads),
    "aec": ("AEC, one game", aec),
    "vec": ("Vector env", vec),
    "solo": ("One learner (Gymnasium)", solo),
    "rollouts": ("Rollouts in a kernel", rollouts),
    "agents": ("Agents", agents),
}


def parse_args(arguments: list[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = measure.options(str(__doc__).partition("\n")[0])
    parser.add_argument(
        "--groups", nargs="+", default=list(GROUPS), choices=list(GROUPS), help="(default: all)"
    )
    parser.add_argument(
        "--rows", nargs="+", type=int, default=list(ROWS), metavar="N", help="rows of the vec env"
    )
    parser.add_argument(
        "--threads",
        type=int,
        default=timing.core_count(),
        metavar="N",
        help="where several are used (default: the cores there are)",
    )
    return parser.parse_args(arguments)


def main(args: argparse.Namespace) -> int:
    """Measure group after group, and publish."""
    timing.check(args.repeats, args.seconds)
    if min(args.rows) < 1 or args.threads < 1:
        raise OptionError(f"--rows {min(args.rows)} --threads {args.threads}: 1 or more")
    found: list[Figure] = []
    with timing.pinned(args.core) as core:
        pass  # it can be had
    for name in [name for name in GROUPS if name in args.groups]:
        title, make = GROUPS[name]
        measure.told(title)
        with nullcontext() if name == "threads" else timing.pinned(core):
            rates = timing.rounds(make(args), args.repeats, args.seconds)
        found += [
            timing.figure(title, key, UNIT, values, target=TARGETS.get((name, key)))
            for key, values in rates.items()
        ]
    report = measure.Report(
        "throughput",
        "Throughput",
        f"{GAME.name} unless said, uniform legal play unless said, {measure.pinning(core)} unless "
        f"said, medians of {args.repeats} rounds of {args.seconds} s each.",
        found,
    )
    measure.publish(report, args)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(parse_args()))
    except BidEuchreError as error:
        sys.exit(f"throughput.py: error: {error}")
