"""Rows equal AEC environments, for any threads; flat observations equal the usual ones, scaled."""

import copy
import gc
import os
import threading
import time
import warnings
from zlib import crc32

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import SyncVectorEnv
from pettingzoo.test import api_test, parallel_api_test, seed_test
from support.playthroughs import VARIANTS, Chooser, choose, plies
from support.solo_helpers import assert_same

import bideuchre_env
from bideuchre_env.core.observation.layout import layout_of
from bideuchre_env.core.state import Outcome
from bideuchre_env.envs.vector.threads import Pace
from bideuchre_env.errors import IllegalActionError, OptionError

PARTS = ("observation", "action_mask")


def transcript(vec, steps, seed, rows):
    """Step `vec`; return by step the arrays of the first rows, from observations to ends."""
    results = []
    obs, info = vec.reset(seed=seed)
    for step in range(steps):
        seen = [obs["observation"], obs["action_mask"], info["seat"]]
        actions = choose(obs["action_mask"], step)
        results.append([part[:rows].copy() for part in (*seen, actions)])
        obs, rewards, terminated, truncated, info = vec.step(actions)
        ends = (rewards, terminated, truncated, info["_episode"])
        results[-1] += [part[:rows].copy() for part in ends]
    return results


def assert_agree(a, b, rows):
    """Fail unless two transcripts agree on their first rows."""
    for step, other in zip(a, b, strict=True):
        for part, twin in zip(step, other, strict=True):
            np.testing.assert_array_equal(part[:rows], twin[:rows])


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("episode", ["game", "hand"])
def test_rows_are_aec_environments(variant, episode):
    options = {"episode": episode, "max_hands": 4, "reward": "points"}
    factory = bideuchre_env.variants[variant]
    vec = factory.vec(7, **options)
    envs = [factory.raw_env(**options) for _ in range(7)]
    obs, info = vec.reset(seed=2**64 - 3)
    for i, env in enumerate(envs):
        env.reset(seed=2**64 - 3 + i)
    lengths, finished = [0] * 7, 0
    paid = np.zeros((7, 4))
    for step in range(300):
        for i, env in enumerate(envs):
            seen = env.observe(env.agent_selection)
            for part in PARTS:
                np.testing.assert_array_equal(obs[part][i], seen[part])
            assert env.agent_selection == f"player_{info['seat'][i]}"
        actions = choose(obs["action_mask"], step)
        obs, rewards, terminated, truncated, info = vec.step(actions)
        for i, env in enumerate(envs):
            env.step(int(actions[i]))
            lengths[i] += 1
            payments = [env.rewards[agent] for agent in env.possible_agents]
            assert rewards[i].tolist() == payments
            paid[i] += payments
            assert terminated[i] == any(env.terminations.values())
            assert truncated[i] == any(env.truncations.values())
            assert info["_episode"][i] == (terminated[i] or truncated[i])
            if info["_episode"][i]:
                record, episodes = env.record, info["episode"]
                assert episodes["r"][i].tolist() == paid[i].tolist()
                assert episodes["l"][i] == lengths[i]
                assert episodes["hands"][i] == len(record.hands)
                assert episodes["score"][i].tolist() == list(record.hands[-1]["score"])
                winner = -1 if record.winner is None else record.winner
                assert episodes["winner"][i] == winner
                assert Outcome(episodes["outcome"][i]).name.lower() == (
                    record.outcome or Outcome.UNFINISHED.name.lower()
                )
                lengths[i], finished = 0, finished + 1
                paid[i] = 0
                env.reset()
    assert finished >= (40 if episode == "hand" else 7)


@pytest.mark.parametrize("variant", VARIANTS)
def test_number_of_rows_and_threads_changes_nothing(variant):
    factory = bideuchre_env.variants[variant]
    vec = factory.vec(1000, episode="hand")
    big = transcript(vec, 90, 11, 7)
    assert any(step[-1].any() for step in big)  # episodes have ended in rows 0 to 6
    for n, threads in ((1, 1), (7, 2), (1000, 3)):
        other = factory.vec(n, threads=threads, episode="hand")
        assert_agree(big, transcript(other, 90, 11, 7), min(n, 7))
    assert other.get_state().tobytes() == vec.get_state().tobytes()


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_forked_process_starts_its_own_threads():
    if not hasattr(os, "fork"):
        pytest.skip("this system does not fork")
    vec = bideuchre_env.cincinnati_v0.vec(600, threads=3)
    vec.reset(seed=1)
    for _ in range(5):
        vec.step(vec.sample())
    twin = copy.deepcopy(vec)
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            for _ in range(20):
                vec.step(vec.sample())
            os.write(writer, str(crc32(vec.get_state().tobytes())).encode())
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    for _ in range(20):
        twin.step(twin.sample())
    assert int(os.read(reader, 20)) == crc32(twin.get_state().tobytes())


def test_threads_end_with_their_environment():
    """Threads end with `close` or with the last reference; stepping starts them again."""
    before = set(threading.enumerate())  # threads of an earlier test may still run

    def started():
        return set(threading.enumerate()) - before

    def wait_for_the_end():
        until = time.monotonic() + 30  # idle threads poll for a moment before they end
        while started() and time.monotonic() < until:
            time.sleep(0.05)
        assert not started()

    vec = bideuchre_env.cincinnati_v0.vec(2000, threads=4)
    vec.reset(seed=1)
    vec.step(vec.sample())
    assert len(started()) == 3
    vec.close()
    wait_for_the_end()
    vec.step(vec.sample())
    assert len(started()) == 3
    del vec
    gc.collect()
    wait_for_the_end()


cincinnati = bideuchre_env.cincinnati_v0
NOTHING = np.zeros(4, np.int64)
WRITERS = [
    ("vec", lambda vec: vec.reset(seed=1)),
    ("vec", lambda vec: vec.step(NOTHING)),
    ("vec", lambda vec: vec.sample()),
    ("vec", lambda vec: vec.set_state(vec.get_state())),
    ("solo_vec", lambda vec: vec.reset(seed=1)),
    ("solo_vec", lambda vec: vec.step(NOTHING)),
]


@pytest.mark.parametrize(("face", "write"), WRITERS)
def test_second_thread_is_refused_during_a_write(face, write):
    vec = getattr(cincinnati, face)(4)
    vec.reset(seed=1)
    vec._alone.free = False  # as within a call of another thread
    with pytest.raises(IllegalActionError, match="busy in a step or reset"):
        write(vec)
    assert not vec._alone.free
    vec._alone.free = True
    write(vec)
    assert vec._alone.free


@pytest.mark.parametrize("gain", [0.3, 1.4])
def test_threads_are_used_where_they_gain_time(gain):
    """Within eight simulated seconds, `Pace` adapts to a change of the gain from threads."""
    pace, alone = Pace(), 300e-6
    for now in (gain, 1 / gain, gain):
        spent = 0.0
        while spent < 8:
            step = alone / now if pace.together else alone
            pace.count(step)
            spent += step
        assert pace.together == (now > 1)


every_variant = pytest.mark.parametrize("name", VARIANTS)


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
    box = gymnasium.spaces.Box(-1, 1, (plain.observation_layout.size,), np.float32)
    assert flat.observation_spaces["player_0"] == box


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
