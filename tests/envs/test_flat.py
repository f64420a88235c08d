"""`observation="flat"`: the same observation as a float32 vector, in every environment."""

import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import SyncVectorEnv
from pettingzoo.test import api_test, parallel_api_test, seed_test
from support.playthroughs import VARIANTS, Chooser, plies
from support.solo_helpers import assert_same

import bideuchre_env
from bideuchre_env.core.observation.layout import layout_of
from bideuchre_env.errors import OptionError

every_variant = pytest.mark.parametrize("name", VARIANTS)
cincinnati = bideuchre_env.cincinnati_v0


def last_legal(masks):
    """The last legal action of every row: high bids, so that hands are played."""
    return masks.shape[1] - 1 - masks[:, ::-1].argmax(axis=1)


@every_variant
def test_scaled_observations_lie_between_minus_1_and_1(name):
    """Entries are float32, divided by the larger absolute bound."""
    layout = layout_of(bideuchre_env.variants[name].rules)
    most = np.maximum(np.abs(layout.low.astype(np.float32)), layout.high)
    for bound in (layout.low, layout.high):
        flat = layout.scaled(bound)
        assert flat.dtype == np.float32
        np.testing.assert_allclose(flat, bound / most, rtol=2e-7)
    both = np.stack([layout.low, layout.high])
    np.testing.assert_array_equal(layout.scaled(both)[1], layout.scaled(layout.high))
    for wrong in (layout.low.astype(int), layout.low[1:], np.int8(1), "no"):
        with pytest.raises(OptionError, match=f"expected int8 \\(..., {layout.size}\\)"):
            layout.scaled(wrong)


@every_variant
def test_aec_observations_are_scaled_and_masks_in_the_infos(name):
    variant = bideuchre_env.variants[name]
    plain, flat = (variant.raw_env(observation=word, max_hands=4) for word in ("dict", "flat"))
    for env in (plain, flat):
        env.reset(seed=6)
    for _, action in plies(plain, Chooser(3)):
        for agent in plain.possible_agents:
            expected, seen = plain.observe(agent), flat.observe(agent)
            assert flat.observation_space(agent).contains(seen)
            assert_same(seen, expected["observation"] * plain.observation_layout.scale)
            assert_same(flat.infos[agent], {"action_mask": expected["action_mask"]})
        assert_same(flat.last()[0], flat.observe(flat.agent_selection))
        np.testing.assert_array_equal(plain.state(), flat.state())
        flat.step(action)
    assert all(not info["action_mask"].any() for info in flat.infos.values())
    assert flat.observation_spaces["player_0"] == gymnasium.spaces.Box(
        -1, 1, (plain.observation_layout.size,), np.float32
    )


@every_variant
def test_pettingzoo_tests_pass(name):
    variant = bideuchre_env.variants[name]
    for env in (variant(observation="flat"), variant.raw_env(observation="flat", episode="hand")):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            api_test(env, num_cycles=150)
    seed_test(lambda: variant(observation="flat"), num_cycles=150)
    parallel_api_test(variant.parallel_env(observation="flat"), num_cycles=50)


@pytest.mark.parametrize("copied", [False, True])
@every_variant
def test_vec_observations_are_scaled(name, copied):
    """The observations of `reset`, `step`, `observe` and `set_state` are scaled."""
    variant = bideuchre_env.variants[name]
    plain = variant.vec(7, episode="hand")
    flat = variant.vec(7, episode="hand", observation="flat", copy=copied, threads=2)
    scale = plain.observation_layout.scale

    def check(expected, actual):
        (seen, info), (flat_seen, flat_info) = expected, actual
        assert_same(flat_seen, seen["observation"] * scale)
        assert flat.observation_space.contains(flat_seen)
        assert_same(flat_info, {**info, "action_mask": seen["action_mask"]})

    check(plain.reset(seed=5), flat.reset(seed=5))
    for _ in range(40):
        actions = plain.sample().copy()
        np.testing.assert_array_equal(flat.sample(), actions)
        a, b = plain.step(actions), flat.step(actions)
        check((a[0], a[4]), (b[0], b[4]))
        assert_same(list(a[1:4]), list(b[1:4]))
    np.testing.assert_array_equal(flat.observe(2), plain.observe(2) * scale)
    states = plain.get_state()
    for vec in (plain, flat):
        vec.reset(seed=9)
    check(plain.set_state(states), flat.set_state(states))


def test_functions_get_observations_in_the_learners_format():
    """A function gets the learner's format, so that a copy of the learner can be an opponent."""
    seen = {word: [] for word in ("dict", "flat")}
    for word, observations in seen.items():

        def learner(observation, mask, observations=observations):
            assert mask.dtype == np.int8
            observations.append(observation.copy())
            return int(mask.argmax())

        env = cincinnati.solo(opponents=learner, partner="rule", observation=word, seat=0)
        env.reset(seed=3)
        for _ in range(6):
            env.step(env.action_masks().argmax())
    assert len(seen["flat"]) == len(seen["dict"]) > 5
    for plain, flat in zip(seen["dict"], seen["flat"], strict=True):
        assert_same(flat, layout_of(cincinnati.rules).scaled(plain))


@pytest.mark.parametrize("observation", ["dict", "flat"])
def test_action_masks_are_bool_copies(observation):
    env = cincinnati.env(observation=observation)
    vec = cincinnati.vec(4, observation=observation, copy=False)
    for each in (env, vec):
        with pytest.raises(OptionError, match="nothing has been dealt"):
            each.action_masks()
        info = (each.reset(seed=1) or env.last())[-1]
        masks = each.action_masks()
        assert masks.dtype == bool
        np.testing.assert_array_equal(masks, info["action_mask"])
        masks[:] = True
        assert not each.action_masks().all()


def test_solo_vec_observations_are_scaled():
    """Results, `final_obs` included, equal those of `SyncVectorEnv`."""
    options = {"opponents": "cautious", "episode": "hand"}
    plain, flat = (cincinnati.solo_vec(5, **options, observation=o) for o in ("dict", "flat"))
    single = [lambda: cincinnati.solo(**options, observation="flat")] * 5
    sync = SyncVectorEnv(single, autoreset_mode=flat.autoreset_mode)
    scale, finals = plain.observation_layout.scale, 0
    (seen, _), (flat_seen, infos) = plain.reset(seed=8), flat.reset(seed=8)
    assert_same((flat_seen, infos), sync.reset(seed=8))
    for _ in range(20):
        assert_same(flat_seen, seen["observation"] * scale)
        assert flat.observation_space.contains(flat_seen)
        actions = last_legal(plain.action_masks())
        seen, *ends, infos = plain.step(actions)
        flat_seen, *flat_ends, flat_infos = result = flat.step(actions)
        assert_same(result, sync.step(actions))
        assert_same(ends, flat_ends)
        if "final_obs" in infos:
            for one, other in zip(infos["final_obs"], flat_infos["final_obs"], strict=True):
                assert one is other is None or (one["observation"] * scale == other).all()
                finals += one is not None
    assert finals > 5
