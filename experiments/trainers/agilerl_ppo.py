"""Train by self-play of all four seats at many tables with AgileRL's PPO.

    python experiments/trainers/agilerl_ppo.py --out runs/agilerl
    bideuchre match bideuchre_env.agents:FeatureAgent:policy=runs/agilerl/policy.npz rule

The policy is evaluated in both seats of a side, on duplicate boards of other deals.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from trainer_tools import PpoArgs, extra, falling, learn_and_evaluate

from bideuchre_env.cli.script_args import option, run

with extra("agilerl"):
    import torch
    from agilerl.algorithms import PPO

    from bideuchre_env.adapters.agilerl import PolicyAgent, SelfPlayVec, collect_self_play

POLICY = "policy.npz"
SCALE = 5.0  # points per unit of the critic's value


@dataclass(frozen=True)
class Args(PpoArgs):
    """The settings of a run; every field is an option of the command line."""

    out: Path = option(Path("runs/agilerl"), "folder for the policy")


def train(args: Args) -> tuple[PPO, int]:
    """Train; return the agent and the number of decisions."""
    torch.manual_seed(args.seed)
    np.random.seed(args.seed)  # noqa: NPY002  # for its minibatches
    options = {"episode": "hand", "observation": "features", "skip_forced": True}
    envs = SelfPlayVec(args.variant, args.tables, reward_scale=SCALE, **options)
    batch = args.tables * args.table_steps
    agent = PPO(
        envs.single_observation_space,
        envs.single_action_space,
        net_config={
            "latent_dim": args.hidden,
            "encoder_config": {"hidden_size": [args.hidden]},
            "head_config": {"hidden_size": [args.hidden]},
        },
        batch_size=args.minibatch,
        lr=args.rate,
        learn_step=batch,
        gamma=1.0,
        gae_lambda=args.lambda_,
        ent_coef=args.entropy,
        update_epochs=args.epochs,
        num_envs=args.tables,
        share_encoders=False,
    )
    agent.set_training_mode(True)
    obs, info = envs.reset(seed=args.seed)
    done, scores = np.zeros(args.tables), np.zeros(args.tables)
    began = time.perf_counter()
    updates = max(1, args.steps // batch)
    for number in range(updates):
        agent.optimizer.param_groups[0]["lr"] = falling(args.rate, number / updates)
        state = {"last_obs": obs, "last_done": done, "last_scores": scores, "last_info": info}
        _, obs, done, scores, info = collect_self_play(agent, envs, **state)
        agent.learn()
        if number % 10 == 9:
            steps = (number + 1) * batch
            print(f"{steps:,} decisions, {steps / (time.perf_counter() - began):,.0f} a second")
    return agent, updates * batch


def main(args: Args) -> int:
    """Train, save the policy, and evaluate it on duplicate boards."""
    return learn_and_evaluate(args, "agilerl", train, PolicyAgent, args.out / POLICY)


if __name__ == "__main__":
    sys.exit(run(main, Args))
