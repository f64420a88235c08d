"""Threads of a vector environment: forks, endings, and two threads that want the same rows."""

import copy
import gc
import os
import pickle
import threading
import time
from zlib import crc32

import numpy as np
import pytest

import bideuchre_env
from bideuchre_env.errors import IllegalActionError


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_fork_steps_on_by_itself():
    """A process forked from one whose threads have run starts threads of its own."""
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
    """Closing, or dropping the last reference, lets the threads go; stepping starts them again."""
    others = set(threading.enumerate())  # some of an earlier test may be about to end
    vec = bideuchre_env.cincinnati_v0.vec(2000, threads=4)
    vec.reset(seed=1)
    vec.step(vec.sample())
    assert len(started_since(others)) == 3
    vec.close()
    wait_for_the_end(others)
    vec.step(vec.sample())
    assert len(started_since(others)) == 3
    del vec
    gc.collect()
    wait_for_the_end(others)


def started_since(others):
    return set(threading.enumerate()) - others


def wait_for_the_end(others):
    """Wait until only others are left; a thread looks for work a little while longer."""
    for _ in range(600):
        if not started_since(others):
            return
        time.sleep(0.05)
    raise AssertionError(f"still there: {started_since(others)}")


def test_a_second_thread_is_kept_out():
    """While one thread steps an environment another's step is refused; nothing is lost by it."""
    vecs = (bideuchre_env.cincinnati_v0.vec(4), bideuchre_env.cincinnati_v0.solo_vec(4))
    for vec in vecs:
        vec.reset(seed=1)
        told = []

        def step(vec=vec, told=told):
            try:
                vec.step(np.zeros(4, np.int64))
            except IllegalActionError as error:
                told.append(str(error))

        with vec._alone:
            other = threading.Thread(target=step)
            other.start()
            other.join()
        assert len(told) == 1
        assert told[0].startswith("another thread is stepping")
        step()
        assert len(told) == 1
        pickle.loads(pickle.dumps(vec)).step(np.zeros(4, np.int64))
