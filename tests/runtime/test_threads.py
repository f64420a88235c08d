"""Threads that share work: errors, interrupts, and whom they keep alive."""

import gc
import signal
import threading
import time
import weakref

import numpy as np
import pytest

import bideuchre_env
from bideuchre_env.envs.vector import threads
from bideuchre_env.runtime.interrupts import ctrl_c
from bideuchre_env.runtime.threads import ThreadPool


@pytest.fixture
def python_hears_ctrl_c():
    """A shell may have it ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_an_error_is_raised_when_all_are_at_rest():
    """The first error comes out, no further part is begun, and the pool goes on working."""
    pool, busy = ThreadPool(3), []

    def work(start, stop):
        busy.append(start)
        if start >= 20:
            raise RuntimeError(f"part {start}")
        busy.append(-start)

    for _ in range(50):
        with pytest.raises(RuntimeError, match="part"):
            pool.share(1000, work, 10)
        done = np.zeros(1000, int)
        pool.share(1000, lambda start, stop: np.add.at(done, slice(start, stop), 1), 10)  # noqa: B023
        assert (done == 1).all()
    pool.close()


def test_an_interrupt_waits_for_the_others(python_hears_ctrl_c):
    """Ctrl-C is raised when no thread is at work, of whole work when it is done."""
    pool, ended = ThreadPool(2), []
    met = threading.Barrier(2)

    def work(start, stop):
        if start < 26:
            met.wait()  # one part for each of the two threads
            if threading.current_thread() is threading.main_thread():
                signal.raise_signal(signal.SIGINT)
            else:
                threading.Event().wait(0.2)
        ended.append(start)

    with pytest.raises(KeyboardInterrupt):
        pool.share(100, work, 10, whole=True)
    assert len(ended) == 8  # threads times parts each
    ended.clear()
    with pytest.raises(KeyboardInterrupt):
        pool.share(100, work, 10)
    assert len(ended) == 2  # no further part is begun
    count = []
    pool.share(100, lambda start, stop: count.append(stop - start), 10)
    assert sum(count) == 100
    pool.close()


class AlarmError(Exception):
    """What a handler of somebody else's raises."""


def alarm(number, frame):
    raise AlarmError


@pytest.mark.parametrize(
    ("handler", "signals", "error"),
    [(signal.default_int_handler, 3, KeyboardInterrupt), (alarm, 1, AlarmError)],
)
def test_no_thread_is_at_work_when_a_signal_is_raised(python_hears_ctrl_c, handler, signals, error):
    """A second Ctrl-C, or another handler's error, while the others are waited for."""
    signal.signal(signal.SIGINT, handler)
    pool, ended, begun = ThreadPool(2), [], threading.Event()

    def work(start, stop):
        if threading.current_thread() is threading.main_thread():
            begun.wait()
        else:
            begun.set()
            while len(ended) < 7:
                threading.Event().wait(0.01)
            for _ in range(signals):  # the main thread waits, or is about to
                signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
                threading.Event().wait(0.05)
        ended.append(start)

    with pytest.raises(error):
        pool.share(100, work, 10, whole=True)
    assert len(ended) == 8
    pool.close()


def test_an_interrupt_while_threads_step_waits_for_them(python_hears_ctrl_c):
    """Whenever Ctrl-C comes, every row has moved when it is raised, or none has; no thread is left.

    Another thread presses it in every step.
    """
    vec, twin = (bideuchre_env.cincinnati_v0.vec(20_000, threads=n) for n in (3, 1))
    for each in (vec, twin):
        each.reset(seed=1)
    stepping, begun, over, counts = [False], threading.Semaphore(0), [], {"none": 0, "all": 0}

    def handler(number, frame):
        if stepping[0]:
            stepping[0] = False
            raise KeyboardInterrupt

    def press():
        while begun.acquire() and not over:
            time.sleep(0.0002)  # about a third of a step
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    signal.signal(signal.SIGINT, handler)
    presser = threading.Thread(target=press)
    presser.start()
    for _ in range(200):
        vec._pool._pace.together = True
        actions, before = twin.sample(), vec.get_state().tobytes()
        moved = True
        try:
            stepping[0] = True
            begun.release()
            vec.step(actions)
            stepping[0] = False
        except KeyboardInterrupt:
            moved = vec.get_state().tobytes() != before
            counts["all" if moved else "none"] += 1
        if not moved:
            vec.step(actions)
        twin.step(actions)
        assert vec.get_state().tobytes() == twin.get_state().tobytes()
    over.append(True)
    begun.release()
    presser.join()
    assert counts["all"] > 10


