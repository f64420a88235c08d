"""Threads of a vector environment: forks, their end, and concurrent calls."""

import copy
import gc
import os
import threading
import time
from zlib import crc32

import numpy as np
import pytest

import bideuchre_env
from bideuchre_env.envs.vector.threads import Pace
from bideuchre_env.errors import IllegalActionError


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
