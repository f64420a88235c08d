"""Worker processes of a match: isolation from the script, and termination."""

import os
import subprocess
import sys
from types import SimpleNamespace

import pytest
from support.commands import python

from bideuchre_env import match
from bideuchre_env.errors import AgentError, OptionError
from bideuchre_env.evaluation import workers

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


@pytest.mark.parametrize("from_file", [True, False])
def test_workers_do_not_run_the_script_again_or_print_to_its_output(from_file, tmp_path):
    (tmp_path / "sitecustomize.py").write_text(LOUD)
    (tmp_path / "script.py").write_text(SCRIPT)
    arguments, text = (["script.py"], None) if from_file else (["-"], SCRIPT)
    done = python(*arguments, text=text, where=tmp_path, PYTHONPATH=str(tmp_path))
    one = match.play("barrie_v0", "rule", "cautious", boards=20, at_once=2)
    first, *report = done.stdout.replace("loud", "rule").splitlines()
    assert first == "once"
    assert report[:-1] == str(one).splitlines()[:-1]  # the last line has times
    assert "a word" in done.stderr


@posix
def test_workers_end_when_their_parent_is_killed():
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", ENDLESS], **options) as process:
        while (line := process.stdout.readline()) in ("0\n", ""):
            assert process.poll() is None, process.stderr.read()
        assert int(line) > 0
        process.kill()
        _, errors = process.communicate(timeout=600)
    assert "Traceback" not in errors


class Leaves:
    """An agent whose first decision ends its process."""

    name = "leaves"

    def __init__(self, rules, *, seed=None):
        pass

    def act_rows(self, observations, masks):
        raise SystemExit(3)


def test_an_agent_that_exits_is_an_error():
    with pytest.raises(AgentError, match=r"leaves.*SystemExit: 3"):
        match.play("barrie_v0", Leaves, "random", boards=2)


def test_a_daemonic_process_cannot_start_workers(monkeypatch):
    daemon = SimpleNamespace(daemon=True)
    monkeypatch.setattr(workers.multiprocessing, "current_process", lambda: daemon)
    with pytest.raises(OptionError, match="workers: expected 1"):
        match.play("barrie_v0", "rule", "random", boards=5, workers=2)
