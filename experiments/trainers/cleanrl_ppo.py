"""Train by self-play of all four seats at many tables: PPO in one file, in CleanRL's style.

    python experiments/trainers/cleanrl_ppo.py --out runs/cleanrl
    bideuchre match bideuchre_env.agents:FeatureAgent:policy=runs/cleanrl/policy.npz rule

It differs from CleanRL's `ppo.py` in two ways: only legal actions are sampled, and each seat has
its own returns, because the next step at a table belongs to another seat (`lambda_returns`).
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from trainer_tools import TrainerArgs, extra, falling, learn_and_evaluate

import bideuchre_env
from bideuchre_env.agents import FeatureAgent
from bideuchre_env.cli.script_args import option, run
from bideuchre_env.learning.returns import lambda_returns

with extra("train"):
    import torch
    from torch import Tensor, nn
    from torch.distributions import Categorical

POLICY = "policy.npz"
SCALE = 5.0  # points per unit of the critic's value


@dataclass(frozen=True)
class Args(TrainerArgs):
    """The settings of a run; every field is an option of the command line."""

    out: Path = option(Path("runs/cleanrl"), "folder for the policy")
    total_timesteps: int = option(8_000_000, "decisions of all seats together")
    learning_rate: float = option(1e-3, "initial learning rate of Adam; it falls to 0")
    num_envs: int = option(512, "tables played at once")
    num_steps: int = option(64, "decisions per table between updates")
    gamma: float = option(1.0, "discount per own decision of a seat")
    gae_lambda: float = option(0.95, "lambda of GAE")
    update_epochs: int = option(4, "epochs per batch")
    clip_coef: float = option(0.2, "PPO's clip coefficient")
    ent_coef: float = option(0.01, "weight of the entropy bonus")
    vf_coef: float = option(0.5, "weight of the value loss")
    max_grad_norm: float = option(0.5, "maximum norm of the gradient")


def layer_init(layer: nn.Linear, std: float = 2**0.5) -> nn.Linear:
    """Initialize the layer with orthogonal weights and zero biases."""
    nn.init.orthogonal_(layer.weight, std)
    nn.init.zeros_(layer.bias)
    return layer


def network(inputs: int, hidden: int, outputs: int, std: float) -> nn.Sequential:
    """Return a network with two hidden layers."""
    return nn.Sequential(
        layer_init(nn.Linear(inputs, hidden)),
        nn.Tanh(),
        layer_init(nn.Linear(hidden, hidden)),
        nn.Tanh(),
        layer_init(nn.Linear(hidden, outputs), std),
    )


class Agent(nn.Module):
    """A critic and an actor: two separate networks, shared by all seats."""

    def __init__(self, inputs: int, outputs: int, hidden: int) -> None:
        super().__init__()
        self.critic = network(inputs, hidden, 1, 1.0)
        self.actor = network(inputs, hidden, outputs, 0.01)

    def get_action_and_value(
        self, seen: Tensor, masks: Tensor, actions: Tensor | None = None
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Return actions (sampled if None), log-probabilities, entropies and values, all (n,).

        `seen` (n, F) are features, `masks` (n, A) the legal actions.
        """
        drawn = Categorical(logits=self.actor(seen).masked_fill(~masks, -1e8))
        actions = drawn.sample() if actions is None else actions
        return actions, drawn.log_prob(actions), drawn.entropy(), self.critic(seen).flatten()


class Storage:
    """The rollout buffer: `num_steps` steps at all tables."""

    def __init__(self, steps: int, n: int, inputs: int, outputs: int) -> None:
        self.seen = torch.zeros(steps, n, inputs)
        self.masks = torch.zeros(steps, n, outputs, dtype=torch.bool)
        self.actions = torch.zeros(steps, n, dtype=torch.int64)
        self.log_probs, self.values = torch.zeros(steps, n), torch.zeros(steps, n)
        self.seats = np.zeros((steps, n), np.int8)
        self.rewards = np.zeros((steps, n, 4), np.float32)
        self.ended = np.zeros((steps, n), bool)

    def batch(self, args: Args) -> tuple[Tensor, ...]:
        """Return the m decisions with known returns, as tensors (m, ...).

        A seat's last decision in an unfinished hand has no return yet, and is left out. The tensors
        are features, masks, actions, log-probabilities, returns and advantages.
        """
        result = lambda_returns(
            self.seats,
            self.rewards / SCALE,
            self.ended,
            self.values.numpy(),
            gamma=args.gamma,
            lambda_=args.gae_lambda,
        )
        known = torch.from_numpy(result.complete)
        returns, advantages = torch.from_numpy(result.returns), torch.from_numpy(result.advantages)
        columns = (self.seen, self.masks, self.actions, self.log_probs, returns, advantages)
        return tuple(column[known] for column in columns)


