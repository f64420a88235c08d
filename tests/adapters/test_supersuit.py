"""SuperSuit's wrappers around the PettingZoo environment whose observations are one array."""

from __future__ import annotations

import numpy as np
import pytest
from gymnasium import spaces

import bideuchre_env

supersuit = pytest.importorskip("supersuit")

WRAPPERS = {
    "dtype": lambda env: supersuit.dtype_v0(env, np.float64),
    "normalize": lambda env: supersuit.normalize_obs_v0(env, env_min=-1, env_max=1),
    "flatten": supersuit.flatten_v0,
    "frame_stack": lambda env: supersuit.frame_stack_v1(env, 3),
    "pad": supersuit.pad_observations_v0,
    "agent_indicator": supersuit.agent_indicator_v0,
    "delay": lambda env: supersuit.delay_observations_v0(env, 1),
    "clip_reward": lambda env: supersuit.clip_reward_v0(env, -1, 1),
}
SIZES = {"frame_stack": 3 * 289, "agent_indicator": 289 + 4}


@pytest.mark.parametrize("name", WRAPPERS)
def test_a_hand_through_a_wrapper(name):
    """Observations are as the wrapper's space says; masks come in the infos, as without it."""
    plain = bideuchre_env.cincinnati_v0(observation="flat", episode="hand")
    wrapped = WRAPPERS[name](bideuchre_env.cincinnati_v0(observation="flat", episode="hand"))
    paid = []
    for env in (plain, wrapped):
        env.reset(seed=3)
    for agent in wrapped.agent_iter():
        seen, reward, terminated, truncated, info = wrapped.last()
        space = wrapped.observation_space(agent)
        assert isinstance(space, spaces.Box)
        assert space.contains(seen)
        assert seen.size == SIZES.get(name, 289)
        paid.append((reward, plain.last()[1]))
        action = None
        if not (terminated or truncated):
            mask = info["action_mask"]
            assert np.array_equal(mask, plain.last()[4]["action_mask"])
            action = int(np.flatnonzero(mask)[-1])
        for env in (plain, wrapped):
            env.step(action)
    most = 1 if name == "clip_reward" else np.inf
    assert not plain.agents
    assert any(wanted for _, wanted in paid)
    assert all(got == np.clip(wanted, -most, most) for got, wanted in paid)


def test_all_of_them_at_once():
    """One upon another."""
    env = bideuchre_env.barrie_v0(observation="flat", episode="hand")
    for wrap in WRAPPERS.values():
        env = wrap(env)
    env.reset(seed=3)
    for agent in env.agent_iter():
        seen, _, terminated, truncated, info = env.last()
        assert env.observation_space(agent).contains(seen)
        over = terminated or truncated
        env.step(None if over else int(np.flatnonzero(info["action_mask"])[0]))
