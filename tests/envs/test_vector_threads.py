"""Threads of a vector environment: forks, endings, and two threads that want the same rows."""

import copy
import gc
import inspect
import os
import pickle
import signal
import sys
import threading
import time
from zlib import crc32

import numpy as np
import pytest

import bideuchre_env
from bideuchre_env.envs.vector.threads import Pace
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


cincinnati = bideuchre_env.cincinnati_v0
NOTHING = np.zeros(4, np.int64)
WRITERS = {
    "vec": {
        "reset": lambda vec: vec.reset(seed=1),
        "step": lambda vec: vec.step(NOTHING),
        "sample": lambda vec: vec.sample(),
        "set_state": lambda vec: vec.set_state(vec.get_state()),
        "set_deal": lambda vec: vec.set_deal([ONE_DEAL] * 4),
    },
    "solo_vec": {
        "reset": lambda vec: vec.reset(seed=1),
        "step": lambda vec: vec.step(NOTHING),
    },
}
ONE_DEAL = [[f"{rank}{suit}" for rank in ("9", "10", "J", "Q", "K", "A")] for suit in "CDHS"]


@pytest.mark.parametrize(
    ("face", "method"), [(face, method) for face, of in WRITERS.items() for method in of]
)
def test_a_second_thread_is_kept_out(face, method):
    """While one thread is at an environment another's call that writes is refused; nothing is
    lost by it."""
    vec = getattr(cincinnati, face)(4)
    vec.reset(seed=1)
    told = []

    def call():
        try:
            WRITERS[face][method](vec)
        except IllegalActionError as error:
            told.append(str(error))

    vec._alone.free = False
    other = threading.Thread(target=call)
    other.start()
    other.join()
    assert not vec._alone.free
    vec._alone.free = True
    assert len(told) == 1
    assert told[0].startswith("this environment is in the middle of a step or reset")
    call()
    assert len(told) == 1
    pickle.loads(pickle.dumps(vec)).step(NOTHING)


