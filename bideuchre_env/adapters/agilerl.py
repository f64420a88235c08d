"""Environments for AgileRL.

`SelfPlayVec` and `collect_self_play`: one PPO for all four seats of many tables. `make_vec`: one
learner at each of many tables. `Parallel` and `ParallelVec`: IPPO.

AgileRL needs numeric observations, and masks in the infos. Its PPO, DQN, Rainbow DQN and IPPO
choose actions by these masks. Learning in AgileRL 2.58 has three known limitations:

- the GAE of its PPO reads the end of an episode a step late, so that the last reward reaches no
  earlier decision; with `make_vec`, `rollout_buffer_config={"use_gae": False}` uses the returns,
  which are correct;
- the targets of its DQN and Rainbow DQN maximize over all next actions, legal or not;
- its IPPO ignores the masks when it learns.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium.vector import VectorEnv
from pettingzoo.utils.wrappers import BaseParallelWrapper

from bideuchre_env.adapters.common import FLOATS, Game, checked_scale, needs, variant_of, with_fixed
from bideuchre_env.agents import FeatureAgent
from bideuchre_env.envs.checks import parse_count
from bideuchre_env.envs.options import EnvGameKeywords, SoloVecGameKeywords, VecGameKeywords
from bideuchre_env.learning.returns import lambda_returns
from bideuchre_env.runtime.jit import Array

with needs("agilerl"):
    import agilerl.algorithms  # noqa: F401  # needs peft, an undeclared dependency
    import torch
    from agilerl.rollouts import collect_rollouts
    from agilerl.vector.pz_async_vec_env import AsyncPettingZooVecEnv

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from bideuchre_env.envs.solo.vector_env import SoloVectorEnv


def make_vec(
    game: Game, num_envs: int = 1, **options: Unpack[SoloVecGameKeywords]
) -> SoloVectorEnv:
    """Return a vector environment for `collect_rollouts` and `train_on_policy`.

    Observations are float32 (n, D) in [-1, 1], and `info["action_mask"]` is int8 (n, A). A finished
    episode restarts in the same step.

    Args:
        game: a variant, or an argument of `bideuchre_env.make`.
        num_envs: the number of tables, with one learner at each.
        options: those of `solo_vec`. The observation is "flat" or "features"; the autoreset mode,
            `copy` and `device` are fixed.

    Raises:
        OptionError: for another value of a fixed option; other errors are those of `solo_vec`.
    """
    fixed = {"observation": FLOATS, "autoreset_mode": "SameStep", "copy": True, "device": "cpu"}
    return variant_of(game).solo_vec(num_envs, **with_fixed(options, "AgileRL", **fixed))


class SelfPlayVec(VectorEnv[Any, Any, Any]):
    """Tables at which one policy acts for all four seats, for `collect_self_play`.

    An observation, float32 (n, D) in [-1, 1], and its mask are those of the seat to act. The reward
    of a step, float32 (n,), is that of the seat that acted; `collect_self_play` credits the later
    rewards of a seat, too. Infos and the restart of ended episodes are those of `vec`.

    Args:
        game: a variant, or an argument of `bideuchre_env.make`.
        num_envs: the number of tables.
        reward_scale: rewards are divided by it, so that the critic's values are near 1.
        options: those of `vec`. The observation is "flat" or "features"; `copy` and `device` are
            fixed.

    Raises:
        OptionError: for another value of a fixed option, and for a `reward_scale` that is not a
            positive number; other errors are those of `vec`.
    """

    closed = True  # until it has tables

    def __init__(
        self,
        game: Game,
        num_envs: int = 1,
        *,
        reward_scale: float = 1.0,
        **options: Unpack[VecGameKeywords],
    ) -> None:
        self.reward_scale = checked_scale(reward_scale)
        fixed = {"observation": FLOATS, "copy": True, "device": "cpu"}
        self.tables: Any = variant_of(game).vec(num_envs, **with_fixed(options, "AgileRL", **fixed))
        self.num_envs = self.tables.num_envs
        self.single_observation_space = self.tables.single_observation_space
        self.single_action_space = self.tables.single_action_space
        self.observation_space = self.tables.observation_space
        self.action_space = self.tables.action_space
        self.closed = False
        self.steps: list[tuple[Array, Array, Array]] | None = None
        """During `collect_self_play`: seat (n,), scaled rewards (n, 4) and end (n,) by step."""

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Start an episode at every table, as `vec.reset`; return observations and infos."""
        observations, infos = self.tables.reset(seed, options=options)
        self._seats = infos["seat"]
        return observations, infos

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Apply the actions (n,); return Gymnasium's five results."""
        observations, rewards, terminated, truncated, infos = self.tables.step(actions)
        rewards = rewards / np.float32(self.reward_scale)
        if self.steps is not None:
            self.steps.append((self._seats, rewards, terminated | truncated))
        paid = rewards[np.arange(self.num_envs), self._seats]
        self._seats = infos["seat"]
        return observations, paid, terminated, truncated, infos

    def close_extras(self, **kwargs: Any) -> None:
        """Close the tables."""
        self.tables.close()


