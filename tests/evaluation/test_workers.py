"""The processes of a match: they need nothing of the script that starts them, and end with it."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
from types import SimpleNamespace

import pytest

import bideuchre_env
from bideuchre_env import match
from bideuchre_env.errors import AgentError, OptionError
from bideuchre_env.evaluation import workers
from bideuchre_env.evaluation.blocks import Plan

posix = pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
SCRIPT = """
from bideuchre_env import match
print("once")
print(match.play("barrie_v0", "loud", "cautious", boards=20, at_once=2, workers=2))
"""
LOUD = """
import multiprocessing
from bideuchre_env import agents

class Loud:
    name = "loud"
    def __init__(self, rules, *, seed=None):
        self.rule = agents.make("rule", rules)
    def act_rows(self, observations, masks):
        if multiprocessing.parent_process() is not None:
            print("a word")
        return self.rule.act_rows(observations, masks)

agents.register("loud", Loud)
"""
ENDLESS = """
import signal
from bideuchre_env import match
signal.signal(signal.SIGINT, signal.default_int_handler)
match.play("barrie_v0", "rule", "cautious", boards=10**7, workers=2,
           progress=lambda kind, done, total, decisions: print(done, flush=True))
"""
CTRL_C_FOR_ALL = """
import os, signal
from bideuchre_env import match
from bideuchre_env.evaluation import workers

def press(blocks, processes, report, stopped):
    os.killpg(0, signal.SIGINT)  # while they start
    assert all(pipe.poll(120) and pipe.recv() is None for pipe in processes)
    share(blocks, processes, report, stopped)

signal.signal(signal.SIGINT, signal.default_int_handler)
share, workers.share = workers.share, press
print(match.play("barrie_v0", "rule", "cautious", boards=500, workers=2).interrupted)
"""


def python(*arguments, **options):
    """A finished Python process with these arguments, and what it printed."""
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, check=False, **options
    )


@pytest.mark.parametrize("from_file", [True, False])
def test_processes_leave_a_script_and_its_output_alone(from_file, tmp_path):
    """It needs no `if __name__ == "__main__"`, may be standard input, and agents may print.

    The processes know one more agent, which prints whenever it is asked.
    """
    (tmp_path / "sitecustomize.py").write_text(LOUD)
    (tmp_path / "script.py").write_text(SCRIPT)
    arguments, text = (["script.py"], None) if from_file else (["-"], SCRIPT)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = python(*arguments, input=text, cwd=tmp_path, env=environment)
    assert done.returncode == 0, done.stderr
    one = match.play("barrie_v0", "rule", "cautious", boards=20, at_once=2)
    first, *report = done.stdout.replace("loud", "rule").splitlines()
    assert first == "once"
    assert report[:-1] == str(one).splitlines()[:-1]  # the last line has times
    assert "a word" in done.stderr


@posix
def test_processes_end_with_the_one_that_started_them():
    """Even if it is killed: what they hold open is closed, and they have nothing to say."""
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", ENDLESS], **options) as process:
        while (line := process.stdout.readline()) in ("0\n", ""):
            assert process.poll() is None, process.stderr.read()
        assert int(line) > 0
        process.kill()
        _, errors = process.communicate(timeout=600)
    assert "Traceback" not in errors


@posix
def test_ctrl_c_for_all_processes_ends_none_but_the_first():
    """A terminal sends it to every process, also to those that are only starting."""
    done = python("-c", CTRL_C_FOR_ALL, start_new_session=True)
    assert (done.returncode, done.stdout) == (0, "True\n"), done.stderr
    assert "Traceback" not in done.stderr


class Leaves:
    """Ends the program when it is asked."""

    name = "leaves"

    def __init__(self, rules, *, seed=None):
        pass

    def act_rows(self, observations, masks):
        raise SystemExit(3)


def test_an_agent_that_ends_the_program_is_an_error_of_its_own(monkeypatch):
    """Here, and in a process of a match, which has heard of it."""
    with pytest.raises(AgentError, match=r"leaves.*SystemExit: 3"):
        match.play("barrie_v0", Leaves, "random", boards=2)

    def served(play):
        monkeypatch.setattr(workers, "play_block", play)
        ours, theirs = multiprocessing.Pipe()
        ours.send(range(2))
        rules = bideuchre_env.make("barrie_v0").rules
        monkeypatch.setattr(workers.signal, "signal", lambda *rest: None)
        monkeypatch.setattr(workers.os, "dup2", lambda *rest: None)
        workers.serve(workers.packed(Plan(rules, ("random", "random"), 0, True, 1)), theirs)
        assert ours.recv() is None
        return ours.recv()

    for error in (EOFError("no more of it"), SystemExit(3), ConnectionError("theirs")):

        def fails(*rest, error=error):
            raise error

        told = served(fails)
        assert isinstance(told, AgentError)
        assert type(error).__name__ in str(told)


def test_a_daemonic_process_is_refused_others(monkeypatch):
    """As `multiprocessing` has it; the sentence says what to do."""
    daemon = SimpleNamespace(daemon=True)
    monkeypatch.setattr(workers.multiprocessing, "current_process", lambda: daemon)
    with pytest.raises(OptionError, match="play with workers=1"):
        match.play("barrie_v0", "rule", "random", boards=5, workers=2)
