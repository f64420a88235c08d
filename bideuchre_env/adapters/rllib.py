"""Environments for RLlib, Ray's reinforcement-learning library, in its new API stack.

    PPOConfig().environment(MultiAgentEnv, env_config={"game": "barrie_v0", "episode": "hand"})

An observation is `{"observations": float32 (D,), "action_mask": float32 (A,)}`, the form that
RLlib's `ActionMaskingTorchRLModule` reads; `masked_module` returns its spec. "observations" is the
game's observation scaled to [-1, 1], or with the option `"observation": "features"` the features,
float32 (F,). With "flat" the scaled observation is all, for RLlib's default module, which does not
support masks. An illegal action ends the episode instead of raising an error, so that RLlib can
check the environments with random actions; it costs an upper bound of the loss of an episode.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from bideuchre_env._checks import brief
from bideuchre_env.adapters.common import needs, variant_of
from bideuchre_env.agents import FeatureAgent
from bideuchre_env.core.observation.layout import layout_of
from bideuchre_env.envs.face import Observation, default_illegal_reward, row_space
from bideuchre_env.envs.registration import Variant
from bideuchre_env.errors import IllegalActionError, OutOfBoundsError
from bideuchre_env.rules import actions
from bideuchre_env.rules.cards import AGENT_NAMES
from bideuchre_env.rules.rules import Rules, check_rules

with needs("rllib"):
    import torch
    from ray.rllib.core.columns import Columns
    from ray.rllib.core.rl_module.default_model_config import DefaultModelConfig
    from ray.rllib.core.rl_module.rl_module import RLModuleSpec
    from ray.rllib.env import multi_agent_env
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
        # the masked module's own `observation_space` is without the mask
        space = getattr(module, "observation_space_with_mask", module.observation_space)
        self.masked = isinstance(space, spaces.Dict)

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        mask = inputs.new_ones(inputs.shape[0], self.n_actions)
        seen = {"observations": inputs, "action_mask": mask} if self.masked else inputs
        return self.module.forward_inference({Columns.OBS: seen})[Columns.ACTION_DIST_INPUTS]


def ModuleAgent(module: Any, rules: Rules, name: str = "rllib") -> PolicyAgent:
    """Return `PolicyAgent(rules, module, ...)` under its former name, until version 0.3."""
    warnings.warn("ModuleAgent is now PolicyAgent", DeprecationWarning, stacklevel=2)
    check_rules(rules)
    space = getattr(module, "observation_space_with_mask", module.observation_space)
    inner = space["observations"] if isinstance(space, spaces.Dict) else space
    is_features = inner == row_space(rules, "features")
    agent = PolicyAgent(rules, module, observation="features" if is_features else "flat")
    agent.name = name
    return agent
