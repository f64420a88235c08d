"""Decisions per second of every way to play: AEC, vector env, rollouts in a kernel, agents.

    python benchmarks/throughput.py
    python benchmarks/throughput.py --groups vec threads --seconds 1

Each group is measured in rounds, so that its figures may be divided by each other. Everything runs
on one pinned core, in processor time, but what is said to use several threads, in wall time.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from contextlib import nullcontext

import reporting

import bideuchre_env
from bideuchre_env.agents.registry import BUILT_IN
from bideuchre_env.bench import measure, tasks
from bideuchre_env.bench.measure import Figure, Task
from bideuchre_env.cli.program import script
from bideuchre_env.errors import OptionError

ROWS = (256, 1_024, 4_096, 16_384, 65_536)
USUAL = 4_096
SEARCH = ("pimc", "inference")  # agents that take milliseconds a decision
LONGER = {"searchers": 20}  # times as long a round, for a hand takes them long and hands differ
GAME = bideuchre_env.cincinnati_v0
TARGETS = {  # decisions per second, on one core
    "aec": {
        "raw_env(), episodes of a game": 200e3,
        "raw_env(), episodes of a hand": 200e3,
        "env(), episodes of a game": 150e3,
        "env(), episodes of a hand": 150e3,
    },
    "vec": {"4,096 rows, step alone": 8e6},
    "rollouts": {"random, cincinnati_v0": 40e6, "random, observing, cincinnati_v0": 12e6},
    "agents": {
        "rule, act_rows on 4,096 rows": 2e6,
        "ppo, act_rows on 4,096 rows": 200e3,
        "net, act_rows on 4,096 rows": 200e3,
    },
}
WAYS = {"actions drawn": True, "step alone": False}

Tasks = dict[str, Task]


def aec(args: argparse.Namespace) -> Tasks:
    """One game at a time from Python, by episodes, wrappers and variants."""
    ways = {}
    for episode in ("game", "hand"):
        for name, wrapped in (("raw_env()", False), ("env()", True)):
            ways[f"{name}, episodes of a {episode}"] = tasks.aec(
                GAME, wrapped=wrapped, episode=episode
            )
    for name, variant in others().items():
        ways[f"raw_env(), {name}"] = tasks.aec(variant, wrapped=False)
    return ways


def vec(args: argparse.Namespace) -> Tasks:
    """The vector env by rows, and by variants at the usual number of rows."""
    ways = {}
    for rows in args.rows:
        for way, sampled in WAYS.items():
            ways[f"{rows:,} rows, {way}"] = tasks.vec(GAME, rows, sampled=sampled)
    for name, variant in others().items():
        for way, sampled in WAYS.items():
            title = f"{USUAL:,} rows, {way}, {name}"
            ways[title] = tasks.vec(variant, USUAL, sampled=sampled)
    return ways


def solo(args: argparse.Namespace) -> Tasks:
    """The Gymnasium environments of one learner, its own decisions only."""
    ways: Tasks = {}
    for opponents in ("random", "rule"):
        ways[f"one, {opponents} opponents"] = tasks.solo(GAME, opponents)
        ways[f"{USUAL:,} rows, {opponents} opponents"] = tasks.solo_vec(GAME, opponents, USUAL)
    return ways


def threads(args: argparse.Namespace) -> Tasks:
    """The vector env and rollouts on one thread and on several, not pinned."""
    ways: Tasks = {}
    for count in dict.fromkeys((1, args.threads)):
        many = f"{count} thread" + "s" * (count > 1)
        for rows in args.rows:
            ways[f"{rows:,} rows, step alone, {many}"] = tasks.vec(
                GAME, rows, threads=count, sampled=False
            )
        for name, observe in (("rollouts", False), ("rollouts, observing", True)):
            ways[f"{name}, {many}"] = tasks.rollouts(GAME, observe=observe, threads=count)
    return ways


def rollouts(args: argparse.Namespace) -> Tasks:
    """Hands played inside one kernel: the game alone, observing, and by the rule player."""
    ways: Tasks = {}
    for name, variant in bideuchre_env.variants.items():
        ways[f"random, {name}"] = tasks.rollouts(variant)
        ways[f"random, observing, {name}"] = tasks.rollouts(variant, observe=True)
        ways[f"rule player, {name}"] = tasks.rollouts(variant, "rule")
    return ways


def agents(args: argparse.Namespace) -> Tasks:
    """The agents alone on rows of observations, and in self-play with everything it does."""
    ways: Tasks = {}
    for agent in BUILT_IN:
        if agent not in SEARCH:
            ways[f"{agent}, act_rows on {USUAL:,} rows"] = tasks.agent_rows(GAME, agent, USUAL)
    for a, b in (("rule", "random"), ("rule", "rule")):
        ways[f"self-play, {a} and {b}"] = tasks.self_play(GAME, a, b)
    return ways


def searchers(args: argparse.Namespace) -> Tasks:
    """The expert and the agents that search, whole hands in all four seats."""
    return {
        f"{agent}, whole hands": tasks.agent_boards(GAME, agent) for agent in ("expert", *SEARCH)
    }


def others() -> dict[str, bideuchre_env.Variant]:
    """The variants besides the one that is measured in every way."""
    return {n: variant for n, variant in bideuchre_env.variants.items() if variant is not GAME}


# Those on several threads first: what a pinned thread starts is pinned too.
GROUPS: dict[str, tuple[str, Callable[[argparse.Namespace], Tasks]]] = {
    "threads": ("Threads (not pinned, wall time)", threads),
    "aec": ("AEC, one game", aec),
    "vec": ("Vector env", vec),
    "solo": ("One learner (Gymnasium)", solo),
    "rollouts": ("Rollouts in a kernel", rollouts),
    "agents": ("Agents", agents),
    "searchers": ("Agents that search", searchers),
}


def parse_args(arguments: list[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = reporting.options(__doc__)
    parser.add_argument(
        "--groups",
        nargs="+",
        default=list(GROUPS),
        choices=list(GROUPS),
        metavar="NAME",
        help=f"what to measure: {', '.join(GROUPS)} (default: all)",
    )
    parser.add_argument(
        "--rows", nargs="+", type=int, default=list(ROWS), metavar="N", help="rows of the vec env"
    )
    parser.add_argument(
        "--threads",
        type=int,
        default=measure.core_count(),
        metavar="N",
        help="threads where several are used (default: one a core)",
    )
    return parser.parse_args(arguments)


def main(args: argparse.Namespace) -> int:
    """Measure group after group, and publish."""
    if args.redraw:
        return reporting.redraw("throughput", args.out)
    measure.check(args.repeats, args.seconds)
    if min(args.rows) < 1 or args.threads < 1:
        raise OptionError(f"--rows {min(args.rows)} --threads {args.threads}: 1 or more")
    figures: list[Figure] = []
    with measure.pinned(args.core) as core:
        pass  # it can be had
    for name in [name for name in GROUPS if name in args.groups]:
        title, make = GROUPS[name]
        reporting.announce(title)
        with nullcontext() if name == "threads" else measure.pinned(core):
            seconds = args.seconds * LONGER.get(name, 1)
            figures += measure.group_figures(
                title, make(args), args.repeats, seconds, targets=TARGETS.get(name)
            )
    report = reporting.Report(
        "throughput",
        "Throughput",
        f"{GAME.name} unless said, uniform legal play unless said, {reporting.pinning(core)} "
        f"unless said, processor time unless said, medians of {args.repeats} rounds of "
        f"{args.seconds} s each, {LONGER['searchers']} times that where an agent searches.",
        figures,
    )
    reporting.publish(report, args)
    return 0


if __name__ == "__main__":
    sys.exit(script(lambda: main(parse_args())))
