"""Common to the scripts of trainers: settings, and what a policy is worth once it has learned."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

import bideuchre_env
from bideuchre_env import match
from bideuchre_env._files import write_file
from bideuchre_env.bench import measure
from bideuchre_env.cli.script_args import ScriptArgs
from bideuchre_env.evaluation.statistics.scores import interval_dict

MEASURED_SEED = 20_000_000  # of boards: deals that nobody learned from


def option(default: Any, sense: str) -> Any:
    """A field of `Args`."""
    return field(default=default, metadata={"help": sense})


@dataclass(frozen=True)
class TrainerArgs(ScriptArgs):
    """The settings that every trainer's script has."""

    variant: str = option("cincinnati_v0", "the game")
    seed: int = option(1, "of deals, draws and first weights")
    boards: int = option(1000, "duplicate boards it is measured on, against each judge")
    judges: tuple[str, ...] = field(
        default=("cautious", "rule"), metadata={"help": "who it is measured by"}
    )
    json: Path | None = field(default=None, metadata={"help": "a file to keep the result in"})


def learn_and_judge(
    args: Any,
    library: str,
    learned: Callable[[Any], tuple[Any, int]],
    save: Callable[[Any, Path], Any],
    player: Callable[..., Any],
    file: Path,
) -> int:
    """Learn, save the policy in `file`, and play duplicate boards with it as a `player`.

    `learned` gives the policy and how many decisions it learned from; `library` is the trainer's
    distribution.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    began = time.process_time()
    policy, decisions = learned(args)
    seconds = time.process_time() - began
    save(policy, file)
    agent = player(bideuchre_env.make(args.variant).rules, file)
    return judged(args, library, agent, decisions, seconds)


def save_state(network: Any, file: Path) -> None:
    """Save the weights of a network of torch."""
    import torch

    torch.save(network.state_dict(), file)


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
