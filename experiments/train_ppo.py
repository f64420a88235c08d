"""Train agent `ppo` from scratch by self-play: PPO for the cards, a regression for the auction.

    python experiments/train_ppo.py --out runs/ppo/cincinnati
    python experiments/train_ppo.py --variant barrie_v0 --millions 500 --out runs/ppo/barrie

The reward of both partners is the point difference of their side. Forced moves are not learned
from. Every batch is `--hands` new hands, played to the end by the current networks and used once:

- The cards (given up, passed, played) by PPO: a clipped step with each seat's own lambda-returns.
- The auction (calls, and naming the strain) by regression: a separate network predicts each call's
  advantage over the critic's value, and calls are sampled by a softmax of it over a temperature. In
  some hands one call is forced, so that rare ones, such as going alone, occur; the calls before a
  forced one are not learned from.

With `--workers N`, N processes play while this one learns. Their weights are always one update old,
so results are still determined by the settings. `--ray` runs the workers on a cluster.

With `--device cuda` (experimental) a GPU learns, and plays unless there are workers: games,
features and random draws stay on it. Hands are dealt, and returns computed, on the CPU.

A run resumes from the checkpoint in `--out`, if there is one. On one thread of the same processor
the result is bit for bit that of an uninterrupted run. Ctrl-C or SIGTERM writes a checkpoint and
ends. The folder has `curve.csv`, TensorBoard's files, the checkpoint, and `weights.npz`, the
weights of `ppo`:

    bideuchre match ppo:weights=runs/ppo/cincinnati/weights.npz expert --boards 2000
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path

from bideuchre_env._install import how_to_install
from bideuchre_env.cli.program import USAGE, complain

try:
    import torch
    from ppo.logging import Log, Strength, measure
except ImportError as error:
    missing = error.name or "torch"
    complain(f"training needs {missing}: {how_to_install('train')}", "train_ppo.py")
    sys.exit(USAGE)

from ppo.networks import torch_device
from ppo.run import Run
from ppo.workers import pool_of

import bideuchre_env
from bideuchre_env._files import only_run_in
from bideuchre_env.cli.script_args import ScriptArgs, dashed, option, run
from bideuchre_env.envs.registration import Variant
from bideuchre_env.errors import OptionError
from bideuchre_env.runtime.devices import check_device
from bideuchre_env.runtime.interrupts import ctrl_c, interrupted_code

MEASURED_SEED, FINAL_SEED = 20_000_000, 30_000_000  # board seeds: during the run, at its end
CHECKPOINT_SECONDS = 120
INFINITE = float("inf")
BOUNDS: dict[tuple[str, ...], tuple[float, float]] = {
    ("seed",): (0, 2**32 - 1),
    ("millions", "measure", "rate", "clip", "temperature", "last_temperature"): (1e-6, INFINITE),
    ("minibatch", "hidden", "hidden_auction", "threads"): (1, 2**16),
    ("hands",): (16, 2**16),
    ("entropy", "critic"): (0, INFINITE),
    ("workers",): (0, 1024),
    ("lambda_", "forced", "alone"): (0, 1),
    ("boards", "final_boards"): (2, 10**7),
}
FREE = ("out", "measure", "boards", "final_boards", "opponents", "ray", "ray_address")
"""Options on which neither the weights nor a checkpoint depend."""
LOOSE = ("variant", "threads")
"""Other options that may change when a run resumes; a variant's rules are compared."""


