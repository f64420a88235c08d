"""Environments for RLlib, Ray's reinforcement-learning library, in its new API stack.

    SelfPlayConfig().environment(env_config={"game": "barrie_v0", "episode": "hand"})
    PPOConfig().environment(MultiAgentEnv, env_config={"game": "barrie_v0", "episode": "hand"})

`SelfPlayConfig` trains one policy for all four seats of many tables, which are stepped together.
`MultiAgentEnv` and `Env` are single tables, for RLlib's own environment runners.

An observation is `{"observations": float32 (D,), "action_mask": float32 (A,)}`, the form that
RLlib's `ActionMaskingTorchRLModule` reads; `masked_module` returns its spec. "observations" is the
game's observation scaled to [-1, 1], or with the option `"observation": "features"` the features,
float32 (F,). With "flat" the scaled observation is all, for RLlib's default module, which does not
support masks. An illegal action ends the episode instead of raising an error, so that RLlib can
check the environments with random actions; it costs an upper bound of the loss of an episode.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.vector.utils import batch_space

from bideuchre_env._checks import brief
from bideuchre_env.adapters.common import needs, variant_of, with_fixed
from bideuchre_env.agents import FeatureAgent
from bideuchre_env.core.observation.layout import layout_of
from bideuchre_env.envs.face import Observation, default_illegal_reward, row_space
from bideuchre_env.envs.registration import Variant
from bideuchre_env.errors import IllegalActionError, OptionError, OutOfBoundsError
from bideuchre_env.learning.returns import lambda_returns
from bideuchre_env.rules import actions
from bideuchre_env.rules.cards import AGENT_NAMES
from bideuchre_env.rules.rules import Rules

with needs("rllib"):
    import torch
    from ray.rllib.algorithms.ppo import PPOConfig
    from ray.rllib.algorithms.ppo.torch.default_ppo_torch_rl_module import DefaultPPOTorchRLModule
    from ray.rllib.connectors.connector_v2 import ConnectorV2
    from ray.rllib.core import DEFAULT_MODULE_ID
    from ray.rllib.core.columns import Columns
    from ray.rllib.core.rl_module.default_model_config import DefaultModelConfig
    from ray.rllib.core.rl_module.rl_module import RLModuleSpec
    from ray.rllib.env import multi_agent_env
    from ray.rllib.env.single_agent_env_runner import SingleAgentEnvRunner
    from ray.rllib.evaluation.postprocessing import Postprocessing
    from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule

SHARED_POLICY = "shared"


def parse_config(config: Mapping[str, Any] | None) -> tuple[Variant, dict[str, Any]]:
    """Return the game of an `env_config`, and its other entries, which are options.

    "game" is a variant or an argument of `bideuchre_env.make`; by default "cincinnati_v0".
    """
    options = dict(config or {})
    return variant_of(options.pop("game", "cincinnati_v0")), options


def space_of(rules: Rules, observation: str = "dict") -> spaces.Space[Any]:
    """Return the space of an observation with its mask; with "flat", without the mask."""
    if observation == "flat":
        return row_space(rules, "flat")
    box = row_space(rules, "features")
    if observation == "dict":
        layout = layout_of(rules)
        box = spaces.Box(layout.low * layout.scale, layout.high * layout.scale, dtype=np.float32)
    mask = spaces.Box(0, 1, (actions.of(rules).n,), np.float32)
    return spaces.Dict({"observations": box, "action_mask": mask})


def for_rllib(observation: Observation, rules: Rules, kind: str, mask: Any) -> Any:
    """Convert an observation of a kind to RLlib's form, with its mask, (A,), unless it is flat."""
    if kind == "flat":
        return observation
    if kind == "dict":
        observation = layout_of(rules).scaled(observation["observation"])
    return {"observations": observation, "action_mask": mask.astype(np.float32)}


