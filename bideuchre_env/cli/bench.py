"""Measure the speed of environments and agents: `bideuchre bench`.

Play in the AEC and the vector environment, in rollouts and with the agents rule and random. Print
decisions per second: medians and quartiles of five rounds. The rows of a group take turns in each
round; groups run one after another. Kernels are compiled first if needed, which takes up to a
minute, once.

    bideuchre bench
    bideuchre bench --variant barrie_v0 --seconds 10
"""

from __future__ import annotations

import argparse
import json
import math
from typing import Any

from bideuchre_env.cli.options import add_rules, argument, game_of, new_command
from bideuchre_env.cli.progress import progress_bar
from bideuchre_env.cli.screen import VARIANTS, folded
from bideuchre_env.errors import OptionError

DEFAULT_SECONDS = 20
REPEATS = 5
QUICK = ("threads", "aec", "vec", "rollouts", "agents")  # groups of `bench.tasks` to measure


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = new_command(commands, "bench", run, __doc__, VARIANTS)
    add_rules(parser)
    argument(parser, "--seconds S", "approximate time of all measurements", float, DEFAULT_SECONDS)
    argument(parser, "--json", "print the figures as one JSON object")


def run(arguments: argparse.Namespace) -> int:
    """Measure, and print a table or JSON; return 0."""
    game = game_of(arguments)
    if not 0 < arguments.seconds < math.inf:
        raise OptionError(f"--seconds {arguments.seconds:g}: expected a number above 0")
    from bideuchre_env.bench import measure, tasks

    setup = tasks.Setup(game, threads=measure.core_count())
    figures: list[measure.Figure] = []
    with measure.pinned() as core:
        pass  # the core that can be pinned
    with progress_bar("measuring", "groups", "figures") as update:
        groups = {name: tasks.GROUPS[name][1](setup) for name in QUICK}
        seconds = arguments.seconds / REPEATS / sum(map(len, groups.values()))
        for done, (name, group) in enumerate(groups.items(), start=1):
            figures += tasks.measure_group(name, group, REPEATS, seconds, core)
            update(done, len(groups), len(figures))
    machine = measure.machine()
    if arguments.json:
        rows = [row.to_dict() for row in figures]
        head = {"variant": game.name, "seconds": arguments.seconds, "core": core}
        print(json.dumps({**head, "machine": machine, "figures": rows}))
        return 0
    print(f"{game.name}, medians and quartiles of {REPEATS} rounds, processor time unless noted")
    print(f"{folded(measure.machine_line(machine))}\n")
    print(measure.table(figures))
    return 0
