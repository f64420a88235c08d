"""Functions shared by the trainer scripts: settings, imports of an extra, saving, evaluation."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import bideuchre_env
from bideuchre_env import match
from bideuchre_env._files import write_file
from bideuchre_env._install import how_to_install
from bideuchre_env.agents import FeatureAgent
from bideuchre_env.bench import measure
from bideuchre_env.cli.program import USAGE, complain
from bideuchre_env.cli.script_args import ScriptArgs, option
from bideuchre_env.evaluation.statistics.scores import interval_dict

EVALUATION_SEED = 20_000_000  # seed of the boards: deals that are not used for training


@contextmanager
def extra(name: str, purpose: str = "learning") -> Iterator[None]:
    """Wrap imports of an extra: if it is missing, exit with a line on how to install it."""
    try:
        yield
    except ImportError as error:
        complain(f"{purpose} needs {error.name}: {how_to_install(name)}", Path(sys.argv[0]).name)
        sys.exit(USAGE)


@dataclass(frozen=True)
class TrainerArgs(ScriptArgs):
    """The settings of every trainer script."""

    variant: str = option("cincinnati_v0", "variant")
    seed: int = option(1, "seed of deals, samples and initial weights")
    boards: int = option(1000, "duplicate boards of the final measurement, per opponent")
    judges: tuple[str, ...] = option(("cautious", "rule"), "opponents of the final measurement")
    out: Path = option(Path("runs/trainer"), "folder for the policy")
    json: Path | None = option(None, "JSON file for the result")
    hidden: int = option(128, "units of each hidden layer")
    minibatch: int = option(2048, "decisions of a minibatch")
    threads: int = option(1, "threads of torch")


@dataclass(frozen=True)
class PpoArgs(TrainerArgs):
    """The settings of PPO that all trainers but `cleanrl_ppo.py` share."""

    steps: int = option(3_000_000, "decisions of the whole training")
    tables: int = option(512, "tables played at once")
    table_steps: int = option(64, "decisions per table between updates")
    rate: float = option(0.001, "initial learning rate; it falls to 0")
    epochs: int = option(4, "epochs per batch")
    entropy: float = option(0.01, "weight of the entropy bonus")
    lambda_: float = option(
        0.95, "lambda of the returns: 0 bootstraps from the critic, 1 uses the points of the hand"
    )


def falling(rate: float, done: float) -> float:
    """Return the learning rate after a fraction of a training: it falls linearly to 0."""
    return rate * (1 - done)


def learn_and_evaluate(
    args: Any,
    library: str,
    train: Callable[[Any], tuple[Any, int]],
    policy_agent: Callable[..., FeatureAgent],
    file: Path,
) -> int:
    """Train, save `policy_agent(rules, policy)`, and play the file on boards against the judges.

    `train(args)` returns the policy and the number of its training decisions; `library` is the name
    of the trainer's package on PyPI. The results are printed, and written to the file of `--json`.
    Return 0; `KeyboardInterrupt` if the evaluation is interrupted.
    """
    import torch

    torch.set_num_threads(args.threads)
    file.parent.mkdir(parents=True, exist_ok=True)
    began = time.process_time()
    policy, decisions = train(args)
    rate = int(decisions) / (time.process_time() - began)
    rules, points = bideuchre_env.make(args.variant).rules, {}
    policy_agent(rules, policy).save(file)
    print(f"{decisions:,} decisions, {rate:,.0f} a second of processor time, learning included")
    agent = FeatureAgent(rules, file)
    agent.name = library
    for judge in args.judges:
        result = match(args.variant, agent, judge, boards=args.boards, seed=EVALUATION_SEED)
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
            "decisions": int(decisions),
            "decisions per second": rate,
            "boards": args.boards,
            "points per hand over": points,
            "machine": measure.machine_line(measure.machine()),
        }
        write_file(args.json, json.dumps(report, indent=1) + "\n")
    return 0