def play(agent: Agent, vec: Any, storage: Storage, latest: tuple[Any, Any]) -> tuple[Any, Any]:
    """Fill the storage from the latest (observations, infos) of `vec`; return the new ones."""
    next_obs, info = latest
    for step in range(len(storage.seats)):
        storage.seen[step] = torch.from_numpy(next_obs)
        storage.masks[step] = torch.from_numpy(vec.action_masks())
        with torch.no_grad():
            actions, log_probs, _, values = agent.get_action_and_value(
                storage.seen[step], storage.masks[step]
            )
        storage.actions[step], storage.log_probs[step] = actions, log_probs
        storage.values[step] = values
        storage.seats[step] = info["seat"]
        next_obs, rewards, terminated, truncated, info = vec.step(actions.numpy())
        storage.rewards[step], storage.ended[step] = rewards, terminated | truncated
    return next_obs, info


def update(agent: Agent, optimizer: Any, batch: tuple[Tensor, ...], args: Args) -> None:
    """Update the agent with PPO's clipped loss over several epochs of a batch."""
    for _ in range(args.update_epochs):
        for rows in torch.randperm(len(batch[0])).split(args.minibatch):
            seen, masks, actions, log_probs, returns, advantages = (each[rows] for each in batch)
            _, new_log_probs, entropy, values = agent.get_action_and_value(seen, masks, actions)
            ratio = (new_log_probs - log_probs).exp()
            advantages = (advantages - advantages.mean()) / (advantages.std(correction=0) + 1e-8)
            clipped = ratio.clamp(1 - args.clip_coef, 1 + args.clip_coef)
            pg_loss = -torch.min(advantages * ratio, advantages * clipped).mean()
            v_loss = 0.5 * ((values - returns) ** 2).mean()
            loss = pg_loss - args.ent_coef * entropy.mean() + args.vf_coef * v_loss
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), args.max_grad_norm)
            optimizer.step()


def train(args: Args) -> tuple[nn.Module, int]:
    """Train; return the actor and the number of decisions."""
    torch.manual_seed(args.seed)
    game = bideuchre_env.make(args.variant)
    options = {"episode": "hand", "observation": "features", "skip_forced": True}
    vec = game.vec(args.num_envs, **options)
    [inputs], outputs = vec.single_observation_space.shape, int(vec.single_action_space.n)
    agent = Agent(inputs, outputs, args.hidden)
    optimizer = torch.optim.Adam(agent.parameters(), lr=args.learning_rate, eps=1e-5)
    storage = Storage(args.num_steps, args.num_envs, inputs, outputs)
    latest, began = vec.reset(seed=args.seed), time.perf_counter()
    updates = max(1, args.total_timesteps // (args.num_steps * args.num_envs))
    for number in range(updates):
        optimizer.param_groups[0]["lr"] = falling(args.learning_rate, number / updates)
        latest = play(agent, vec, storage, latest)
        update(agent, optimizer, storage.batch(args), args)
        steps = (number + 1) * storage.seats.size
        if number % 10 == 9:
            print(f"{steps:,} decisions, {steps / (time.perf_counter() - began):,.0f} a second")
    return agent.actor, steps


def main(args: Args) -> int:
    """Train, save the policy, and evaluate it on duplicate boards."""
    return learn_and_evaluate(args, "torch", train, FeatureAgent, args.out / POLICY)


if __name__ == "__main__":
    sys.exit(run(main, Args))
