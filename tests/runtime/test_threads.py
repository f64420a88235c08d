"""Threads that share work: errors, Ctrl-C and lifetime."""

import gc
import signal
import threading
import time
import weakref

import numpy as np
import pytest
from support.own_process import in_own_process

import bideuchre_env
from bideuchre_env.envs.vector import threads
from bideuchre_env.runtime.interrupts import ctrl_c
from bideuchre_env.runtime.threads import ThreadPool


@pytest.fixture
def default_ctrl_c():
    """Python's own handler of Ctrl-C, during one test."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_an_error_in_a_part_is_raised_and_the_pool_stays_usable():
    pool, busy = ThreadPool(3), []

    def work(start, stop):
        busy.append(start)
        if start >= 20:
            raise RuntimeError(f"part {start}")
        busy.append(-start)

    for _ in range(20):
        with pytest.raises(RuntimeError, match="part"):
            pool.share(1000, work, 10)
        done = np.zeros(1000, int)
        pool.share(1000, lambda start, stop: np.add.at(done, slice(start, stop), 1), 10)  # noqa: B023
        assert (done == 1).all()
    pool.close()


def test_ctrl_c_is_raised_when_every_thread_has_stopped(default_ctrl_c):
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
    """Raised by a handler of another program."""


def raise_alarm(number, frame):
    raise AlarmError


@in_own_process
def test_no_thread_is_at_work_when_a_handler_raises():
    """Three times Ctrl-C, or the error of another handler, while the main thread waits."""
    for handler, signals, error in (
        (signal.default_int_handler, 3, KeyboardInterrupt),
        (raise_alarm, 1, AlarmError),
    ):
        signal.signal(signal.SIGINT, handler)
        pool, ended, begun = ThreadPool(2), [], threading.Event()

        def work(start, stop, ended=ended, begun=begun, signals=signals):
            if threading.current_thread() is threading.main_thread():
                begun.wait()
            else:
                begun.set()
                while len(ended) < 7:
                    time.sleep(0.01)
                for _ in range(signals):  # the main thread waits, or is about to
                    signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
                    time.sleep(0.05)
            ended.append(start)

        with pytest.raises(error):
            pool.share(100, work, 10, whole=True)
        assert len(ended) == 8
        pool.close()


@in_own_process
def test_ctrl_c_while_threads_step_moves_every_row_or_none():
    """Another thread sends the signal in every step."""
    vec, twin = (bideuchre_env.cincinnati_v0.vec(20_000, threads=n) for n in (3, 1))
    for each in (vec, twin):
        each.reset(seed=1)
    stepping, begun, ended, moves = [False], threading.Semaphore(0), [], 0

    def handler(number, frame):
        if stepping[0]:
            stepping[0] = False
            raise KeyboardInterrupt

    def press():
        while begun.acquire() and not ended:
            time.sleep(0.0002)  # about a third of a step
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    signal.signal(signal.SIGINT, handler)
    threading.Thread(target=press, daemon=True).start()
    for _ in range(60):
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
            moves += moved
        if not moved:
            vec.step(actions)
        twin.step(actions)
        assert vec.get_state().tobytes() == twin.get_state().tobytes()
    ended.append(True)
    assert moves > 3


def test_a_step_whose_threads_cannot_be_started_moves_no_row(monkeypatch):
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


def test_idle_threads_keep_no_environment_alive():
    vec = bideuchre_env.cincinnati_v0.solo_vec(2000, threads=2)
    vec.reset(seed=1)
    gone = weakref.ref(vec._rows)
    assert vec._rows._pool._executor is not None
    del vec
    gc.collect()
    assert gone() is None


def test_the_first_ctrl_c_is_noted_and_the_second_raises(default_ctrl_c):
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


def test_another_handler_stays_and_other_threads_set_none(default_ctrl_c):
    calls = []
    signal.signal(signal.SIGINT, lambda number, frame: calls.append(number))
    with ctrl_c() as pressed:
        signal.raise_signal(signal.SIGINT)
    assert calls == [signal.SIGINT]
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