def collect_self_play(agent: Any, tables: SelfPlayVec, **state: Any) -> tuple[Any, ...]:
    """Fill the buffer of a `PPO` as `collect_rollouts` does, with advantages by seat.

    The last decision of a seat in an unfinished episode has advantage 0.

    Args:
        agent: a `PPO`; its `gamma` and `gae_lambda` are those of the returns.
        tables: the environment, without wrappers.
        state: arguments of `collect_rollouts`.

    Returns:
        The results of `collect_rollouts`; its scores are those of the seats that ended an episode.
    """
    steps = tables.steps = []
    try:
        results = collect_rollouts(agent, tables, **state)
    finally:
        tables.steps = None
    seats, rewards, ended = map(np.stack, zip(*steps, strict=True))
    stored = agent.rollout_buffer.buffer
    rates = {"gamma": agent.gamma, "lambda_": agent.gae_lambda}
    values = stored["values"].numpy()[: len(seats)]
    learned = lambda_returns(seats, rewards, ended, values, **rates)
    stored["returns"][: len(seats)] = torch.from_numpy(learned.returns)
    stored["advantages"][: len(seats)] = torch.from_numpy(learned.advantages)
    return results


class Parallel(BaseParallelWrapper[str, Any, Any]):
    """The Parallel environment of one table, for `IPPO`; seats act in turn.

    For many tables use `ParallelVec`: in a plain `AsyncPettingZooVecEnv` IPPO fails on the masks.

    Observations are float32 (D,) in [-1, 1]. Every agent's info has an "action_mask", a list of A
    numbers, all 0 for a seat that is not to act; the action of such a seat is ignored.

    Args:
        game: a variant, or an argument of `bideuchre_env.make`.
        options: those of `parallel_env`; the observation is "flat" or "features".

    Raises:
        OptionError: for another observation; other errors are those of `parallel_env`.
    """

    def __init__(self, game: Game, **options: Unpack[EnvGameKeywords]) -> None:
        super().__init__(
            variant_of(game).parallel_env(**with_fixed(options, "AgileRL", observation=FLOATS))
        )

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        """Start an episode, as `BidEuchreEnv.reset`; return observations and infos by agent."""
        observations, infos = super().reset(seed, options)
        return observations, _list_masks(infos)

    def step(self, actions: dict[str, Any]) -> tuple[Any, Any, Any, Any, dict[str, dict[str, Any]]]:
        """Apply the action of the seat to act; return PettingZoo's five dicts by agent."""
        observations, rewards, terminations, truncations, infos = super().step(actions)
        return observations, rewards, terminations, truncations, _list_masks(infos)


def _list_masks(infos: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the masks as lists: IPPO compares masks with None and fails on arrays."""
    return {agent: {"action_mask": info["action_mask"].tolist()} for agent, info in infos.items()}


class ParallelVec(AsyncPettingZooVecEnv):
    """`num_envs` tables as `Parallel`, each in its own process, for `IPPO`.

    Every agent's info has an "action_mask", a list of num_envs * A numbers, table by table. IPPO
    fails on arrays ("The truth value of an array with more than one element is ambiguous"), but
    reshapes a list itself.

    Args:
        game: a variant, or an argument of `bideuchre_env.make`.
        num_envs: the number of tables and processes; `OptionError` for an invalid one.
        options: those of `parallel_env`; the observation is "flat" or "features".
    """

    def __init__(self, game: Game, num_envs: int = 1, **options: Unpack[EnvGameKeywords]) -> None:
        variant = variant_of(game)
        super().__init__([lambda: Parallel(variant, **options)] * parse_count(num_envs))

    def reset_wait(self, timeout: float | None = None) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return `AsyncPettingZooVecEnv`'s results, with masks in the form that IPPO reads."""
        observations, infos = super().reset_wait(timeout)
        return observations, _with_masks(infos)

    def step_wait(self, timeout: float | None = None) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Return `AsyncPettingZooVecEnv`'s results, with masks in the form that IPPO reads."""
        observations, rewards, terminations, truncations, infos = super().step_wait(timeout)
        return observations, rewards, terminations, truncations, _with_masks(infos)


def _with_masks(infos: dict[str, Any]) -> dict[str, Any]:
    """Return the infos by agent, with the masks of all tables concatenated into one list."""
    return {
        agent: {**info, "action_mask": [*chain(*info["action_mask"])]}
        for agent, info in infos.items()
        if isinstance(info, dict)
    }


class PolicyAgent(FeatureAgent):
    """A trained `PPO` of AgileRL as an agent; see `FeatureAgent`."""

    def network(self, policy: Any) -> Any:
        """Return the actor's network."""
        return _Actor(policy.actor)


class _Actor(torch.nn.Module):
    """The logits of an actor for observations, float32 (n, F), as if all actions were legal."""

    def __init__(self, actor: Any) -> None:
        super().__init__()
        self.actor = actor

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        return self.actor.head_net.wrapped(self.actor.extract_features(inputs))
