"""`SoloVectorEnv` equals Gymnasium's `SyncVectorEnv` of `SoloEnv`, bit for bit."""

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from support.custom_agents import First
from support.playthroughs import VARIANTS
from support.solo_helpers import Spy, actions_for, assert_same, first, walk_rows

import bideuchre_env
from bideuchre_env import OpponentPool
from bideuchre_env.errors import IllegalActionError

every_variant = pytest.mark.parametrize("name", VARIANTS)
every_mode = pytest.mark.parametrize("mode", list(AutoresetMode), ids=lambda mode: mode.value)
cincinnati = bideuchre_env.cincinnati_v0
ROWS = 5


def walk_both(vec, sync, steps, seed=None, careless=30):
    """Step both with equal actions, some illegal, and compare; return finished episodes."""
    result, twin = vec.reset(seed=seed), sync.reset(seed=seed)
    ended = 0
    for turn in range(steps):
        assert_same(result, twin, f"step {turn}")
        actions = actions_for(result[0], turn, careless)
        result, twin = vec.step(actions), sync.step(actions)
        over = result[2] | result[3]
        ended += over.sum()
        if vec.autoreset_mode == AutoresetMode.DISABLED and over.any():
            assert_same(result, twin, f"step {turn}")
            result, twin = (e.reset(options={"reset_mask": over.copy()}) for e in (vec, sync))
    assert_same(result, twin)
    return ended


@every_variant
@every_mode
def test_solo_vec_is_gymnasiums_sync_vector_env(name, mode):
    """All results, `final_obs` and `final_info` included, have equal keys, dtypes and values."""
    variant = bideuchre_env.variants[name]
    pool = OpponentPool("rule", ("cautious", First()), "random", weights=(1, 2, 1))
    cases = [
        {
            "opponents": pool,
            "partner": OpponentPool("random", first),
            "episode": "hand",
            "careless": 30,
        },
        {"opponents": "rule", "partner": "cautious", "reward": "points", "careless": 0},
        {"opponents": Spy, "partner": "random", "seat": 3, "illegal_reward": -5, "careless": 60},
    ]
    for number, options in enumerate(cases):
        careless = options.pop("careless")
        options["max_hands"] = 5
        vec = variant.solo_vec(ROWS, autoreset_mode=mode, **options)
        sync = SyncVectorEnv([lambda o=options: variant.solo(**o)] * ROWS, autoreset_mode=mode)
        assert vec.metadata["autoreset_mode"] is mode
        assert vec.observation_space == sync.observation_space
        assert vec.action_space == sync.action_space
        assert vec.single_observation_space == sync.single_observation_space
        assert vec.single_action_space == sync.single_action_space
        seed = (2**64 - 3, 17, [5, 2**100, 5, 0, 9])[number]
        ended = walk_both(vec, sync, 50, seed, careless)
        assert ended >= (careless > 0)
        walk_both(vec, sync, 10, None, careless)


@every_variant
def test_number_of_threads_changes_nothing(name):
    variant, results = bideuchre_env.variants[name], []
    for threads in (1, 3):
        options = {"opponents": "cautious", "partner": "rule", "episode": "hand"}
        results.append(walk_rows(variant.solo_vec(512, threads=threads, **options), 25, 8))
    assert_same(*results)


@every_mode
def test_reset_mask_resets_only_masked_rows(mode):
    vec = cincinnati.solo_vec(6, opponents="rule", autoreset_mode=mode, seat=0)
    obs, _ = vec.reset(seed=3)
    for turn in range(3):
        obs, *_ = vec.step(actions_for(obs, turn))
    mask = np.array([True, False, False, True, False, True])
    before = vec._rows.states.copy()
    for seed, row, row_seed in ((40, 5, 45), ([1, None, None, 2, None, None], 3, 2)):
        options = {"reset_mask": mask.copy(), "score": (3, 4)}
        again, infos = vec.reset(seed=seed, options=options)
        assert "reset_mask" in options  # the caller's dict is not changed
        for part in obs:
            np.testing.assert_array_equal(again[part][~mask], obs[part][~mask])
        assert vec._rows.states[~mask].tobytes() == before[~mask].tobytes()
        np.testing.assert_array_equal(infos["_seat"], mask)
        assert not infos["action_mask"][~mask].any()
        assert (vec._rows.states["score"][mask] == (3, 4)).all()
        single = cincinnati.solo(opponents="rule", seat=0)
        seen, _ = single.reset(seed=row_seed, options={"score": (3, 4)})
        np.testing.assert_array_equal(again["observation"][row], seen["observation"])


def test_finished_row_must_be_reset_in_mode_disabled():
    vec = cincinnati.solo_vec(3, autoreset_mode="Disabled")
    obs, _ = vec.reset(seed=1)
    actions = obs["action_mask"].argmax(axis=1)
    actions[1] = obs["action_mask"][1].argmin()
    before = vec._rows.states[1].tobytes()
    obs, rewards, terminated, _, infos = vec.step(actions)
    assert terminated.tolist() == [False, True, False]
    assert rewards[1] == -1
    assert infos["illegal"].tolist() == [False, True, False]
    assert vec._rows.states[1].tobytes() == before
    assert not vec.action_masks()[1].any()
    frozen = vec._rows.states.tobytes()
    with pytest.raises(IllegalActionError, match="row 1: its episode is over"):
        vec.step(obs["action_mask"].argmax(axis=1))
    assert vec._rows.states.tobytes() == frozen
    vec.reset(options={"reset_mask": terminated})
    vec.step(vec.action_masks().argmax(axis=1))


def test_actions_of_rows_that_restart_in_mode_next_step_are_unused():
    vec = cincinnati.solo_vec(2, autoreset_mode="NextStep")
    obs, _ = vec.reset(seed=1)
    actions = obs["action_mask"].argmax(axis=1)
    actions[0] = obs["action_mask"][0].argmin()
    _, _, terminated, _, _ = vec.step(actions)
    assert terminated.tolist() == [True, False]
    _, rewards, terminated, _, infos = vec.step([-(10**9), int(vec.action_masks()[1].argmax())])
    assert rewards[0] == 0
    assert not terminated[0]
    assert infos["action_mask"][0].any()