@dataclass(frozen=True)
class Args(ScriptArgs):
    """The settings of a run; every field is an option of the command line."""

    variant: str = option("cincinnati_v0", "variant")
    out: Path = option(Path("runs/ppo"), "folder of the run, new or to resume")
    seed: int = option(1, "seed of deals, samples and initial weights")
    millions: float = option(120.0, "decisions of the whole run, in millions")
    hands: int = option(2048, "hands per batch")
    minibatch: int = option(4096, "decisions of a minibatch")
    hidden: int = option(128, "units of each hidden layer of the card network")
    hidden_auction: int = option(64, "units of each hidden layer of the auction network")
    rate: float = option(0.001, "initial learning rate; it falls to 1/50 of it")
    clip: float = option(0.1, "PPO's clip coefficient")
    entropy: float = option(0.01, "initial weight of the entropy bonus; it falls to 1/10 of it")
    critic: float = option(0.5, "weight of the value loss")
    lambda_: float = option(
        0.9, "lambda of the returns: 0 bootstraps from the critic, 1 uses the points of the hand"
    )
    forced: float = option(
        0.08, "share of calls replaced by exploration, uniform or nearly, for rare calls"
    )
    alone: float = option(0.3, "share of the hands best suited to a lone bid in which one is tried")
    temperature: float = option(0.3, "initial temperature of the softmax over calls, in points")
    last_temperature: float = option(0.1, "final temperature")
    measure: float = option(10.0, "millions of decisions between measurements")
    boards: int = option(1000, "boards of a measurement, against each opponent")
    final_boards: int = option(10_000, "boards of the last measurement, of another seed")
    opponents: tuple[str, ...] = option(("cautious", "rule", "expert"), "opponents in measurements")
    threads: int = option(1, "threads of torch; results of more than 1 are not bit for bit equal")
    device: str = option("cpu", "device of learning, and of play without --workers: cpu or cuda")
    all_hands: bool = option(
        False, "separate critic for the card play, with all hands as its input"
    )
    workers: int = option(
        0, "processes that play while this one learns; their weights are one update old"
    )
    ray: bool = option(
        False, "play on Ray instead of --workers: on a running local cluster, or a new one"
    )
    ray_address: str | None = option(
        None, "play on this Ray cluster instead of --workers, as host:port"
    )


def check(args: Args) -> Variant:
    """Return the game; raise `OptionError` for invalid settings before any work starts."""
    for names, (least, most) in BOUNDS.items():
        for name in names:
            value = getattr(args, name)
            if not least <= value <= most or value == INFINITE:
                allowed = (
                    f"{least} or more, and finite" if most == INFINITE else f"{least} to {most}"
                )
                raise OptionError(f"{dashed(name)} {value}: {allowed}")
    game = bideuchre_env.make(args.variant)
    for opponent in args.opponents:
        bideuchre_env.agents.make(opponent, game.rules, seed=0)
    if args.hands % max(1, args.workers):
        raise OptionError(f"--workers {args.workers}: a number that divides --hands {args.hands}")
    if (args.ray or args.ray_address) and not args.workers:
        raise OptionError(
            "--ray, --ray-address: how many play there at a time is --workers, 1 or more"
        )
    check_device(args.device)
    if torch_device(args.device) == "cuda" and not torch.cuda.is_available():
        raise OptionError("--device cuda: torch finds no GPU that it can use")
    return game


def main(args: Args) -> int:
    """Train to the end, from the checkpoint if there is one; return 0 or `interrupted_code`."""
    torch.set_num_threads(args.threads)
    game = check(args)
    names = [field.name for field in fields(args) if field.name not in FREE]
    variant = args.variant if args.variant.endswith(".toml") else game.name
    command = args.command("experiments/train_ppo.py", names, variant=variant)
    metadata = {"variant": game.name, "seed": str(args.seed), "command": command}
    settings = {name: str(getattr(args, name)) for name in names if name not in LOOSE}
    with (
        only_run_in(args.out),
        pool_of(args.workers, args.ray, args.ray_address) as pool,
        Run(args, game.rules, pool, settings, metadata) as training,
        ctrl_c() as pressed,
        Log(args.out, training.batch) as log,
    ):
        saved = time.monotonic()
        while not pressed.is_set():
            if training.is_measurement_due():
                training.save()  # the curve must not be ahead of the checkpoint
                saved = time.monotonic()
                if not compare(training, log, args.boards, MEASURED_SEED, pressed.is_set):
                    break
                training.measured = training.decisions
            if training.progress == 1:
                training.save()
                compare(training, log, args.final_boards, FINAL_SEED, pressed.is_set)
                return interrupted_code() if pressed.is_set() else 0
            if time.monotonic() - saved > CHECKPOINT_SECONDS:
                training.save()
                saved = time.monotonic()
            log.batch(training, training.update())
        training.save()
        return interrupted_code()


def compare(training: Run, log: Log, boards: int, seed: int, stopped: Callable[[], bool]) -> bool:
    """Measure the networks against every opponent on `boards` boards with this seed.

    Log the result and return True; if `stopped()` becomes true, log nothing and return False.
    """
    strengths: dict[str, Strength] = {}
    for opponent in training.args.opponents:
        networks = training.learner.networks
        strength = measure(training.rules, networks, opponent, boards, seed, stopped)
        if strength is None:
            return False
        strengths[opponent] = strength
    log.strengths(training, boards, seed, strengths)
    return True


if __name__ == "__main__":
    sys.exit(run(main, Args))
