"""The games as environments of RLlib, Ray's library of trainers, in its new API stack.

    PPOConfig().environment(MultiAgentEnv, env_config={"game": "barrie_v0", "episode": "hand"})

An observation is `{"observations": float32 (D,), "action_mask": float32 (A,)}`, the first the
observation of the game, scaled to [-1, 1], as RLlib's `ActionMaskingTorchRLModule` reads it;
`masked_module` is its spec. With the option `"observation": "flat"` it is the first alone, for
RLlib's default module, which knows no masks. An action that is not legal ends the episode and costs
a point, so that RLlib may try the environments with actions drawn blindly.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from bideuchre_env._checks import shown
from bideuchre_env.adapters.common import needs, variant_of
from bideuchre_env.core.observation.layout import layout_of
from bideuchre_env.envs.aec.wrapped import ILLEGAL_REWARD
from bideuchre_env.envs.face import Observation, row_space
from bideuchre_env.envs.registration import Variant
from bideuchre_env.errors import IllegalActionError, OptionError, OutOfBoundsError
from bideuchre_env.rules import actions
from bideuchre_env.rules.cards import AGENT_NAMES
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.jit import Array

with needs("rllib"):
    import torch
    from ray.rllib.core.columns import Columns
    from ray.rllib.core.rl_module.default_model_config import DefaultModelConfig
    from ray.rllib.core.rl_module.rl_module import RLModuleSpec
    from ray.rllib.env import multi_agent_env
    from ray.rllib.examples.rl_modules.classes.action_masking_rlm import (
        ActionMaskingTorchRLModule,
    )

SHARED_POLICY = "shared"


def parse_config(config: Mapping[str, Any] | None) -> tuple[Variant, dict[str, Any]]:
    """The game of an `env_config`, and its other entries, which are options.

    "game" is what `bideuchre_env.make` takes, or a variant it has made; else "cincinnati_v0".
    """
    options = dict(config or {})
    return variant_of(options.pop("game", "cincinnati_v0")), options


def space_of(rules: Rules, observation: str = "dict") -> spaces.Space[Any]:
    """The space of an observation and its mask; with "flat", of the observation alone."""
    if observation == "flat":
        return row_space(rules, "flat")
    layout = layout_of(rules)
    box = spaces.Box(layout.low * layout.scale, layout.high * layout.scale, dtype=np.float32)
    mask = spaces.Box(0, 1, (actions.of(rules).n,), np.float32)
    return spaces.Dict({"observations": box, "action_mask": mask})


def for_rllib(observation: Observation, rules: Rules) -> Any:
    """An observation, int8 (..., D) and (..., A), in RLlib's form; a flat one is in it already."""
    if isinstance(observation, np.ndarray):
        return observation
    return {
        "observations": layout_of(rules).scaled(observation["observation"]),
        "action_mask": observation["action_mask"].astype(np.float32),
    }


class MultiAgentEnv(multi_agent_env.MultiAgentEnv):
    """Four seats in turn, `player_0` to `player_3`, partners opposite; for self-play.

    `config` holds "game" and the options of its AEC environment. Each step tells the seat to act,
    and no other, what it sees and what it has been paid since its last action. The last one tells
    all who have acted, with masks of zeros; a seat that has not, because an illegal action ended
    the episode before its turn, is in none of the dicts, as RLlib has nothing to credit it with.
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
        """Deal a game, as the AEC environment's `reset` does: what the first seat sees."""
        self._env.reset(seed=seed, options=options)
        self._have_acted = set()
        agent = self._env.agent_selection
        return {agent: self._seen(agent)}, {agent: {}}

    def step(self, action_dict: Mapping[str, Any]) -> tuple[dict[str, Any], ...]:
        """The action of the seat to act: observations, rewards, terminateds, truncateds, infos."""
        actor = self._env.agent_selection
        if list(action_dict) != [actor]:
            raise IllegalActionError(
                f"actions of {shown(list(action_dict))}: {actor} is to act, and nobody else"
            )
        self._have_acted.add(actor)
        action = int(action_dict[actor])
        try:  # on the raw environment, which logs no warning: RLlib tries illegal actions, too
            (self._env if self._game._actor is None else self._game).step(action)
        except OutOfBoundsError:
            raise
        except IllegalActionError:
            if self._game._actor is None:
                raise
            self._game._forfeit(ILLEGAL_REWARD)
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
        """The table, as the AEC environment's `render` gives it."""
        return self._env.render()

    def close(self) -> None:
        """Let go of what rendering holds open."""
        self._env.close()

    def _seen(self, agent: str) -> Any:
        return for_rllib(self._game.observe(agent), self.rules)


class Env(gymnasium.ObservationWrapper[Any, Any, Any]):
    """One learner at a table, whose partner and opponents are given.

    `config` holds "game" and the options of `SoloEnv`: "opponents", "partner", "seat" and so on.
    """

    def __init__(self, config: Mapping[str, Any] | None = None) -> None:
        variant, options = parse_config(config)
        env = variant.solo(**options)
        super().__init__(env)
        self.rules = env.rules
        self.observation_space = space_of(env.rules, env.observation)

    def observation(self, observation: Any) -> Any:
        """An observation of `SoloEnv` in RLlib's form."""
        return for_rllib(observation, self.rules)


def masked_module(hidden: tuple[int, ...] = (256, 256), **model: Any) -> RLModuleSpec:
    """RLlib's module that keeps to the mask, with such hidden layers, for `rl_module_spec`.

    `model` are other settings of `DefaultModelConfig`.
    """
    return RLModuleSpec(
        module_class=ActionMaskingTorchRLModule,
        model_config=DefaultModelConfig(fcnet_hiddens=list(hidden), **model),
    )


def for_all_seats(agent_id: str, episode: Any = None, **more: Any) -> str:
    """`SHARED_POLICY`, a `policy_mapping_fn` for self-play with one network."""
    return SHARED_POLICY


class ModuleAgent:
    """A trained module as an agent, for matches: its likeliest legal action.

    `module` is what `algorithm.get_module(...)` gives, trained on this game's `rules`, on any
    device and with either kind of observation.
    """

    def __init__(self, module: Any, rules: Rules, name: str = "rllib") -> None:
        if not isinstance(rules, Rules):
            raise OptionError(f"rules={shown(rules)}: a Rules value")
        self.rules, self.name, self._module = rules, name, module
        # the masked module calls the part without the mask its observation space
        space = getattr(module, "observation_space_with_mask", module.observation_space)
        self._masked = isinstance(space, spaces.Dict)

    def act_rows(self, observations: Array, action_masks: Array) -> Array:
        """Actions, int64 (n,), for observations, int8 (n, D), and masks, int8 (n, A)."""
        seen = for_rllib({"observation": observations, "action_mask": action_masks}, self.rules)
        device = next(self._module.parameters()).device
        tensors = {name: torch.from_numpy(part).to(device) for name, part in seen.items()}
        batch = {Columns.OBS: tensors if self._masked else tensors["observations"]}
        with torch.no_grad():
            logits = self._module.forward_inference(batch)[Columns.ACTION_DIST_INPUTS]
        best: Array = np.where(action_masks != 0, logits.cpu().numpy(), -np.inf).argmax(axis=1)
        return best
