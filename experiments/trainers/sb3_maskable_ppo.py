"""Train at many tables with sb3-contrib's MaskablePPO: all four seats, or one learner.

    python experiments/trainers/sb3_maskable_ppo.py --out runs/sb3
    python experiments/trainers/sb3_maskable_ppo.py --opponents rule --steps 1000000
    bideuchre match bideuchre_env.agents:FeatureAgent:policy=runs/sb3/policy.npz rule

The policy is evaluated in both seats of a side, on duplicate boards of other deals.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from trainer_tools import PpoArgs, extra, falling, learn_and_evaluate

from bideuchre_env.cli.script_args import option, run

with extra("sb3"):
    from sb3_contrib import MaskablePPO
    from stable_baselines3.common.vec_env import VecNormalize

    from bideuchre_env.adapters.sb3 import PolicyAgent, SelfPlayPPO, SelfPlayVecEnv, VecEnv

POLICY = "policy.npz"
SCALE = 5.0  # points per unit of the critic's value


@dataclass(frozen=True)
class Args(PpoArgs):
    """The settings of a run; every field is an option of the command line."""

    out: Path = option(Path("runs/sb3"), "folder for the policy")
    steps: int = option(4_000_000, "decisions of the whole training")
    opponents: str = option("", "agent in the other three seats; none: self-play")


def train(args: Args) -> tuple[MaskablePPO, int]:
    """Train; return the model and the number of decisions."""
    options = {"episode": "hand", "observation": "features", "skip_forced": True}
    if args.opponents:
        learners = VecEnv(args.tables, args.variant, opponents=args.opponents, **options)
        tables, method = VecNormalize(learners, norm_obs=False, gamma=1.0), MaskablePPO
    else:
        tables = SelfPlayVecEnv(args.tables, args.variant, reward_scale=SCALE, **options)
        method = SelfPlayPPO
    model = method(
        "MlpPolicy",
        tables,
        n_steps=args.table_steps,
        batch_size=args.minibatch,
        n_epochs=args.epochs,
        learning_rate=lambda left: falling(args.rate, 1 - left),
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
    """Train, save the policy, and evaluate it on duplicate boards."""
    return learn_and_evaluate(args, "sb3-contrib", train, PolicyAgent, args.out / POLICY)


if __name__ == "__main__":
    sys.exit(run(main, Args))
