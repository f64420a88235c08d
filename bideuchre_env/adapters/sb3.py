"""Vector environments for Stable-Baselines3, for `MaskablePPO` of sb3-contrib.

`VecEnv` has one learner at each table. `SelfPlayVecEnv` has all four seats, for `SelfPlayPPO`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium import Wrapper
from gymnasium.vector import AutoresetMode, VectorEnv

from bideuchre_env._checks import brief
from bideuchre_env.adapters.common import Game, checked_scale, needs, variant_of, with_fixed
from bideuchre_env.agents import FeatureAgent
from bideuchre_env.envs.options import VIEWS, SoloVecGameKeywords, VecGameKeywords, check_choice
from bideuchre_env.envs.solo.vector_env import SoloVectorEnv
from bideuchre_env.errors import OptionError
from bideuchre_env.learning.returns import lambda_returns
from bideuchre_env.runtime.jit import Array

with needs("sb3"):
    import torch
    from sb3_contrib import MaskablePPO
    from stable_baselines3.common.vec_env import VecEnv as BaseVecEnv

if TYPE_CHECKING:
    from stable_baselines3.common.vec_env.base_vec_env import (
        VecEnvIndices,
        VecEnvObs,
        VecEnvStepReturn,
    )
    from typing_extensions import Unpack


class VecEnv(BaseVecEnv):
    """A `SoloVectorEnv`, with one learner at each table, as a `VecEnv` of Stable-Baselines3.

    Observations are float32 (n, D) with `observation="flat"`, for "MlpPolicy", else dicts of int8
    arrays, for "MultiInputPolicy"; rewards are float32 (n,). `env_method("action_masks")` returns a
    bool row (A,) for each table. The info of an ended episode has the "terminal_observation",
    "TimeLimit.truncated" and the entries of `SoloEnv`'s last info; all other infos are empty.
    `VecMonitor` around it counts rewards and lengths.

    Args:
        envs: the number of tables, or an existing `SoloVectorEnv` without wrappers, such as
            `gymnasium.make_vec` returns.
        game: a variant, or an argument of `bideuchre_env.make`; unused for an existing one.
        options: those of `SoloVectorEnv`, for example `opponents` and `observation`; not allowed
            for an existing one.

    Raises:
        OptionError: for an unknown or invalid option, a vector environment of another class, an
            autoreset mode other than "SameStep", `copy=False`, or a device other than "cpu".
    """

    METHODS: tuple[str, ...] = ("action_masks", "render")
    """Methods of the batch with one result per row; they can also be called on a single row."""

    def __init__(
        self,
        envs: int | SoloVectorEnv,
        game: Game = "cincinnati_v0",
        **options: Unpack[SoloVecGameKeywords],
    ) -> None:
        if isinstance(envs, SoloVectorEnv):
            if options:
                raise OptionError(f"{', '.join(options)}: options of environments to be made")
            self.batch = envs
        elif isinstance(envs, VectorEnv):
            raise OptionError(
                f"{type(envs).__name__}: expected a SoloVectorEnv without wrappers, as "
                "gymnasium.make_vec returns it; those of Stable-Baselines3, like VecMonitor, go "
                "around the VecEnv"
            )
        else:
            self.batch = variant_of(game).solo_vec(envs, **options)
        mode = self.batch.autoreset_mode
        if mode != AutoresetMode.SAME_STEP:
            raise OptionError(f"autoreset_mode={mode.value!r}: Stable-Baselines3 needs 'SameStep'")
        if not self.batch.copy:
            raise OptionError("copy=False: Stable-Baselines3 keeps observations, and needs copies")
        if self.batch.device != "cpu":
            raise OptionError(
                f"device={self.batch.device!r}: Stable-Baselines3 needs numpy's arrays"
            )
        self._choices: Array | None = None
        super().__init__(
            self.batch.num_envs, self.batch.single_observation_space, self.batch.single_action_space
        )

    def reset(self) -> VecEnvObs:
        """Start an episode at every table and return the first observations.

        The seeds are those of `seed`, the options those of `set_options`. These are the options of
        `SoloVectorEnv.reset`, the same for every table (else `OptionError`); "opponents" changes
        the players. Seeds and options are used once.
        """
        options = self._common_options()
        seeds: list[int | None] | None = None if self._seeds[0] is None else self._seeds
        observations, _ = self.batch.reset(seed=seeds, options=options)
        self._began()
        return observations

    def _common_options(self) -> dict[str, Any]:
        """Return the options of the next reset; `OptionError` if they differ by table."""
        options = self._options[0]
        if any(each is not options and each != options for each in self._options):
            raise OptionError("set_options: expected the same options for every table")
        return options

    def _began(self) -> None:
        """Discard the seeds and options of a reset."""
        self.reset_infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        self._reset_seeds()
        self._reset_options()

    def step_async(self, actions: Array) -> None:
        """Set the actions, integers (n,), of the next `step_wait`."""
        self._choices = actions

    def step_wait(self) -> VecEnvStepReturn:
        """Apply the actions; return observations, rewards, dones (n,) bool, and a dict per row.

        An action out of range raises `IllegalActionError`; then no table has changed.
        """
        observations, rewards, terminated, truncated, results = self.batch.step(self._choices)
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        done = terminated | truncated
        if done.any():
            ends = results["final_info"]
            names = [name for name in ends if not name.startswith("_")]
            for i in np.flatnonzero(done):
                infos[i] = {name: ends[name][i] for name in names}
                infos[i]["terminal_observation"] = results["final_obs"][i]
                infos[i]["TimeLimit.truncated"] = bool(truncated[i] and not terminated[i])
        return observations, rewards.astype(np.float32), done, infos

    def close(self) -> None:
        """Close the batch and its threads."""
        self.batch.close()

    def get_attr(self, attr_name: str, indices: VecEnvIndices = None) -> list[Any]:
        """Return an attribute per row; only "seat", "players" and methods differ by row.

        `indices` None means all rows. Raises `AttributeError` for an unknown attribute.
        """
        rows = self._get_indices(indices)
        if attr_name in self.METHODS:
            return [lambda i=i: self.env_method(attr_name, indices=[i])[0] for i in rows]
        if attr_name == "seat":
            seats = self.batch.seats
            return [int(seats[i]) for i in rows]
        if attr_name == "players":
            names = self.batch.players.items()
            return [{place: of_rows[i] for place, of_rows in names} for i in rows]
        value = getattr(self.batch, attr_name)
        return [value for _ in rows]

    def has_attr(self, attr_name: str) -> bool:
        """Return whether `get_attr` knows this attribute; reading it may need a reset first."""
        batch = self.batch
        known = (*self.METHODS, "seat", *dir(type(batch)))  # reading a property may need a reset
        return attr_name in known or hasattr(batch, attr_name)

    def set_attr(self, attr_name: str, value: Any, indices: VecEnvIndices = None) -> None:
        """Set "view", the hands visible in pictures, for all tables: `indices` None or complete.

        Raises:
            OptionError: for a subset of the tables, another attribute, or an invalid view.
            AttributeError: for an attribute that does not exist.
        """
        if not self.has_attr(attr_name):
            raise AttributeError(f"set_attr: there is no {brief(attr_name)}")
        if attr_name != "view":
            raise OptionError(
                f"set_attr({attr_name!r}): 'view' alone can be set; the rest are options, given "
                "when tables are made or by set_options"
            )
        if len(set(self._get_indices(indices))) < self.num_envs:
            raise OptionError("set_attr: 'view' is one for all rows, not for some of them")
        check_choice("view", value, VIEWS)
        self.batch.view = value

    def env_method(
        self, method_name: str, *method_args: Any, indices: VecEnvIndices = None, **kwargs: Any
    ) -> list[Any]:
        """Call a method in `METHODS`; return the result per row: a mask is bool (A,).

        `indices` None means all rows. Raises `AttributeError` for another method.
        """
        if method_name not in self.METHODS:
            names = ", ".join(map(repr, self.METHODS))
            raise AttributeError(f"env_method({brief(method_name)}): expected one of {names}")
        results = getattr(self.batch, method_name)(*method_args, **kwargs)
        return [None if results is None else results[i] for i in self._get_indices(indices)]

    def env_is_wrapped(
        self, wrapper_class: type[Wrapper[Any, Any, Any, Any]], indices: VecEnvIndices = None
    ) -> list[bool]:
        """Return False for each row: there are no single environments to wrap."""
        return [False for _ in self._get_indices(indices)]

    def get_images(self) -> Sequence[Array | None]:
        """Return a picture per table, uint8 (height, width, 3).

        Raises `OptionError` unless `render_mode` is "rgb_array".
        """
        if self.render_mode != "rgb_array":
            raise OptionError(
                f"render_mode={self.render_mode!r}: expected 'rgb_array' in the constructor"
            )
        return self.env_method("render")


class SelfPlayVecEnv(VecEnv):
    """Tables at which one policy acts for all four seats, for `SelfPlayPPO`.

    An observation and its mask are those of the seat to act. The reward of a step, float32 (n,), is
    that of the seat that acted; `SelfPlayPPO` credits the later rewards of a seat, too. The info of
    an ended episode has "score", "hands", "winner" and "outcome".

    Args:
        num_envs: the number of tables.
        game: a variant, or an argument of `bideuchre_env.make`.
        reward_scale: rewards are divided by it, so that the critic's values are near 1.
        options: those of `vec`; `copy` and `device` are fixed.

    Raises:
        OptionError: for another value of a fixed option, and for a `reward_scale` that is not a
            positive number; other errors are those of `vec`.
    """

    METHODS = ("action_masks",)

    def __init__(
        self,
        num_envs: int,
        game: Game = "cincinnati_v0",
        *,
        reward_scale: float = 1.0,
        **options: Unpack[VecGameKeywords],
    ) -> None:
        fixed = with_fixed(options, "Stable-Baselines3", copy=True, device="cpu")
        self.batch: Any = variant_of(game).vec(num_envs, **fixed)
        self.reward_scale = checked_scale(reward_scale)
        self.steps: list[tuple[Array, Array, Array]] | None = None
        """Seat (n,), rewards (n, 4) and end (n,) of each step, while `SelfPlayPPO` collects."""
        spaces = self.batch.single_observation_space, self.batch.single_action_space
        BaseVecEnv.__init__(self, num_envs, *spaces)

    def reset(self) -> VecEnvObs:
        """Start an episode at every table; options are those of `vec.reset`.

        Seeds and options are set as for `VecEnv.reset`.
        """
        options = self._common_options()
        observations, info = self.batch.reset(self._seeds[0], options=options)
        self._seats = info["seat"]
        self._began()
        return observations

    def step_wait(self) -> VecEnvStepReturn:
        """Apply the actions; return observations, rewards, dones (n,) bool, and a dict per row."""
        observations, rewards, terminated, truncated, results = self.batch.step(self._choices)
        done, scaled = terminated | truncated, rewards / np.float32(self.reward_scale)
        if self.steps is not None:
            self.steps.append((self._seats, scaled, done))
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for i in np.flatnonzero(done):
            names = ("score", "hands", "winner", "outcome")
            infos[i] = {name: results["episode"][name][i] for name in names}
        paid = scaled[np.arange(self.num_envs), self._seats]
        self._seats = results["seat"]
        return observations, paid, done, infos

    def get_attr(self, attr_name: str, indices: VecEnvIndices = None) -> list[Any]:
        """Return an attribute per row; only "seat", the seat to act, and methods differ by row."""
        if attr_name == "render_mode":
            return [None for _ in self._get_indices(indices)]
        if attr_name == "seat":
            return [int(self._seats[i]) for i in self._get_indices(indices)]
        return super().get_attr(attr_name, indices)


class SelfPlayPPO(MaskablePPO):
    """sb3-contrib's `MaskablePPO` for a `SelfPlayVecEnv`.

    Consecutive steps of a table belong to different seats. Returns and advantages are therefore
    computed by seat (`learning.returns.lambda_returns`), with `gamma` and `gae_lambda`. The last
    decision of a seat in an unfinished episode has advantage 0. The constructor's arguments are
    those of `MaskablePPO`. Rewards that a wrapper changes, such as `VecNormalize`, are not used.
    """

    def collect_rollouts(
        self,
        env: Any,
        callback: Any,
        rollout_buffer: Any,
        n_rollout_steps: int,
        use_masking: bool = True,
    ) -> bool:
        """Fill the buffer as `MaskablePPO` does, then compute returns and advantages by seat."""
        tables = env.unwrapped
        if not isinstance(tables, SelfPlayVecEnv):
            raise OptionError(f"env={brief(tables)}: expected a SelfPlayVecEnv")
        steps = tables.steps = []
        arguments = callback, rollout_buffer, n_rollout_steps, use_masking
        try:
            if not super().collect_rollouts(env, *arguments):
                return False
        finally:
            tables.steps = None
        seats, rewards, ended = map(np.stack, zip(*steps, strict=True))
        values, rates = rollout_buffer.values, {"gamma": self.gamma, "lambda_": self.gae_lambda}
        result = lambda_returns(seats, rewards, ended, values, **rates)
        rollout_buffer.returns, rollout_buffer.advantages = result.returns, result.advantages
        return True


class PolicyAgent(FeatureAgent):
    """A trained `MaskablePPO`, with "MlpPolicy", as an agent; see `FeatureAgent`."""

    def network(self, policy: Any) -> Any:
        """Return the actor's network of a model."""
        return _Actor(policy.policy)


class _Actor(torch.nn.Module):
    """The logits of a policy of Stable-Baselines3 for observations, float32 (n, F)."""

    def __init__(self, policy: Any) -> None:
        super().__init__()
        self.policy = policy

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        policy = self.policy
        features = policy.pi_features_extractor(inputs)
        return policy.action_net(policy.mlp_extractor.forward_actor(features))