class MultiAgentEnv(multi_agent_env.MultiAgentEnv):
    """Four seats in turn, `player_0` to `player_3`, partners opposite; for self-play.

    Each step returns the observation of the seat to act only, and its reward since its last action.
    The last step returns those of all seats that have acted, with masks of zeros. A seat that has
    not acted, because an illegal action ended the episode before its turn, is in none of the dicts:
    RLlib has no action of it to credit.

    Args:
        config: "game" (see `parse_config`) and the options of its AEC environment.
    """

    def __init__(self, config: Mapping[str, Any] | None = None) -> None:
        super().__init__()
        variant, options = parse_config(config)
        self._env = variant.env(**options)
        self._game = self._env.unwrapped
        self.rules = self._game.rules
        self.possible_agents = list(AGENT_NAMES)
        self.agents = list(AGENT_NAMES)
        self.render_mode, self.metadata = self._game.render_mode, self._game.metadata
        space, width = space_of(self.rules, self._game.observation), actions.of(self.rules).n
        self.observation_spaces = dict.fromkeys(AGENT_NAMES, space)
        self.action_spaces = {agent: spaces.Discrete(width) for agent in AGENT_NAMES}
        self._have_acted: set[str] = set()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Start an episode as the AEC environment does; return the observation and info dicts."""
        self._env.reset(seed=seed, options=options)
        self._have_acted = set()
        agent = self._env.agent_selection
        return {agent: self._seen(agent)}, {agent: {}}

    def step(self, action_dict: Mapping[str, Any]) -> tuple[dict[str, Any], ...]:
        """Apply the action of the seat to act; return RLlib's five dicts by agent.

        An illegal action ends the episode; its seat gets minus an upper bound of the loss of one.

        Raises:
            IllegalActionError: if the dict has other agents than the seat to act, or for an action
                that does not exist.
        """
        actor = self._env.agent_selection
        if list(action_dict) != [actor]:
            raise IllegalActionError(
                f"actions of {brief(list(action_dict))}: expected an action of {actor} only"
            )
        self._have_acted.add(actor)
        action = int(action_dict[actor])
        try:  # on the raw environment, which logs no warning of RLlib's illegal actions
            (self._env if self._game._actor is None else self._game).step(action)
        except OutOfBoundsError:
            raise
        except IllegalActionError:
            if self._game._actor is None:
                raise
            options = self._game.episode, self._game.reward
            self._game._forfeit(default_illegal_reward(self.rules, *options))
        terminated = any(self._env.terminations.values())
        over = terminated or any(self._env.truncations.values())
        agents = [self._env.agent_selection]
        if over:
            agents = [agent for agent in AGENT_NAMES if agent in self._have_acted]
        paid = self._game._cumulative_rewards
        return (
            {agent: self._seen(agent) for agent in agents},
            {agent: float(paid[agent]) for agent in agents},
            dict.fromkeys(agents, terminated) | {"__all__": terminated},
            dict.fromkeys(agents, over and not terminated) | {"__all__": over and not terminated},
            {agent: {} for agent in agents},
        )

    def render(self) -> Any:
        """Return the AEC environment's `render` of the table."""
        return self._env.render()

    def close(self) -> None:
        """Close the AEC environment."""
        self._env.close()

    def _seen(self, agent: str) -> Any:
        seen, mask = self._game.observe(agent), self._game.action_masks()
        if agent != self._game._actor:
            mask[:] = False
        return for_rllib(seen, self.rules, self._game.observation, mask)


class Env(gymnasium.ObservationWrapper[Any, Any, Any]):
    """A learner at a table, with agents as partner and opponents.

    Args:
        config: "game" (see `parse_config`) and the options of `SoloEnv`: "opponents", "partner",
            "seat" and so on.
    """

    def __init__(self, config: Mapping[str, Any] | None = None) -> None:
        variant, options = parse_config(config)
        env = variant.solo(**options)
        super().__init__(env)
        self.rules, self._game = env.rules, env
        self.observation_space = space_of(env.rules, env.observation)

    def observation(self, observation: Any) -> Any:
        """Convert an observation of `SoloEnv` to RLlib's form."""
        game = self._game
        return for_rllib(observation, self.rules, game.observation, game.action_masks())


def masked_module(hidden: tuple[int, ...] = (256, 256), **model: Any) -> RLModuleSpec:
    """Return the spec of RLlib's module with action masks, for `rl_module_spec`.

    Args:
        hidden: the sizes of the hidden layers.
        model: other settings of `DefaultModelConfig`.
    """
    return RLModuleSpec(
        module_class=ActionMaskingTorchRLModule,
        model_config=DefaultModelConfig(fcnet_hiddens=list(hidden), **model),
    )


def for_all_seats(agent_id: str, episode: Any = None, **more: Any) -> str:
    """Return `SHARED_POLICY`: a `policy_mapping_fn` for self-play with one network."""
    return SHARED_POLICY


