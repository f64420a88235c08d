"""Common to the scripts of trainers: what their policies are worth, and how fast they learned."""

from __future__ import annotations

import json
from dataclasses import field
from importlib.metadata import version
from typing import Any

from bideuchre_env import match
from bideuchre_env._files import write_file
from bideuchre_env.bench import measure
from bideuchre_env.evaluation.statistics.scores import interval_dict

MEASURED_SEED = 20_000_000  # of boards: deals that nobody learned from


def option(default: Any, sense: str) -> Any:
    """A field of `Args`."""
    return field(default=default, metadata={"help": sense})


def judged(args: Any, library: str, player: Any, decisions: int, seconds: float) -> int:
    """Play duplicate boards against every judge, print what they come to, and keep it if asked.

    `library` is the trainer's distribution, `decisions` what it learned from, in `seconds` of
    processor time.
    """
    decisions, rate, points = int(decisions), decisions / seconds, {}
    print(f"{decisions:,} decisions, {rate:,.0f} a second of processor time, learning included")
    for judge in args.judges:
        result = match.play(args.variant, player, judge, boards=args.boards, seed=MEASURED_SEED)
        print(result)
        if result.interrupted:
            raise KeyboardInterrupt
        points[judge] = interval_dict(result.boards.points_per_hand)
    if args.json is not None:
        report = {
            "library": library,
            "version": version(library),
            "variant": args.variant,
            "seed": args.seed,
            "decisions": decisions,
            "decisions per second": rate,
            "boards": args.boards,
            "points per hand over": points,
            "machine": measure.machine_line(measure.machine()),
        }
        write_file(args.json, json.dumps(report, indent=1) + "\n")
    return 0