def test_threads_that_cannot_be_started_are_tried_again(monkeypatch):
    """No thread to be had: no row has moved, those begun are let go, the next step has them all."""
    vec, twin = (bideuchre_env.cincinnati_v0.vec(2000, threads=n) for n in (3, 1))
    vec.reset(seed=5)
    twin.reset(seed=5)
    begun, actions = [], twin.sample()

    class Refused(threads._Helper):
        def __init__(self, *given):
            if begun:
                raise RuntimeError("can't start new thread")
            begun.append(self)
            super().__init__(*given)

    with monkeypatch.context() as patched:
        patched.setattr(threads, "_Helper", Refused)
        with pytest.raises(RuntimeError, match="can't start"):
            vec.step(actions)
    np.testing.assert_array_equal(vec.get_state(), twin.get_state())
    assert begun[0].ended
    vec.step(actions)
    twin.step(actions)
    assert len(vec._pool._helpers) == 2
    np.testing.assert_array_equal(vec.get_state(), twin.get_state())


def test_threads_at_rest_keep_no_environment_alive():
    """An environment of learners that nobody closed goes with its last reference."""
    vec = bideuchre_env.cincinnati_v0.solo_vec(2000, threads=2)
    vec.reset(seed=1)
    gone = weakref.ref(vec._rows)
    assert vec._rows._pool._executor is not None
    del vec
    gc.collect()
    assert gone() is None


@pytest.mark.filterwarnings("ignore:Setting the shape:DeprecationWarning")
@pytest.mark.parametrize("face", ["vec", "solo_vec"])
def test_the_shape_of_what_is_given_is_the_callers(face):
    """Reshaping in place what was handed out leaves the environment's own arrays as they are."""
    envs = [getattr(bideuchre_env.cincinnati_v0, face)(40, copy=copied) for copied in (False, True)]
    for env in envs:
        env.reset(seed=3)
    for _ in range(40):
        results = [env.step(env.action_masks().argmax(axis=1)) for env in envs]
        for name in ("observation", "action_mask"):
            mine, other = (result[0][name] for result in results)
            np.testing.assert_array_equal(mine, other)
            mine.shape = mine.shape[::-1]
        for place in (1, 2, 3):
            np.testing.assert_array_equal(results[0][place], results[1][place])
            results[0][place].shape = (-1, 2)


def test_the_first_ctrl_c_is_noted_and_the_second_raises(python_hears_ctrl_c):
    """And when the work is done Ctrl-C is what it was."""
    with ctrl_c() as pressed:
        assert not pressed.is_set()
        signal.raise_signal(signal.SIGINT)
        assert pressed.is_set()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    with ctrl_c() as pressed:
        pass
    assert not pressed.is_set()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ctrl_c_stays_with_whoever_has_taken_it(python_hears_ctrl_c):
    """A handler of somebody else's is left in place, and another thread has none to set."""
    heard = []
    signal.signal(signal.SIGINT, lambda number, frame: heard.append(number))
    with ctrl_c() as pressed:
        signal.raise_signal(signal.SIGINT)
    assert heard == [signal.SIGINT]
    assert not pressed.is_set()

    signal.signal(signal.SIGINT, signal.default_int_handler)
    handlers = []

    def elsewhere():
        with ctrl_c():
            handlers.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert handlers == [signal.default_int_handler]
