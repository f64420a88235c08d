"""Threads that share work: errors, interrupts, and whom they keep alive."""

import gc
import signal
import threading
import weakref

import numpy as np
import pytest

import bideuchre_env
from bideuchre_env.envs.vector import threads
from bideuchre_env.runtime.interrupts import ctrl_c
from bideuchre_env.runtime.threads import Team


class Interrupted:
    """A bell that is out of reach once: Ctrl-C while waiting for it."""

    def __init__(self, bell):
        self.bell, self.left = bell, 1

    def put(self, thing):
        """Ring."""
        self.bell.put(thing)

    def get(self):
        """Wait, the second time."""
        self.left -= 1
        if self.left >= 0:
            raise KeyboardInterrupt
        self.bell.get()


def test_an_error_is_raised_when_all_are_at_rest():
    """The first error comes out, no further part is begun, and the team goes on working."""
    team, busy = Team(3), []

    def work(start, stop):
        busy.append(start)
        if start >= 20:
            raise RuntimeError(f"part {start}")
        busy.append(-start)

    for _ in range(50):
        with pytest.raises(RuntimeError, match="part"):
            team.share(1000, work, 10)
        done = np.zeros(1000, int)
        team.share(1000, lambda start, stop: np.add.at(done, slice(start, stop), 1), 10)  # noqa: B023
        assert (done == 1).all()
    team.close()


def test_an_interrupt_waits_for_the_others():
    """Ctrl-C while waiting is raised when no thread is at work any more; the next call is whole."""
    team, gate, ended = Team(2), threading.Event(), []
    team.share(100, lambda start, stop: None, 10)
    team._helpers[0].bell = Interrupted(team._helpers[0].bell)
    met = threading.Barrier(2)

    def work(start, stop):
        if not gate.is_set():
            met.wait()  # one part for each of the two threads
            gate.set()
            if threading.current_thread() is not threading.main_thread():
                threading.Event().wait(0.2)
        ended.append(start)

    with pytest.raises(KeyboardInterrupt):
        team.share(100, work, 10)
    assert len(ended) == 8  # threads times parts each
    count = []
    team.share(100, lambda start, stop: count.append(stop - start), 10)
    assert sum(count) == 100
    team.close()


def test_an_interrupted_step_is_done_first(monkeypatch):
    """Ctrl-C in the middle of a step: every row has moved, once, before it is raised."""
    vec, twin = (bideuchre_env.cincinnati_v0.vec(2000, threads=n) for n in (2, 1))
    vec.reset(seed=5)
    twin.reset(seed=5)
    for _ in range(4):
        vec.step(vec.sample())
        twin.step(twin.sample())
    shared, left = vec._team._share, [3]

    def interrupted(cells, leads, *rest):
        if leads and left[0]:
            left[0] -= 1
            raise KeyboardInterrupt
        return shared(cells, leads, *rest)

    monkeypatch.setattr(vec._team, "_share", interrupted)
    with pytest.raises(KeyboardInterrupt):
        vec.step(vec.sample())
    twin.step(twin.sample())
    for _ in range(30):
        np.testing.assert_array_equal(vec.get_state(), twin.get_state())
        vec.step(vec.sample())
        twin.step(twin.sample())


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
    assert len(vec._team._helpers) == 2
    np.testing.assert_array_equal(vec.get_state(), twin.get_state())


def test_threads_at_rest_keep_no_environment_alive():
    """An environment of learners that nobody closed goes with its last reference."""
    vec = bideuchre_env.cincinnati_v0.solo_vec(2000, threads=2)
    vec.reset(seed=1)
    gone = weakref.ref(vec._rows)
    helper = vec._rows._team._helpers[0]
    del vec
    gc.collect()
    assert gone() is None
    assert helper.jobs.empty()  # it has taken its leave, or is about to


@pytest.mark.filterwarnings("ignore:Setting the shape:DeprecationWarning")
@pytest.mark.parametrize("face", ["vec", "solo_vec"])
def test_the_shape_of_what_is_given_is_the_callers(face):
    """Reshaping in place what was handed out leaves the environment's own arrays as they are."""
    envs = [getattr(bideuchre_env.cincinnati_v0, face)(40, copy=copied) for copied in (False, True)]
    for env in envs:
        env.reset(seed=3)
    for _ in range(40):
        told = []
        for env in envs:
            actions = env._rows.masks.argmax(axis=1)
            told.append(env.step(actions))
        for name in ("observation", "action_mask"):
            mine, other = (given[0][name] for given in told)
            np.testing.assert_array_equal(mine, other)
            mine.shape = mine.shape[::-1]
        for place in (1, 2, 3):
            np.testing.assert_array_equal(told[0][place], told[1][place])
            told[0][place].shape = (-1, 2)


@pytest.fixture
def python_hears_ctrl_c():
    """A shell may have it ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


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
