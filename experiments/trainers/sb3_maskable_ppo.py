"""MaskablePPO of sb3-contrib learns one seat among players that are given, at many tables.

    python experiments/trainers/sb3_maskable_ppo.py --out runs/sb3
    bideuchre match experiments/trainers/sb3_maskable_ppo.py:Player rule --boards 2000

It learns in one seat and is measured in both seats of a side, on duplicate boards of other deals.
"""

from __future__ import annotations

# isort: split
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bideuchre_env.cli.program import USAGE, complain

try:
    import torch
    from sb3_contrib import MaskablePPO
    from stable_baselines3.common.vec_env import VecMonitor, VecNormalize
except ImportError as error:
    missing = f'learning needs {error.name}: pip install "bideuchre_env[sb3]"'
    complain(missing, "sb3_maskable_ppo.py")
    sys.exit(USAGE)

from judged import TrainerArgs, learn_and_judge, option

from bideuchre_env import Rules
from bideuchre_env.adapters.sb3 import VecEnv
from bideuchre_env.cli.script_args import run
from bideuchre_env.core.observation.layout import layout_of

POLICY = "policy.zip"


@dataclass(frozen=True)
class Args(TrainerArgs):
    """The settings of a run; every field is an option of the command line."""

    out: Path = field(default=Path("runs/sb3"), metadata={"help": "folder for the policy"})
    steps: int = option(400_000, "decisions to learn from")
    tables: int = option(256, "tables that are played at once")
    table_steps: int = option(64, "decisions at each of them between updates")
    opponents: str = option("cautious", "who plays in the other three seats")
    hidden: int = option(128, "units of either hidden layer")
    rate: float = option(0.001, "learning rate at first; it falls to nothing")
    minibatch: int = option(1024, "decisions of a step of learning")
    epochs: int = option(4, "times each decision is learned from")
    entropy: float = option(0.01, "worth of entropy")
    lambda_: float = option(0.95, "of the returns: 0 trusts the critic, 1 what came of the hand")
    threads: int = option(1, "of torch")


class Player:
    """The policy of a file, as an agent: the likeliest legal action."""

    name = "maskable_ppo"

    def __init__(self, rules: Rules, weights: Path = Args.out / POLICY) -> None:
        self.layout, self.model = layout_of(rules), MaskablePPO.load(weights, device="cpu")

    def act_rows(self, observations: Any, action_masks: Any) -> Any:
        """Actions (n,) for observations (n, D) and masks (n, A)."""
        seen = self.layout.scaled(observations)
        return self.model.predict(seen, action_masks=action_masks, deterministic=True)[0]


def learned(args: Args) -> tuple[MaskablePPO, int]:
    """The model after all steps, and how many they were."""
    tables = VecEnv(
        args.tables, args.variant, opponents=args.opponents, episode="hand", observation="flat"
    )
    envs = VecNormalize(VecMonitor(tables), norm_obs=False, gamma=1.0)  # rewards near 1
    model = MaskablePPO(
        "MlpPolicy",
        envs,
        n_steps=args.table_steps,
        batch_size=args.minibatch,
        n_epochs=args.epochs,
        learning_rate=lambda left: left * args.rate,
        gamma=1.0,
        gae_lambda=args.lambda_,
        ent_coef=args.entropy,
        policy_kwargs={"net_arch": [args.hidden, args.hidden]},
        seed=args.seed,
        device="cpu",
        verbose=1,
    )
    model.learn(args.steps, log_interval=10)
    return model, model.num_timesteps


def main(args: Args) -> int:
    """Learn, keep the policy, and measure it on duplicate boards."""
    torch.set_num_threads(args.threads)
    return learn_and_judge(
        args, "sb3-contrib", learned, MaskablePPO.save, Player, args.out / POLICY
    )


if __name__ == "__main__":
    sys.exit(run(main, Args))