@pytest.mark.parametrize(("face", "options"), [("vec", {}), ("solo_vec", {"opponents": "rule"})])
def test_two_threads_at_one_environment_come_to_an_end(face, options):
    """One steps, one resets, until each has been let in some times; the rows are sound after."""
    vec, twin = (getattr(cincinnati, face)(1000, **options) for _ in range(2))
    vec.reset(seed=1)
    errors = []

    def resets():
        yield from (lambda seed=seed: vec.reset(seed=seed) for seed in range(10))

    def steps():
        yield from [lambda: vec.step(vec.action_masks().argmax(axis=1))] * 10

    def until_let_in(calls):
        for call in calls():
            while True:
                try:
                    call()
                    break
                except IllegalActionError:  # the other is in, or has just changed what is legal
                    pass
                except BaseException as error:
                    errors.append(error)
                    break

    threads = [threading.Thread(target=until_let_in, args=(of,)) for of in (resets, steps)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    for each in (vec, twin):
        each.reset(seed=5)
    for _ in range(5):
        told = [each.step(each.action_masks().argmax(axis=1)) for each in (vec, twin)]
        for name in ("observation", "action_mask"):
            np.testing.assert_array_equal(told[0][0][name], told[1][0][name])


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no such timer")
@pytest.mark.parametrize("rows", [1, 600])
def test_an_interrupt_at_any_time_leaves_an_environment_open(rows):
    """Ctrl-C may come anywhere, between taking the environment and stepping it, too."""
    vec, twin = cincinnati.vec(rows, threads=2), cincinnati.vec(rows)
    for each in (vec, twin):
        each.reset(seed=3)
        each.step(each.sample())
    rng, interrupts = np.random.default_rng(0), 0
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        for delay in rng.uniform(1e-5, 3e-5, 400):
            try:
                signal.setitimer(signal.ITIMER_REAL, delay)
                while True:
                    vec.step(vec.action_masks().argmax(axis=1))
            except KeyboardInterrupt:
                interrupts += 1
            vec.step(vec.action_masks().argmax(axis=1))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert interrupts == 400
    for _ in range(40_000):  # more than there was time for
        if twin.get_state().tobytes() == vec.get_state().tobytes():
            return
        twin.step(twin.action_masks().argmax(axis=1))
    raise AssertionError("some rows of a step have moved, others not")


class InterruptAt:
    """A trace that raises KeyboardInterrupt before the n-th line of a function, once.

    Not before lines of these beginnings: Python looks for signals after calls and before jumps
    back, and from a `finally` to what it is for there is neither.
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


@pytest.mark.parametrize("looks", [1, 3])
def test_an_interrupt_before_any_line_leaves_a_step_undone_or_whole(looks):
    """Ctrl-C may come anywhere in a step of several threads: every row has moved then, or none.

    So it is where the parts of others are awaited more than once.
    """
    vec, twin = (cincinnati.vec(600, threads=threads) for threads in (2, 1))
    for each in (vec, twin):
        each.reset(seed=3)
    pool = vec._pool
    for each in (vec, twin):
        each.step(each.sample())
    share = pool._share
    code, outer, whole = type(pool)._step_together.__code__, sys.gettrace(), 0
    for n in range(1, 100):
        pool._pace.together = True
        actions, before = twin.sample(), vec.get_state().tobytes()
        pool._share = shares(looks, share)
        interrupt = InterruptAt(code, n, "deque(rest")
        sys.settrace(interrupt)
        try:
            vec.step(actions)
        except KeyboardInterrupt:
            pass
        finally:
            sys.settrace(outer)
        if vec.get_state().tobytes() == before:
            assert whole == 0  # from a certain line on a step is done, whatever comes
            vec.step(actions)
        else:
            whole += 1
        twin.step(actions)
        assert vec.get_state().tobytes() == twin.get_state().tobytes()
        if not interrupt.raised:
            break
    else:
        raise AssertionError("the step has no end")
    assert whole > 3


def test_an_interrupt_before_any_line_leaves_the_lock_open():
    """Wherever Ctrl-C comes as an environment is taken or given back, the next step is let in."""
    vec = cincinnati.vec(3)
    vec.reset(seed=1)
    code, outer = type(vec).step.__code__, sys.gettrace()
    assert code.co_name == "kept_out"
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


def shares(looks, share):
    """The share that the leader takes of a step, as though so many were needed to see its end."""
    told = iter([False] * (looks - 1))
    return lambda *job: share(*job) and next(told, True)


def stepped_for(pace, seconds, together, alone):
    """Let a pace count for so many seconds by a clock of our own: how many steps were done."""
    steps, spent = 0, 0.0
    while spent < seconds:
        step = together if pace.together else alone
        pace.count(step)
        steps, spent = steps + 1, spent + step
    return steps


@pytest.mark.parametrize("alone", [30e-6, 300e-6, 5e-3])
@pytest.mark.parametrize("gain", [0.3, 0.54, 0.8, 1.4, 1.73])
def test_threads_that_do_not_pay_are_left_out(gain, alone):
    """Nothing is lost by them but 3 %, and of what they gain no more than 1 %."""
    pace, together = Pace(), alone / gain
    steps = stepped_for(pace, 30, together, alone)
    assert pace.together == (gain > 1)
    assert steps * alone / 30 > (0.99 * gain if gain > 1 else 0.97)


def test_the_pace_follows_the_machine():
    """A core that is taken, and free again, is noticed within eight seconds."""
    pace = Pace()
    for gain in (1.6, 0.6, 1.6):
        stepped_for(pace, 8, 300e-6 / gain, 300e-6)
        steps = stepped_for(pace, 20, 300e-6 / gain, 300e-6)
        assert steps * 300e-6 / 20 > (0.98 * gain if gain > 1 else 0.97)


def test_both_ways_give_the_same_rows():
    """Together and alone, step by step, whatever the clock says."""
    vec, twin = (cincinnati.vec(600, threads=threads) for threads in (2, 1))
    for each in (vec, twin):
        each.reset(seed=3)
    for step in range(40):
        vec._pool._pace.together = bool(step % 3)
        told = [each.step(each.sample()) for each in (vec, twin)]
        np.testing.assert_array_equal(told[0][0]["observation"], told[1][0]["observation"])
        np.testing.assert_array_equal(told[0][1], told[1][1])
    assert vec.get_state().tobytes() == twin.get_state().tobytes()
