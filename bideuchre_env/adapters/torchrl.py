"""Batched environments for TorchRL: `Env` has one learner at each table, `SelfPlayEnv` has all four
seats.

Both have the keys that TorchRL's transforms and modules expect: "observation", float32 in [-1, 1],
and "action_mask", bool, as `ActionMask` and `MaskedCategorical` read it. TorchRL resets the rows
that have ended.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bideuchre_env.adapters.common import FLOATS, Game, needs, variant_of, with_fixed
from bideuchre_env.agents import FeatureAgent
from bideuchre_env.envs.options import HostSoloVecGameKeywords, HostVecGameKeywords
from bideuchre_env.learning.returns import lambda_returns
from bideuchre_env.rules.cards import N_SEATS
from bideuchre_env.runtime.jit import Array

with needs("torchrl"):
    import torch
    from tensordict import TensorDict, TensorDictBase
    from torchrl.data import Binary, Bounded, Categorical, Composite, Unbounded
    from torchrl.envs import EnvBase

if TYPE_CHECKING:
    from typing_extensions import Unpack

ENDS = ("done", "terminated", "truncated")
RESULTS = {"score": (2,), "hands": (), "winner": ()}  # of an episode, with their shapes


class BatchedEnv(EnvBase):
    """Base class of both environments: the batch `tables`, and the specs of the keys.

    `rewards` is the number of rewards per row.
    """

    def __init__(self, tables: Any, rewards: int, device: Any) -> None:
        n = tables.num_envs
        super().__init__(device=device, batch_size=[n])
        self.tables = tables
        self._seed, self._unseeded = 0, np.zeros(n, bool)  # rows whose next reset uses `_seed`
        [size], width = tables.single_observation_space.shape, int(tables.single_action_space.n)
        self.observation_spec = Composite(
            observation=Bounded(-1.0, 1.0, (n, size), dtype=torch.float32),
            action_mask=Binary(width, (n, width), dtype=torch.bool),
            shape=(n,),
        )
        for key, shape in RESULTS.items():
            self.observation_spec[key] = Unbounded((n, *shape), dtype=torch.int64)
        self.action_spec = Categorical(width, (n,), dtype=torch.int64)
        self.reward_spec = Unbounded((n, rewards), dtype=torch.float32)
        ends = {key: Categorical(2, (n, 1), dtype=torch.bool) for key in ENDS}
        self.done_spec = Composite(ends, shape=(n,))

    def _set_seed(self, seed: int | None) -> None:
        """Seed row i with `seed` + i at its next reset; None continues the random streams."""
        self._seed, self._unseeded[:] = seed or 0, seed is not None

    def _reset(
        self, tensordict: TensorDictBase | None = None, options: dict[str, Any] | None = None
    ) -> TensorDict:
        mask = None if tensordict is None else tensordict.get("_reset", None)
        rows = None if mask is None else mask.reshape(-1).cpu().numpy()
        seeded = self._unseeded if rows is None else self._unseeded & rows
        if seeded.any():
            result = self._begin(self._seed, seeded, options)
            rows = ~seeded if rows is None else rows & ~seeded
            self._unseeded = self._unseeded & ~seeded
        if rows is None or rows.any():
            result = self._begin(None, rows, options)
        running = np.zeros(self.batch_size[0], bool)
        return self._tensors(*result, running, running)

    def _step(self, tensordict: TensorDictBase) -> TensorDict:
        actions = tensordict["action"].cpu().numpy()
        observations, rewards, terminated, truncated, info = self.tables.step(actions)
        result = self._tensors(observations, info, terminated, truncated)
        paid = torch.as_tensor(rewards, dtype=torch.float32).reshape(self.reward_spec.shape)
        return result.set("reward", paid)

    def _begin(
        self, seed: int | None, rows: Array | None, options: dict[str, Any] | None
    ) -> tuple[Array, dict[str, Any]]:
        """Start episodes in `rows`, bool (n,), or in all; return the tables' `reset` results."""
        raise NotImplementedError

    def _tensors(
        self, observations: Array, info: dict[str, Any], terminated: Array, truncated: Array
    ) -> TensorDict:
        masks = np.array(self.tables.action_masks())
        masks[~masks.any(axis=1)] = True  # over, but a distribution needs an action
        masks = torch.from_numpy(masks)
        tensors = {"observation": torch.from_numpy(observations), "action_mask": masks}
        ends = zip(ENDS, (terminated | truncated, terminated, truncated), strict=True)
        tensors |= {key: torch.from_numpy(end)[:, np.newaxis] for key, end in ends}
        results = info.get("episode", info)  # nested by `vec`, flat by `solo_vec`
        for key, shape in RESULTS.items():
            array = results.get(key, np.zeros((len(masks), *shape), np.int64))
            tensors[key] = torch.from_numpy(array.astype(np.int64))
        return TensorDict(tensors, batch_size=self.batch_size, device=self.device)

    def close(self, *, raise_if_closed: bool = True) -> None:
        """Close the tables and their threads."""
        super().close(raise_if_closed=raise_if_closed)
        self.tables.close()


