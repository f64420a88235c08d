"""RLlib's PPO, on its new API stack, learns all four seats with one network.

    python experiments/trainers/rllib_ppo.py --out runs/rllib
    bideuchre match experiments/trainers/rllib_ppo.py:Player rule --boards 2000

The critic has a network of its own: points of a hand go up to fifty, and would drown the policy.
"""

from __future__ import annotations

import bideuchre_env.runtime.quitting  # first: Ctrl-C is one line from now on

# isort: split
import os
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bideuchre_env.cli.program import USAGE, complain

try:
    import ray
    import torch
    from ray.rllib.algorithms.ppo import PPOConfig

    from bideuchre_env.adapters.rllib import POLICY as SHARED
    from bideuchre_env.adapters.rllib import (
        ModuleAgent,
        MultiAgentEnv,
        for_all_seats,
        masked_module,
        space_of,
    )
except ImportError as error:
    complain(f'learning needs {error.name}: pip install "bideuchre_env[rllib]"', "rllib_ppo.py")
    sys.exit(USAGE)

import bideuchre_env
from bideuchre_env import Rules, match
from bideuchre_env.cli.script_args import ScriptArgs, run

POLICY = "policy.pt"
MEASURED_SEED = 20_000_000  # of boards: deals that nobody learned from


@dataclass(frozen=True)
class Args(ScriptArgs):
    """The settings of a run; every field is an option of the command line."""

    variant: str = field(default="cincinnati_v0", metadata={"help": "the game"})
    out: Path = field(default=Path("runs/rllib"), metadata={"help": "folder for the policy"})
    seed: int = field(default=1, metadata={"help": "of deals, draws and first weights"})
    steps: int = field(default=200_000, metadata={"help": "decisions to learn from"})
    batch: int = field(default=8000, metadata={"help": "decisions between updates"})
    tables: int = field(default=64, metadata={"help": "tables that are played at once"})
    hidden: int = field(default=128, metadata={"help": "units of either hidden layer"})
    rate: float = field(default=0.001, metadata={"help": "learning rate"})
    minibatch: int = field(default=1000, metadata={"help": "decisions of a step of learning"})
    epochs: int = field(default=4, metadata={"help": "times each decision is learned from"})
    entropy: float = field(default=0.01, metadata={"help": "worth of entropy"})
    runners: int = field(default=0, metadata={"help": "processes that play; 0: this one does"})
    boards: int = field(default=1000, metadata={"help": "duplicate boards against each judge"})
    judges: tuple[str, ...] = field(
        default=("cautious", "rule"), metadata={"help": "who it is measured by"}
    )


class Player:
    """The policy of a file, as an agent: the likeliest legal action."""

    name = "rllib_ppo"

    def __init__(self, rules: Rules, weights: Path = Args.out / POLICY) -> None:
        kept = torch.load(weights, weights_only=True)
        spec = masked_module(kept["hidden"], vf_share_layers=False)
        spec.observation_space = space_of(rules)
        spec.action_space = MultiAgentEnv({"game": rules}).action_spaces["player_0"]
        spec.inference_only = True  # the critic is not kept
        module = spec.build()
        module.load_state_dict(kept["weights"])
        self._agent = ModuleAgent(module, rules)

    def act_rows(self, observations: Any, action_masks: Any) -> Any:
        """Actions (n,) for observations (n, D) and masks (n, A)."""
        return self._agent.act_rows(observations, action_masks)


def configured(args: Args) -> PPOConfig:
    """The trainer's settings."""
    return (
        PPOConfig()
        .environment(MultiAgentEnv, env_config={"game": args.variant, "episode": "hand"})
        .env_runners(
            num_env_runners=args.runners,
            num_envs_per_env_runner=args.tables,
            batch_mode="complete_episodes",
        )
        .multi_agent(policies={SHARED}, policy_mapping_fn=for_all_seats)
        .rl_module(rl_module_spec=masked_module((args.hidden,) * 2, vf_share_layers=False))
        .training(
            train_batch_size_per_learner=args.batch,
            minibatch_size=args.minibatch,
            num_epochs=args.epochs,
            lr=args.rate,
            gamma=1.0,
            lambda_=0.95,
            entropy_coeff=args.entropy,
            vf_clip_param=float("inf"),
            vf_loss_coeff=0.01,
            use_kl_loss=False,
            clip_param=0.2,
        )
        .debugging(seed=args.seed)
    )


def learned(args: Args) -> Any:
    """The weights of the network after all steps."""
    algorithm = configured(args).build_algo()
    steps = 0
    try:
        while steps < args.steps:
            result = algorithm.train()
            steps += result["env_runners"]["num_env_steps_sampled"]
            entropy = float(result["learners"][SHARED]["entropy"])
            print(f"{steps} decisions, entropy {entropy:.2f}", flush=True)
        return algorithm.get_module(SHARED).state_dict()
    finally:
        algorithm.stop()


def main(args: Args) -> int:
    """Learn, keep the policy, and measure it on duplicate boards."""
    started = not ray.is_initialized()
    if started:
        os.environ.setdefault("RAY_AUTH_MODE", "disabled")  # else it writes a token at home
        cores = max(1, args.runners)
        ray.init(num_cpus=cores, include_dashboard=False, object_store_memory=256 << 20)
    try:
        weights = learned(args)
    finally:
        if started:
            ray.shutdown()
    args.out.mkdir(parents=True, exist_ok=True)
    file = args.out / POLICY
    torch.save({"hidden": (args.hidden,) * 2, "weights": weights}, file)
    player = Player(bideuchre_env.make(args.variant).rules, file)
    for judge in args.judges:
        print(match.play(args.variant, player, judge, boards=args.boards, seed=MEASURED_SEED))
    return 0


if __name__ == "__main__":
    sys.exit(run(main, Args))