class SelfPlayEnv(gymnasium.vector.VectorEnv[Any, Any, Any]):
    """Tables at which one policy acts for all four seats, for `SelfPlayRunner`.

    An observation is that of the seat to act: features and mask, in RLlib's form. Rewards (n, 4),
    infos and the restart of ended episodes are those of `vec`.

    Args:
        config: "game" (see `parse_config`), "num_envs", which `SelfPlayRunner` sets, and the
            options of `vec`. `observation`, `copy` and `device` are fixed.

    Raises:
        OptionError: for another value of a fixed option; other errors are those of `vec`.
    """

    closed = True  # until it has tables

    def __init__(self, config: Mapping[str, Any] | None = None) -> None:
        variant, options = parse_config(config)
        fixed = {"observation": "features", "copy": True, "device": "cpu"}
        n = options.pop("num_envs", 1)
        self.tables: Any = variant.vec(n, **with_fixed(options, "RLlib", **fixed))
        self.num_envs = self.tables.num_envs
        self.single_observation_space = space_of(self.tables.rules, "features")
        self.single_action_space = self.tables.single_action_space
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = self.tables.action_space
        self.closed = False

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Start an episode at every table, as `vec.reset`; return observations and infos."""
        seen, infos = self.tables.reset(seed, options=options)
        return for_rllib(seen, self.tables.rules, "features", self.tables.action_masks()), infos

    def step(self, actions: Any) -> tuple[Any, ...]:
        """Apply the actions (n,); return the five results of `vec.step`."""
        seen, *results = self.tables.step(actions)
        mask = self.tables.action_masks()
        return for_rllib(seen, self.tables.rules, "features", mask), *results

    def close_extras(self, **kwargs: Any) -> None:
        """Close the tables."""
        self.tables.close()


class Rollout:
    """T steps of n tables, in place of RLlib's episodes; its length is T * n decisions.

    Args:
        steps: T dicts of arrays (n, ...) by column.
        rates: "gamma" and "lambda_" of the returns.
    """

    def __init__(self, steps: list[dict[str, Any]], **rates: float) -> None:
        self.columns = {name: np.stack([step[name] for step in steps]) for name in steps[0]}
        self.rates: dict[str, Any] = rates

    def __len__(self) -> int:
        return int(self.columns["seats"].size)

    def train_batch(self, module: Any) -> dict[str, torch.Tensor]:
        """Return the m decisions with known returns, as tensors (m, ...) by RLlib's column.

        Values are those of the module. Advantages are computed by seat, with `lambda_returns`.
        """
        columns = dict(self.columns)
        seats, rewards, ended = (columns.pop(name) for name in ("seats", "rewards", "ended"))
        device = next(module.parameters()).device
        with torch.no_grad():
            inputs = torch.tensor(columns[Columns.OBS], device=device).flatten(0, 1)
            values = module.compute_values({Columns.OBS: inputs}).reshape(seats.shape).cpu().numpy()
        result = lambda_returns(seats, rewards, ended, values, **self.rates)
        columns[Postprocessing.VALUE_TARGETS] = result.returns
        columns[Postprocessing.ADVANTAGES] = result.advantages
        return {
            name: torch.from_numpy(column[result.complete]).to(device)
            for name, column in columns.items()
        }


class SelfPlayRunner(SingleAgentEnvRunner):
    """An environment runner that steps all tables of a `SelfPlayEnv` together.

    The number of tables is `num_envs_per_env_runner`, their options are those in `env_config`.
    A sample is one `Rollout`, for `SeatReturns`. Unfinished episodes continue in the next sample.
    Callbacks for environments and episodes are not called.
    """

    _latest: tuple[Any, dict[str, Any]]  # observations and infos

    def make_env(self) -> None:
        """Make the tables."""
        tables = {"num_envs": self.config.num_envs_per_env_runner}
        self.env = SelfPlayEnv({**self.config.env_config, **tables})
        self.num_envs, self._needs_initial_reset = self.env.num_envs, True

    def _sample(
        self,
        *,
        num_timesteps: int | None = None,
        num_episodes: int | None = None,
        explore: bool,
        random_actions: bool = False,
        force_reset: bool = False,
    ) -> list[Rollout]:
        if num_timesteps is None or random_actions:
            raise OptionError(
                f"num_episodes={num_episodes}, random_actions={random_actions}: SelfPlayRunner "
                "samples steps by its module; expected num_timesteps"
            )
        if force_reset or self._needs_initial_reset:
            seed = self.config.seed if self._needs_initial_reset else None
            if seed is not None:  # row i of seed s has the deals of row 0 of seed s + i
                seed += (self.worker_index or 0) * self.num_envs
            self._latest = self.env.reset(seed=seed)
            self._needs_initial_reset = False
        steps = [self._step(explore) for _ in range(math.ceil(num_timesteps / self.num_envs))]
        rollout = Rollout(steps, gamma=self.config.gamma, lambda_=self.config.lambda_)
        self._increase_sampled_metrics(len(rollout), int(rollout.columns["ended"].sum()))
        return [rollout]

    def _step(self, explore: bool) -> dict[str, Any]:
        """Take a step at all tables; return the columns of a `Rollout`, arrays (n, ...)."""
        seen, infos = self._latest
        forward = self.module.forward_exploration if explore else self.module.forward_inference
        with torch.no_grad():
            inputs = {name: torch.from_numpy(part).to(self._device) for name, part in seen.items()}
            logits = forward({Columns.OBS: inputs})[Columns.ACTION_DIST_INPUTS]
            drawn = self.module.get_exploration_action_dist_cls().from_logits(logits)
            actions = drawn.sample() if explore else logits.argmax(1)
            log_probs = drawn.logp(actions)
        next_seen, rewards, terminated, truncated, next_infos = self.env.step(actions.cpu().numpy())
        self._latest = next_seen, next_infos
        return {
            Columns.OBS: seen["observations"],
            "action_mask": seen["action_mask"],
            Columns.ACTIONS: actions.cpu().numpy(),
            Columns.ACTION_DIST_INPUTS: logits.cpu().numpy(),
            Columns.ACTION_LOGP: log_probs.cpu().numpy(),
            "seats": infos["seat"],
            "rewards": rewards,
            "ended": terminated | truncated,
        }


class SeatReturns(ConnectorV2):
    """The learner connector for `Rollout`s: batches them, and standardizes the advantages."""

    def __call__(self, *, rl_module: Any, episodes: list[Rollout], **kwargs: Any) -> dict[str, Any]:
        """Return the train batch of PPO."""
        parts = [rollout.train_batch(rl_module[DEFAULT_MODULE_ID]) for rollout in episodes]
        batch = {name: torch.cat([part[name] for part in parts]) for name in parts[0]}
        advantages = batch[Postprocessing.ADVANTAGES]
        batch[Postprocessing.ADVANTAGES] = (advantages - advantages.mean()) / (
            advantages.std() + 1e-8
        )
        return {DEFAULT_MODULE_ID: batch}


class SelfPlayConfig(PPOConfig):
    """RLlib's configuration of PPO for a `SelfPlayEnv`, with a `SelfPlayRunner` and `SeatReturns`.

    Set `env_config`, and `num_envs_per_env_runner` to the number of tables. The module is
    `masked_module()`, with a separate critic; the discount is 1, and value losses are not clipped.
    """

    def __init__(self, algo_class: Any = None) -> None:
        super().__init__(algo_class)
        self.environment(SelfPlayEnv)
        self.env_runners(env_runner_cls=SelfPlayRunner, num_env_runners=0)
        self.rl_module(rl_module_spec=masked_module(vf_share_layers=False))
        self.learners(
            learner_connector=SeatReturns, add_default_connectors_to_learner_pipeline=False
        )
        self.training(gamma=1.0, vf_clip_param=math.inf)  # points of a hand go up to fifty


class PolicyAgent(FeatureAgent):
    """A trained module, from `algorithm.get_module(...)`, as an agent; see `FeatureAgent`.

    An environment with the observations "dict" or "flat" trains on `observation="flat"`.
    """

    def network(self, policy: Any) -> Any:
        """Return the logits of a module, without its mask."""
        return _Actor(policy, self.n_actions)


class _Actor(torch.nn.Module):
    """The logits of a module for observations, float32 (n, F), as if all actions were legal."""

    def __init__(self, module: Any, n_actions: int) -> None:
        super().__init__()
        self.module, self.n_actions = module, n_actions

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        module, seen = self.module, inputs
        if isinstance(module, DefaultPPOTorchRLModule):  # its layers alone, which can be saved
            result = module._forward({Columns.OBS: inputs})
        else:
            if isinstance(module.observation_space, spaces.Dict):
                mask = inputs.new_ones(inputs.shape[0], self.n_actions)
                seen = {"observations": inputs, "action_mask": mask}
            result = module.forward_inference({Columns.OBS: seen})
        return result[Columns.ACTION_DIST_INPUTS]
