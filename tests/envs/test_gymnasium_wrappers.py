"""Gymnasium's own vector wrappers around `solo_vec`, and SuperSuit's around a flat table.

The table in bideuchre_env/envs/README.md says which work in which mode; `WORK` is that table.
"""

import re
import warnings
from pathlib import Path

import gymnasium
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
# The table is of this one; before it some of the wrappers had faults of their own.
FOR_SURE = tuple(map(int, re.findall(r"\d+", gymnasium.__version__)[:2])) >= (1, 4)
BOTH, NEITHER = ("dict", "flat"), ()
WORK = {  # in mode SameStep, NextStep, Disabled: with which observations
    "RecordEpisodeStatistics": (BOTH, BOTH, BOTH),
    "DictInfoToList": (BOTH, BOTH, BOTH),
    "NormalizeReward": (BOTH, BOTH, BOTH),
    "ClipReward": (BOTH, BOTH, BOTH),
    "TransformReward": (BOTH, BOTH, BOTH),
    "TransformAction": (BOTH, BOTH, BOTH),
    "FlattenObservation": (NEITHER, BOTH, BOTH),
    "TransformObservation": (NEITHER, BOTH, BOTH),
    "FilterObservation": (NEITHER, ("dict",), ("dict",)),
    "DtypeObservation": (NEITHER, ("flat",), ("flat",)),
    "RescaleObservation": (NEITHER, ("flat",), ("flat",)),
    "ReshapeObservation": (NEITHER, ("flat",), ("flat",)),
    "NormalizeObservation": (NEITHER, ("flat",), NEITHER),
}


def in_wrapper(name, vec):
    """A vector environment in a wrapper of Gymnasium's."""
    return getattr(wrappers, name)(vec, *ARGUMENTS.get(name, ()))


def kept(told):
    """A copy of what an environment tells but for the seconds in it, which nobody can compare."""
    if isinstance(told, (tuple, list)):
        return [kept(part) for part in told]
    if isinstance(told, dict):
        return {key: kept(told[key]) for key in told if key not in ("t", "_t")}
    return told.copy() if isinstance(told, np.ndarray) else told


def walk(env, steps=60):
    """Everything that is told over some steps of last legal actions, and how it came to an end."""
    mode = env.metadata["autoreset_mode"]
    told = [kept(env.reset(seed=3))]
    masks = last_masks(told[-1][-1], None)
    for _ in range(steps):
        told.append(kept(env.step(masks.shape[1] - 1 - masks[:, ::-1].argmax(axis=1))))
        masks = last_masks(told[-1][-1], masks)
        over = told[-1][2] | told[-1][3]
        if mode == AutoresetMode.DISABLED and over.any():
            told.append(kept(env.reset(options={"reset_mask": over.copy()})))
            masks = last_masks(told[-1][-1], masks)
    return told


def last_masks(infos, before):
    """The masks of every row, of dict infos or of `DictInfoToList`'s; else those before."""
    if isinstance(infos, list):
        rows = [info.get("action_mask") for info in infos]
        return np.array([row if row is not None else before[i] for i, row in enumerate(rows)])
    masks, there = infos["action_mask"], infos["_action_mask"]
    return masks if before is None else np.where(there[:, np.newaxis], masks, before)


def tried(name, vec):
    """What came of it: all that was told, or the error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            env = in_wrapper(name, vec)
            told = walk(env)
        except Exception as error:
            return (type(error), str(error))
    if FOR_SURE:
        assert all(env.observation_space.contains(each[0]) for each in told)
    return told


@every_mode
@pytest.mark.parametrize("observation", BOTH)
@pytest.mark.parametrize("name", WORK)
def test_it_does_what_it_does_around_gymnasiums_own(name, observation, mode):
    """Works where the table says so, and gives what it gives around `SyncVectorEnv`, or refuses."""
    options = {"episode": "hand", "opponents": "cautious", "observation": observation}
    ours = tried(name, game.solo_vec(3, autoreset_mode=mode, **options))
    theirs = tried(
        name,
        SyncVectorEnv([lambda: game.solo(**options)] * 3, autoreset_mode=AutoresetMode(mode)),
    )
    assert type(ours) is type(theirs)
    # `SyncVectorEnv` takes the mask of a reset out of the options, and the statistics of all rows
    # begin anew; around ours those of the others go on, see the next test
    if isinstance(ours, tuple):
        assert ours == theirs
    elif (name, mode) != ("RecordEpisodeStatistics", "Disabled"):
        for mine, its in zip(ours, theirs, strict=True):
            assert_same(list(mine), list(its))
    if FOR_SURE:
        place = ("SameStep", "NextStep", "Disabled").index(mode)
        assert isinstance(ours, list) == (observation in WORK[name][place])


def test_the_table_of_the_page():
    """A row for each wrapper, as `WORK` has it."""
    text = (Path(bideuchre_env.__file__).parent / "envs" / "README.md").read_text("utf-8")
    said = {BOTH: "yes", NEITHER: "no", ("dict",): "dict", ("flat",): "flat"}
    found = {}
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        for name in re.findall(r"`(\w+)`", cells[0]):
            if name in WORK and len(cells) == 4:
                found[name] = tuple(cells[1:])
    assert found == {name: tuple(map(said.get, row)) for name, row in WORK.items()}


@every_mode
def test_statistics_are_those_of_the_episodes(mode):
    """The returns and lengths that the wrapper counts are those of the rewards given."""
    if mode == "SameStep" and not FOR_SURE:
        pytest.skip("Gymnasium's wrapper counts wrongly here before 1.4")
    vec = wrappers.RecordEpisodeStatistics(
        game.solo_vec(4, autoreset_mode=mode, episode="hand", opponents="random", seat=0)
    )
    points, ends = np.zeros(4), 0
    for _, rewards, terminated, truncated, infos in filter(lambda t: len(t) == 5, walk(vec)):
        points += rewards
        over = terminated | truncated
        if over.any():
            np.testing.assert_array_equal(infos["_episode"], over)
            np.testing.assert_allclose(infos["episode"]["r"][over], points[over])
            assert (infos["episode"]["l"][over] > 0).all()
        points[over], ends = 0, ends + over.sum()
    assert ends > 10


SUPERSUIT = {
    "dtype": ("dtype_v0", (np.float64,)),
    "normalize": ("normalize_obs_v0", ()),
    "flatten": ("flatten_v0", ()),
    "frame_stack": ("frame_stack_v1", (4,)),
    "delay_observations": ("delay_observations_v0", (2,)),
    "pad_observations": ("pad_observations_v0", ()),
    "pad_action_space": ("pad_action_space_v0", ()),
    "agent_indicator": ("agent_indicator_v0", ()),
    "clip_reward": ("clip_reward_v0", ()),
    "nan_zeros": ("nan_zeros_v0", ()),
    "reshape": ("reshape_v0", ((17, 17),)),
}


@pytest.mark.parametrize("name", SUPERSUIT)
def test_supersuit(name):
    """Each wrapper passes `api_test` and plays legal games: the masks are in the infos."""
    supersuit = pytest.importorskip("supersuit")
    kind, arguments = SUPERSUIT[name]
    env = getattr(supersuit, kind)(game.env(observation="flat", max_hands=2), *arguments)
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