class Env(BatchedEnv):
    """A batched environment with one learner at each table.

    The batch size is (n,). The keys are "observation" (n, D) float32, "action_mask" (n, A) bool,
    "action" (n,) int64, "reward" (n, 1) float32, and "done", "terminated" and "truncated" (n, 1)
    bool. In rows whose episode has just ended, the int64 keys "score" (n, 2), "hands" (n,) and
    "winner" (n,) have its result, as in `solo_vec`'s infos; in other rows they are undefined. The
    mask of an ended row is all True, because a distribution needs an action. `tables.players` has
    the names of the players.

    Args:
        game: a variant, or an argument of `bideuchre_env.make`.
        num_envs: the number of tables.
        device: the device of the returned tensors.
        options: those of `solo_vec`. The observation is "flat" or "features"; the autoreset mode
            and `copy` are fixed. `reset(options=...)` takes those of `solo_vec`'s reset.

    Raises:
        OptionError: for another value of a fixed option; other errors are those of `solo_vec`.
    """

    def __init__(
        self,
        game: Game,
        num_envs: int = 1,
        *,
        device: Any = None,
        **options: Unpack[HostSoloVecGameKeywords],
    ) -> None:
        fixed = {"observation": FLOATS, "autoreset_mode": "Disabled", "copy": True}
        made = variant_of(game).solo_vec(num_envs, **with_fixed(options, "TorchRL", **fixed))
        super().__init__(made, 1, device)

    def _begin(
        self, seed: int | None, rows: Array | None, options: dict[str, Any] | None
    ) -> tuple[Array, dict[str, Any]]:
        mask = {} if rows is None else {"reset_mask": rows}
        result: tuple[Array, dict[str, Any]] = self.tables.reset(
            seed=seed, options={**(options or {}), **mask}
        )
        return result


class SelfPlayEnv(BatchedEnv):
    """A batched environment for self-play with all four seats of each table.

    The keys are those of `Env` and "seat" (n,) int8, the seat to act, whose observation and mask
    are in the row. "reward" is (n, 4), by seat. The result of a decision is not the reward of its
    step, and the next step belongs to another seat: `add_advantages` computes advantages by seat.
    In rows whose episode has ended, the next observation is already the first of the next episode,
    which TorchRL's reset then starts.

    Args:
        game: a variant, or an argument of `bideuchre_env.make`.
        num_envs: the number of tables.
        device: the device of the returned tensors.
        options: those of `vec`. The observation is "flat" or "features"; `copy` is fixed.

    Raises:
        OptionError: for another value of a fixed option; other errors are those of `vec`.
    """

    _last: tuple[Array, dict[str, Any]]  # the latest observations and infos

    def __init__(
        self,
        game: Game,
        num_envs: int = 1,
        *,
        device: Any = None,
        **options: Unpack[HostVecGameKeywords],
    ) -> None:
        fixed = {"observation": FLOATS, "copy": True}
        made = variant_of(game).vec(num_envs, **with_fixed(options, "TorchRL", **fixed))
        super().__init__(made, N_SEATS, device)
        self.observation_spec["seat"] = Bounded(0, N_SEATS - 1, (num_envs,), dtype=torch.int8)
        self._dealt = np.zeros(num_envs, bool)  # rows whose last step has started a new episode

    def _begin(
        self, seed: int | None, rows: Array | None, options: dict[str, Any] | None
    ) -> tuple[Array, dict[str, Any]]:
        if rows is not None and seed is None and not options:
            rows = rows & ~self._dealt
            if not rows.any():
                return self._last
        mask = None if rows is None or rows.all() else rows
        self._last = self.tables.reset(seed, mask=mask, options=options)
        return self._last

    def _tensors(
        self, observations: Array, info: dict[str, Any], terminated: Array, truncated: Array
    ) -> TensorDict:
        self._last, self._dealt = (observations, info), terminated | truncated
        result = super()._tensors(observations, info, terminated, truncated)
        return result.set("seat", torch.from_numpy(info["seat"]))


def add_advantages(batch: TensorDictBase, *, gamma: float = 1.0, lambda_: float = 0.95) -> None:
    """Add "advantage", "value_target" and "complete", (n, T, 1), to T steps of a `SelfPlayEnv`.

    Each seat's rewards are credited to its own decisions (`learning.returns.lambda_returns`). In an
    unfinished episode, a seat's last decision has advantage 0, its value as the target, and False
    in "complete" (bool; the others are float32): learn from `batch[batch["complete"][..., 0]]`.

    Args:
        batch: steps of size (n, T) with "state_value" (n, T, 1), the critic's value for the seat to
            act; modified in place.
        gamma: the discount factor.
        lambda_: the lambda of the returns.
    """

    def by_step(key: str | tuple[str, str]) -> Array:
        return np.ascontiguousarray(batch[key].cpu().numpy().swapaxes(0, 1))

    result = lambda_returns(
        by_step("seat"),
        by_step(("next", "reward")),
        by_step(("next", "done"))[..., 0],
        by_step("state_value")[..., 0],
        gamma=gamma,
        lambda_=lambda_,
    )
    names = {"value_target": "returns", "advantage": "advantages", "complete": "complete"}
    for key, name in names.items():
        array = getattr(result, name).T[..., np.newaxis].copy()
        batch.set(key, torch.from_numpy(array).to(batch.device or "cpu"))


class PolicyAgent(FeatureAgent):
    """A trained actor as an agent: a network, or a `ProbabilisticActor` around one."""

    def network(self, policy: Any) -> Any:
        """Return the network that makes the logits of an actor."""
        first = policy.module[0] if hasattr(policy, "get_dist") else policy
        return getattr(first, "module", first)
