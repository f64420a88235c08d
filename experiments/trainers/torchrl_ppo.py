"""Train by self-play of all four seats at many tables with TorchRL's PPO.

    python experiments/trainers/torchrl_ppo.py --out runs/torchrl
    bideuchre match bideuchre_env.agents:FeatureAgent:policy=runs/torchrl/policy.npz rule

The policy is evaluated in both seats of a side, on duplicate boards of other deals.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from pathlib import Path

from trainer_tools import PpoArgs, extra, falling, learn_and_evaluate

import bideuchre_env
from bideuchre_env import Rules
from bideuchre_env.cli.script_args import option, run
from bideuchre_env.learning.encoder import encoder_of

with extra("torchrl"):
    import torch
    from tensordict.nn import TensorDictModule
    from torchrl.collectors import Collector
    from torchrl.modules import MLP, MaskedCategorical, ProbabilisticActor, ValueOperator
    from torchrl.objectives import ClipPPOLoss

    from bideuchre_env.adapters.torchrl import PolicyAgent, SelfPlayEnv, add_advantages

POLICY = "policy.npz"
SCALE = 5.0  # points per unit of the critic's value


@dataclass(frozen=True)
class Args(PpoArgs):
    """The settings of a run; every field is an option of the command line."""

    out: Path = option(Path("runs/torchrl"), "folder for the policy")


def layers(rules: Rules, hidden: int, outputs: int | None = None) -> MLP:
    """Return a network with two hidden layers; `outputs` None: a logit for each action."""
    encoder = encoder_of(rules)
    return MLP(encoder.size, outputs or encoder.n_actions, num_cells=[hidden, hidden])


def train(args: Args) -> tuple[MLP, int]:
    """Train; return the actor's network and the number of decisions."""
    torch.manual_seed(args.seed)
    game = bideuchre_env.make(args.variant)
    options = {"episode": "hand", "observation": "features", "skip_forced": True}
    env = SelfPlayEnv(game, args.tables, **options)
    env.set_seed(args.seed)
    net = layers(game.rules, args.hidden)
    actor = ProbabilisticActor(
        TensorDictModule(net, in_keys=["observation"], out_keys=["logits"]),
        in_keys={"logits": "logits", "mask": "action_mask"},
        distribution_class=MaskedCategorical,
        return_log_prob=True,
    )
    critic = ValueOperator(layers(game.rules, args.hidden, 1), in_keys=["observation"])
    loss = ClipPPOLoss(actor, critic, entropy_coeff=args.entropy, normalize_advantage=True)
    optimizer = torch.optim.Adam(loss.parameters(), lr=args.rate)
    batch = args.tables * args.table_steps
    updates = max(1, args.steps // batch)
    collector = Collector(
        env,
        actor,
        frames_per_batch=batch,
        total_frames=updates * batch,
        auto_register_policy_transforms=False,
    )
    began = time.perf_counter()
    for number, data in enumerate(collector):
        optimizer.param_groups[0]["lr"] = falling(args.rate, number / updates)
        data["next", "reward"] /= SCALE
        with torch.no_grad():
            critic(data)
        add_advantages(data, lambda_=args.lambda_)
        flat = data[data["complete"][..., 0]]
        for _ in range(args.epochs):
            for rows in torch.randperm(len(flat)).split(args.minibatch):
                losses = loss(flat[rows])
                total = sum(losses[f"loss_{part}"] for part in ("objective", "critic", "entropy"))
                optimizer.zero_grad()
                total.backward()
                torch.nn.utils.clip_grad_norm_(loss.parameters(), 0.5)
                optimizer.step()
        if number % 10 == 9:
            steps = (number + 1) * batch
            print(f"{steps:,} decisions, {steps / (time.perf_counter() - began):,.0f} a second")
    collector.shutdown()
    return net, updates * batch


def main(args: Args) -> int:
    """Train, save the policy, and evaluate it on duplicate boards."""
    return learn_and_evaluate(args, "torchrl", train, PolicyAgent, args.out / POLICY)


if __name__ == "__main__":
    sys.exit(run(main, Args))
