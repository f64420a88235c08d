"""Train one network for all four seats with RLlib's PPO, on its new API stack.

    python experiments/trainers/rllib_ppo.py --out runs/rllib
    bideuchre match bideuchre_env.agents:FeatureAgent:policy=runs/rllib/policy.npz rule

The critic has its own network: points of a hand go up to fifty, and would dominate
a shared network.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trainer_tools import PpoArgs, extra, learn_and_evaluate

from bideuchre_env.cli.script_args import option, run

with extra("rllib"):
    import ray

    from bideuchre_env.adapters.rllib import PolicyAgent, SelfPlayConfig, masked_module

POLICY = "policy.npz"


@dataclass(frozen=True)
class Args(PpoArgs):
    """The settings of a run; every field is an option of the command line."""

    out: Path = option(Path("runs/rllib"), "folder for the policy")
    steps: int = option(4_000_000, "decisions of the whole training")
    tables: int = option(512, "tables of each process that plays")
    runners: int = option(0, "processes that play; 0: this process plays")


def configured(args: Args) -> tuple[SelfPlayConfig, int]:
    """Return RLlib's configuration of a run with these options, and the number of updates."""
    batch = args.tables * args.table_steps * max(1, args.runners)
    updates = max(1, args.steps // batch)
    options = {"game": args.variant, "episode": "hand", "skip_forced": True}
    config = (
        SelfPlayConfig()
        .environment(env_config=options)
        .env_runners(num_env_runners=args.runners, num_envs_per_env_runner=args.tables)
        .rl_module(rl_module_spec=masked_module((args.hidden,) * 2, vf_share_layers=False))
        .training(
            train_batch_size_per_learner=batch,
            minibatch_size=args.minibatch,
            num_epochs=args.epochs,
            lr=[[0, args.rate], [updates * batch, 0.0]],
            lambda_=args.lambda_,
            entropy_coeff=args.entropy,
            vf_loss_coeff=0.01,  # of squared points
            use_kl_loss=False,
            clip_param=0.2,
        )
        .debugging(seed=args.seed)
    )
    return config, updates


def train(args: Args) -> tuple[Any, int]:
    """Train; return the module and the number of decisions."""
    config, updates = configured(args)
    algorithm = config.build_algo()
    try:
        for number in range(updates):
            result = algorithm.train()
            steps = int(result["env_runners"]["num_env_steps_sampled_lifetime"])
            if number % 10 == 9:
                entropy = float(result["learners"]["default_policy"]["entropy"])
                print(f"{steps:,} decisions, entropy {entropy:.2f}", flush=True)
        return algorithm.get_module(), steps
    finally:
        algorithm.stop()


def main(args: Args) -> int:
    """Train, save the policy, and evaluate it on duplicate boards."""
    started = not ray.is_initialized()
    if started:
        os.environ.setdefault("RAY_AUTH_MODE", "disabled")  # else it writes a token to the home
        cores = max(1, args.runners)
        ray.init(num_cpus=cores, include_dashboard=False, object_store_memory=256 << 20)
    try:
        return learn_and_evaluate(args, "ray", train, PolicyAgent, args.out / POLICY)
    finally:
        if started:
            ray.shutdown()


if __name__ == "__main__":
    sys.exit(run(main, Args))
