"""Rows equal AEC environments, for any number of threads."""

import copy
import gc
import os
import threading
import time
from zlib import crc32

import numpy as np
import pytest
from support.custom_agents import ObservationPolicy
from support.playthroughs import EACH
from support.solo_helpers import assert_same

import bideuchre_env
from bideuchre_env.core.state import Outcome
from bideuchre_env.envs.vector.threads import Pace
from bideuchre_env.errors import IllegalActionError
from bideuchre_env.rules.cards import CARD_NAMES

PARTS = ("observation", "action_mask")
choose = ObservationPolicy(1).act_rows


def transcript(vec, steps, seed, rows):
    """Step `vec`; return by step the arrays of the first rows, from observations to ends."""
    results = []
    obs, info = vec.reset(seed=seed)
    for _ in range(steps):
        actions = choose(*obs.values())
        results.append([part[:rows].copy() for part in (*obs.values(), info["seat"], actions)])
        obs, *ends, info = vec.step(actions)
        results[-1] += [part[:rows].copy() for part in (*ends, info["_episode"])]
    return results


def test_results_of_an_episode_count_from_its_restart():
    """A reset by mask, a deal and a state that is set forget the rewards of the hands before."""
    vec = bideuchre_env.cincinnati_v0.vec(4, max_hands=2, target=1000, reward="points")
    obs, info = vec.reset(seed=3)
    paid, steps, hands = np.zeros((4, 4)), np.zeros(4, int), np.full(4, 2)
    restarted, compared = False, 0
    for _ in range(200):
        obs, rewards, terminated, truncated, info = vec.step(choose(*obs.values()))
        paid, steps = paid + rewards, steps + 1
        for row in np.flatnonzero(terminated | truncated):
            results = info["episode"]
            assert results["r"][row].tolist() == paid[row].tolist()
            assert (results["l"][row], results["hands"][row]) == (steps[row], hands[row])
            paid[row], steps[row], hands[row] = 0, 0, 2
            compared += restarted
        if not restarted and (paid != 0).all():  # each row is in its second hand
            restarted = True
            state, deal = vec.get_state()[2:3], [CARD_NAMES[i : i + 6] for i in (0, 6, 12, 18)]
            vec.reset(mask=np.array([True, False, False, False]))
            vec.set_deal([deal], rows=[1])
            obs, info = vec.set_state(state, rows=[2])
            paid[:3], steps[:3], hands[2] = 0, 0, 1
    assert compared > 4


@pytest.mark.parametrize("variant", EACH)
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
    for _ in range(300):
        for i, env in enumerate(envs):
            seen = env.observe(env.agent_selection)
            for part in PARTS:
                np.testing.assert_array_equal(obs[part][i], seen[part])
            assert env.agent_selection == f"player_{info['seat'][i]}"
        actions = choose(*obs.values())
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


@pytest.mark.parametrize("variant", EACH)
def test_number_of_rows_and_threads_changes_nothing(variant):
    factory = bideuchre_env.variants[variant]
    vec = factory.vec(1000, episode="hand")
    big = transcript(vec, 90, 11, 7)
    assert any(step[-1].any() for step in big)  # episodes have ended in rows 0 to 6
    for n, threads in ((1, 1), (7, 2), (1000, 3)):
        other = factory.vec(n, threads=threads, episode="hand")
        rows = min(n, 7)
        expected = [[part[:rows] for part in step] for step in big]
        assert_same(transcript(other, 90, 11, rows), expected)
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
WRITES = [lambda vec: vec.reset(seed=1), lambda vec: vec.step(NOTHING)]
WRITERS = [(face, write) for face in ("vec", "solo_vec") for write in WRITES]
WRITERS += [("vec", lambda vec: vec.sample())]
WRITERS += [("vec", lambda vec: vec.set_state(vec.get_state()))]


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
