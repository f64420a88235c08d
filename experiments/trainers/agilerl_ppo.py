"""Train one seat with AgileRL's PPO, at many tables with fixed agents in the other seats.

    python experiments/trainers/agilerl_ppo.py --out runs/agilerl
    bideuchre match bideuchre_env.agents:FeatureAgent:policy=runs/agilerl/policy.npz rule

The policy learns in one seat. It is evaluated in both seats of a side, on duplicate boards of other
deals.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from gymnasium.wrappers.vector import TransformReward
from trainer_tools import SeatArgs, extra, learn_and_evaluate

from bideuchre_env.cli.script_args import option, run

with extra("agilerl"):
    import torch
    from agilerl.algorithms import PPO
    from agilerl.rollouts import collect_rollouts

    from bideuchre_env.adapters.agilerl import PolicyAgent, make_vec

POLICY = "policy.npz"
SCALE = 5.0  # points per unit of the critic's value


@dataclass(frozen=True)
class Args(SeatArgs):
    """The settings of a run; every field is an option of the command line."""

    out: Path = option(Path("runs/agilerl"), "folder for the policy")


def train(args: Args) -> tuple[PPO, int]:
    """Train; return the agent and the number of decisions."""
    torch.manual_seed(args.seed)
    np.random.seed(args.seed)  # noqa: NPY002  # for its minibatches
    options = {"episode": "hand", "observation": "features", "skip_forced": True}
    envs = make_vec(args.variant, args.tables, opponents=args.opponents, **options)
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
        rollout_buffer_config={"use_gae": False},  # see the adapter's module docstring
        ent_coef=args.entropy,
        update_epochs=args.epochs,
        num_envs=args.tables,
    )
    agent.set_training_mode(True)
    scaled = TransformReward(envs, lambda rewards: rewards / SCALE)
    scaled.reset(seed=args.seed)
    state: dict[str, Any] = {}
    began = time.perf_counter()
    updates = max(1, args.steps // batch)
    for number in range(updates):
        scores, obs, done, running, info = collect_rollouts(agent, scaled, **state)
        state = {"last_obs": obs, "last_done": done, "last_scores": running, "last_info": info}
        agent.learn()
        if number % 10 == 9:
            steps, points = (number + 1) * batch, SCALE * sum(scores) / len(scores)
            speed = steps / (time.perf_counter() - began)
            print(f"{steps:,} decisions: {points:+.2f} points per hand, {speed:,.0f} a second")
    return agent, updates * batch


def main(args: Args) -> int:
    """Train, save the policy, and evaluate it on duplicate boards."""

    return learn_and_evaluate(args, "agilerl", train, PolicyAgent, args.out / POLICY)


if __name__ == "__main__":
    sys.exit(run(main, Args))
