"""Thread pools: errors, Ctrl-C and lifetime; Ctrl-C at any line of a step."""

import gc
import inspect
import signal
import sys
import threading
import weakref

import numpy as np
import pytest

import bideuchre_env
from bideuchre_env.envs.vector import threads
from bideuchre_env.runtime.interrupts import ctrl_c
from bideuchre_env.runtime.threads import ThreadPool


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


def test_a_step_whose_threads_cannot_be_started_changes_no_row(monkeypatch):
    vec, twin = (bideuchre_env.cincinnati_v0.vec(2000, threads=n) for n in (3, 1))
    vec.reset(seed=5)
    twin.reset(seed=5)
    begun, actions = [], twin.sample()

    class Refused(threads._Helper):
        def __init__(self, *arguments):
            if begun:
                raise RuntimeError("can't start new thread")
            begun.append(self)
            super().__init__(*arguments)

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


def test_a_handler_of_another_program_stays(default_ctrl_c):
    calls = []
    before = signal.signal(signal.SIGINT, lambda number, frame: calls.append(number))
    with ctrl_c() as pressed:
        signal.raise_signal(signal.SIGINT)
    signal.signal(signal.SIGINT, before)
    assert calls == [signal.SIGINT]
    assert not pressed.is_set()


class InterruptAt:
    """A trace function that raises KeyboardInterrupt before the n-th line of a function, once.

    Lines that begin with a text of `spared` are left out: Python checks for no signal there.
    """

    def __init__(self, code, n, *spared):
        self.code, self.left, self.raised = code, n, False
        lines, first = inspect.getsourcelines(code)
        self.spared = [first + i for i, line in enumerate(lines) if line.strip().startswith(spared)]
        assert len(self.spared) == len(spared)

    def __call__(self, frame, event, _):
        if frame.f_code is not self.code:
            return None
        if event == "line" and frame.f_lineno not in self.spared:
            self.left -= 1
            if self.left == 0:
                self.raised = True
                raise KeyboardInterrupt
        return self


def test_ctrl_c_at_any_line_of_a_step_keeps_the_environment_usable():
    vec = bideuchre_env.cincinnati_v0.vec(3)
    vec.reset(seed=1)
    code, outer = type(vec).step.__code__, sys.gettrace()
    assert code.co_name == "guarded"
    for n in range(1, 100):
        interrupt = InterruptAt(code, n, "if entered:", "alone.free = True")
        sys.settrace(interrupt)
        try:
            vec.step(vec.action_masks().argmax(axis=1))
        except KeyboardInterrupt:
            pass
        finally:
            sys.settrace(outer)
        assert vec._alone.free
        vec.step(vec.action_masks().argmax(axis=1))
        if not interrupt.raised:
            break
    assert n > 4
