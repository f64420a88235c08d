"""SuperSuit's wrappers around the PettingZoo environment with flat observations."""

import numpy as np
import pytest

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
SIZES = {"frame_stack": 3 * 289, "agent_indicator": 289 + 4, "all": 3 * 289 + 4}


def in_all(env):
    """An environment in all wrappers at once."""
    for wrap in WRAPPERS.values():
        env = wrap(env)
    return env


@pytest.mark.parametrize("name", [*WRAPPERS, "all"])
def test_a_hand_in_a_wrapper_has_the_same_masks_and_rewards(name):
    plain, inner = (bideuchre_env.cincinnati_v0(observation="flat", episode="hand") for _ in "ab")
    wrapped = in_all(inner) if name == "all" else WRAPPERS[name](inner)
    for env in (plain, wrapped):
        env.reset(seed=3)
    rewards, most = [], 1 if name in ("clip_reward", "all") else np.inf
    for agent in wrapped.agent_iter():
        seen, reward, terminated, truncated, info = wrapped.last()
        assert wrapped.observation_space(agent).contains(seen)
        assert seen.size == SIZES.get(name, 289)
        rewards.append(plain.last()[1])
        assert reward == np.clip(rewards[-1], -most, most)
        action = None
        if not (terminated or truncated):
            assert np.array_equal(info["action_mask"], plain.last()[4]["action_mask"])
            action = int(np.flatnonzero(info["action_mask"])[-1])
        for env in (plain, wrapped):
            env.step(action)
    assert not plain.agents
    assert any(rewards)
