"""Train by self-play of all four seats at many tables with Tianshou 2's PPO.

    python experiments/trainers/tianshou_ppo.py --out runs/tianshou
    bideuchre match bideuchre_env.agents:FeatureAgent:policy=runs/tianshou/policy.npz rule

The policy is evaluated in both seats of a side, on duplicate boards of other deals.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from trainer_tools import PpoArgs, extra, learn_and_evaluate

import bideuchre_env
from bideuchre_env.cli.script_args import option, run

with extra("tianshou"):
    import torch
    from tianshou.algorithm import PPO
    from tianshou.algorithm.modelfree.reinforce import DiscreteActorPolicy
    from tianshou.algorithm.optim import AdamOptimizerFactory, LRSchedulerFactoryLinear
    from tianshou.data import VectorReplayBuffer
    from tianshou.trainer import OnPolicyTrainerParams

    from bideuchre_env.adapters.tianshou import (
        MaskedActor,
        ObservationCritic,
        PolicyAgent,
        SeatCollector,
        Seats,
    )

POLICY = "policy.npz"


@dataclass(frozen=True)
class Args(PpoArgs):
    """The settings of a run; every field is an option of the command line."""

    out: Path = option(Path("runs/tianshou"), "folder for the policy")
    tables: int = option(128, "tables played at once")
    table_steps: int = option(128, "decisions per table between updates")


def layers(inputs: int, hidden: int, outputs: int) -> torch.nn.Sequential:
    """Return a network with two hidden layers."""
    nn = torch.nn
    first, second = nn.Linear(inputs, hidden), nn.Linear(hidden, hidden)
    return nn.Sequential(first, nn.Tanh(), second, nn.Tanh(), nn.Linear(hidden, outputs))


def train(args: Args) -> tuple[MaskedActor, int]:
    """Train; return the actor and the number of decisions."""
    torch.manual_seed(args.seed)
    np.random.seed(args.seed)  # noqa: NPY002  # for its minibatches
    game = bideuchre_env.make(args.variant)
    options = {"episode": "hand", "observation": "features", "skip_forced": True}
    seats = Seats(game, args.tables, **options)
    inputs, batch = seats.tables.features.size, args.tables * args.table_steps
    updates = max(1, args.steps // batch)
    schedule = {
        "max_epochs": max(1, updates // 10),
        "epoch_num_steps": batch * min(10, updates),
        "collection_step_num_env_steps": batch,
    }
    actor = MaskedActor(layers(inputs, args.hidden, int(seats.action_space.n)))
    algorithm = PPO(
        policy=DiscreteActorPolicy(actor=actor, action_space=seats.action_space),
        critic=ObservationCritic(layers(inputs, args.hidden, 1)),
        optim=AdamOptimizerFactory(lr=args.rate).with_lr_scheduler_factory(
            LRSchedulerFactoryLinear(**schedule)  # as `falling`
        ),
        gamma=1.0,
        gae_lambda=args.lambda_,
        ent_coef=args.entropy,
        eps_clip=0.2,
        max_grad_norm=0.5,
        return_scaling=True,  # because points exceed 1
        advantage_normalization=True,
    )
    buffer = VectorReplayBuffer(2 * batch, len(seats))  # some seats decide more often than others
    collector = SeatCollector(algorithm, seats, buffer)
    collector.reset(gym_reset_kwargs={"seed": args.seed})
    algorithm.run_training(
        OnPolicyTrainerParams(
            training_collector=collector,
            **schedule,
            update_step_num_repetitions=args.epochs,
            batch_size=args.minibatch,
        )
    )
    return actor, collector.collect_step


def main(args: Args) -> int:
    """Train, save the policy, and evaluate it on duplicate boards."""
    return learn_and_evaluate(args, "tianshou", train, PolicyAgent, args.out / POLICY)


if __name__ == "__main__":
    sys.exit(run(main, Args))
