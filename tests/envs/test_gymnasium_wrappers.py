"""Gymnasium's vector wrappers around `solo_vec`, and SuperSuit's around a flat table."""

import warnings

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.wrappers import vector as wrappers
from pettingzoo.test import api_test
from support.playthroughs import Chooser
from support.solo_helpers import assert_same

import bideuchre_env

game = bideuchre_env.cincinnati_v0
every_mode = pytest.mark.parametrize("mode", ["SameStep", "NextStep", "Disabled"])
ARGUMENTS = {
    "ClipReward": (-1, 1),
    "TransformReward": (lambda rewards: rewards / 2,),
    "TransformAction": (lambda actions: actions,),
    "TransformObservation": (lambda seen: seen,),
    "FilterObservation": (["observation"],),
    "DtypeObservation": (np.float64,),
    "RescaleObservation": (np.float32(0), np.float32(1)),
    "ReshapeObservation": ((17, 17),),
}
BOTH = ("dict", "flat")
WRAPPERS = (*ARGUMENTS, "RecordEpisodeStatistics", "DictInfoToList", "NormalizeReward")
WRAPPERS += ("FlattenObservation", "NormalizeObservation")


def copied(result):
    """Copy a result of an environment without the seconds in its infos."""
    if isinstance(result, (tuple, list)):
        return [copied(part) for part in result]
    if isinstance(result, dict):
        return {key: copied(result[key]) for key in result if key not in ("t", "_t")}
    return result.copy() if isinstance(result, np.ndarray) else result


def walk(env, steps=30):
    """Return the results of some steps of last legal actions."""
    mode = env.metadata["autoreset_mode"]
    results = [copied(env.reset(seed=3))]
    masks = last_masks(results[-1][-1], None)
    for _ in range(steps):
        results.append(copied(env.step(masks.shape[1] - 1 - masks[:, ::-1].argmax(axis=1))))
        masks = last_masks(results[-1][-1], masks)
        over = results[-1][2] | results[-1][3]
        if mode == AutoresetMode.DISABLED and over.any():
            results.append(copied(env.reset(options={"reset_mask": over.copy()})))
            masks = last_masks(results[-1][-1], masks)
    return results


def last_masks(infos, before):
    """The masks of every row, of dict infos or of `DictInfoToList`'s; else those before."""
    if isinstance(infos, list):
        rows = [info.get("action_mask") for info in infos]
        return np.array([row if row is not None else before[i] for i, row in enumerate(rows)])
    masks, there = infos["action_mask"], infos["_action_mask"]
    return masks if before is None else np.where(there[:, np.newaxis], masks, before)


def outcome(name, vec):
    """Return the results of a walk in a wrapper, or the error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            env = getattr(wrappers, name)(vec, *ARGUMENTS.get(name, ()))
            results = walk(env)
        except Exception as error:
            return (type(error), str(error))
    return results


@every_mode
@pytest.mark.parametrize("observation", BOTH)
@pytest.mark.parametrize("name", WRAPPERS)
def test_wrapper_works_as_around_sync_vector_env(name, observation, mode):
    """Equal results, or the same error."""
    options = {"episode": "hand", "opponents": "cautious", "observation": observation}
    sync = SyncVectorEnv([lambda: game.solo(**options)] * 3, autoreset_mode=AutoresetMode(mode))
    ours = outcome(name, game.solo_vec(3, autoreset_mode=mode, **options))
    theirs = outcome(name, sync)
    assert type(ours) is type(theirs)
    # `SyncVectorEnv` removes the mask of a reset from the options, so that the statistics of all
    # rows begin anew; around `solo_vec` those of the other rows continue
    if isinstance(ours, tuple):
        assert ours == theirs
    elif (name, mode) != ("RecordEpisodeStatistics", "Disabled"):
        for result, expected in zip(ours, theirs, strict=True):
            assert_same(list(result), list(expected))
    if name.endswith("Reward") or (mode == "NextStep" and name == "FlattenObservation"):
        assert isinstance(ours, list)


SUPERSUIT = {
    "dtype_v0": (np.float64,),
    "normalize_obs_v0": (),
    "frame_stack_v1": (4,),
    "pad_action_space_v0": (),
    "agent_indicator_v0": (),
    "clip_reward_v0": (),
}


@pytest.mark.parametrize("name", SUPERSUIT)
def test_supersuit_wrappers_pass_api_test_and_play(name):
    supersuit = pytest.importorskip("supersuit")
    env = game.env(observation="flat", max_hands=2)
    env = getattr(supersuit, name)(env, *SUPERSUIT[name])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        api_test(env, num_cycles=60)
    env.reset(seed=4)
    chooser, turns = Chooser(1), 0
    for agent in env.agent_iter():
        seen, _, terminated, truncated, _ = env.last()
        assert seen in env.observation_space(agent)
        env.step(None if terminated or truncated else chooser(env))
        turns += 1
    assert turns > 20
