"""Thread pools, Ctrl-C within them, and Ctrl-C in a command, a script, a step and a prompt."""

import gc
import inspect
import os
import signal
import subprocess
import sys
import threading
import weakref

import numpy as np
import pytest
from support.commands import python

import bideuchre_env
from bideuchre_env.cli import program
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


posix = pytest.mark.skipif(os.name == "nt", reason="POSIX signals")

PRESS = "signal.raise_signal(signal.SIGINT)"
START = "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "
RUN = "from bideuchre_env.cli.main import console; console()"
SELFPLAY = ("selfplay", "--games", "100000", "--out", "x.jsonl")
MOMENTS = {
    "an import": "import builtins; load = builtins.__import__\n"
    "def slow(name, *rest, **more):\n"
    f"    if name == 'numba': {PRESS}; print('resumed')\n"
    "    return load(name, *rest, **more)\n"
    "builtins.__import__ = slow; ",
    "compiling": "from numba.core import event\n"
    "class Press(event.Listener):\n"
    f"    def on_start(self, event): {PRESS}; print('resumed')\n"
    "    def on_end(self, event): pass\n"
    "event.register('numba:compile', Press()); ",
}
TWICE = (
    "from bideuchre_env.evaluation import match; play = match.match\n"
    "def press(*pair, progress, **options):\n"
    "    def twice(kind, done, *rest):\n"
    f"        if done > 50: {PRESS}; {PRESS}\n"
    "    return play(*pair, progress=twice, **options)\n"
    "match.match = press; "
)


def run(code, *arguments, where, status=130, **environment):
    """Run a program text; return its output, and its error lines except those on compilation."""
    done = python("-c", code, *arguments, where=where, status=status, **environment)
    errors = [line for line in done.stderr.splitlines() if "compil" not in line]
    return done.stdout, errors


@pytest.mark.slow
@posix
@pytest.mark.parametrize("moment", MOMENTS)
def test_ctrl_c_prints_one_line_and_leaves_no_file_during(moment, tmp_path):
    cold = {"NUMBA_CACHE_DIR": str(tmp_path / "kernels")} if moment == "compiling" else {}
    (tmp_path / "here").mkdir()
    done = run(START + MOMENTS[moment] + RUN, *SELFPLAY, where=tmp_path / "here", **cold)
    assert done == ("", ["bideuchre: interrupted"])
    assert list((tmp_path / "here").iterdir()) == []


@pytest.mark.slow
@posix
def test_a_second_ctrl_c_ends_the_command_with_whole_records(tmp_path):
    done = run(START + TWICE + RUN, *SELFPLAY, where=tmp_path)
    assert done == ("", ["bideuchre: interrupted"])
    lines = (tmp_path / "x.jsonl").read_bytes().splitlines(keepends=True)
    assert len(lines) > 50
    for line in (lines[0], lines[-1]):
        bideuchre_env.GameRecord.loads(line.decode())
    assert [path.name for path in tmp_path.iterdir()] == ["x.jsonl"]


SCRIPTS = {
    "is caught": (
        f"def main():\n    try: {PRESS}\n    except KeyboardInterrupt: print('saved')\n"
        "    return interrupted_code()\n",
        ("saved\n", []),
    ),
    "is not caught": (f"def main(): {PRESS}\n", ("", ["ladder.py: interrupted"])),
}


@pytest.mark.slow
@posix
@pytest.mark.parametrize(("name", "status"), [("SIGINT", 130), ("SIGTERM", 143)])
@pytest.mark.parametrize("script", SCRIPTS)
def test_a_script_ends_with_the_code_of_the_signal_caught_or_not(script, name, status, tmp_path):
    body, printed = SCRIPTS[script]
    head = START + "sys.argv[0] = 'experiments/ladder.py'; from bideuchre_env.cli import program\n"
    head += "from bideuchre_env.runtime.interrupts import interrupted_code\n"
    program = head + body.replace("SIGINT", name) + "sys.exit(program.script(main))\n"
    assert run(program, where=tmp_path, status=status) == printed


@posix
def test_a_script_restores_the_handlers():
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    assert program.script(lambda: 0) == 0
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before


WORKER = """
import multiprocessing, os, time
from bideuchre_env.runtime.interrupts import blocked, leave_to_parent

def work():
    leave_to_parent()
    print(os.getpid(), flush=True)
    time.sleep(0.5)
    print("works", flush=True)
    time.sleep(600)

with blocked():
    multiprocessing.get_context("fork").Process(target=work).start()
time.sleep(600)
"""


@posix
def test_a_worker_leaves_signals_to_its_parent_and_ends_without_one():
    with subprocess.Popen([sys.executable, "-c", WORKER], stdout=subprocess.PIPE) as process:
        worker = int(process.stdout.readline())
        for number in (signal.SIGINT, signal.SIGTERM):
            os.kill(worker, number)
        assert process.stdout.readline() == b"works\n"
        process.kill()
        process.wait()
        os.kill(worker, signal.SIGTERM)
        assert process.stdout.read() == b""  # the worker, which has this pipe too, has ended


@posix
def test_the_command_leaves_the_handler_of_another_program(tmp_path):
    handled = "import signal, sys; signal.signal(signal.SIGINT, print); import atexit\n"
    ask = "atexit.register(lambda: print(signal.getsignal(signal.SIGINT) is print)); "
    out, _ = run(handled + ask + RUN, "--version", where=tmp_path, status=0)
    assert out.endswith("True\n")


PROGRAM = """
import _thread, signal, threading
from bideuchre_env.runtime.interrupts import typed_line
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.alarm(60)  # ends a process that nothing interrupts
print([typed_line(), typed_line()])
threading.Timer(0.3, _thread.interrupt_main).start()  # interrupts no system call
try:
    typed_line()
except KeyboardInterrupt:
    print("interrupted, wakeup descriptor", signal.set_wakeup_fd(-1), flush=True)
try:
    typed_line()
except EOFError:
    print("end of file")
"""


@posix
def test_lines_are_read_until_ctrl_c_or_end_of_file():
    """Ctrl-C ends the wait even if it comes between a check for signals and the wait."""
    main, other = pytest.importorskip("pty").openpty()
    os.write(main, b"bid 4\npass\n")
    options = {"stdin": other, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", PROGRAM], **options) as process:
        assert process.stdout.readline() == "['bid 4', 'pass']\n"
        assert process.stdout.readline() == "interrupted, wakeup descriptor -1\n"
        os.write(main, b"\x04")
        assert process.stdout.readline() == "end of file\n"
    os.close(main)
    os.close(other)
