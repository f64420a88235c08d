"""Ctrl-C ends the command with one line, code 130 and no incomplete file, at any moment."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

import bideuchre_env
from bideuchre_env.cli import program

pytestmark = pytest.mark.skipif(os.name == "nt", reason="POSIX signals")

PRESS = "signal.raise_signal(signal.SIGINT)"
START = "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "
RUN = "from bideuchre_env.cli.main import console; console()"
SELFPLAY = ("selfplay", "--games", "100000", "--out", "x.jsonl")
MATCH = ("match", "rule", "cautious", "--boards", "900000", "--json", "a.json")

MOMENTS = {
    "an import": "import builtins; load = builtins.__import__\n"
    "def slow(name, *rest, **more):\n"
    f"    if name == 'numba': {PRESS}; print('went on')\n"
    "    return load(name, *rest, **more)\n"
    "builtins.__import__ = slow; ",
    "compiling": "from numba.core import event\n"
    "class Press(event.Listener):\n"
    f"    def on_start(self, event): {PRESS}; print('went on')\n"
    "    def on_end(self, event): pass\n"
    "event.register('numba:compile', Press()); ",
    "a finalizer": "from bideuchre_env.envs import registration\n"
    "class Press:\n"
    f"    def __del__(self): {PRESS}; print('went on')\n"
    "from bideuchre_env.evaluation import blocks, lockstep; run = lockstep.LockstepRunner.run\n"
    "def slow(*rest, **more): Press(); return run(*rest, **more)\n"
    "lockstep.LockstepRunner.run = slow; ",
}


def run(code, *arguments, where, **environment):
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=where,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )


def told(done):
    """The lines on stderr, but for those on kernels that are compiled."""
    return [line for line in done.stderr.splitlines() if "compil" not in line]


@pytest.mark.parametrize(
    ("moment", "arguments"), [*((moment, SELFPLAY) for moment in MOMENTS), ("compiling", MATCH)]
)
def test_ctrl_c_is_one_line_while(moment, arguments, tmp_path):
    """Nothing is printed but that line (and that kernels are compiled), and no file is left."""
    folder = tmp_path / "kernels"
    cold = {"NUMBA_CACHE_DIR": str(folder)} if moment == "compiling" else {}
    (tmp_path / "here").mkdir()
    done = run(START + MOMENTS[moment] + RUN, *arguments, where=tmp_path / "here", **cold)
    assert (done.returncode, told(done), done.stdout) == (130, ["bideuchre: interrupted"], "")
    assert list((tmp_path / "here").iterdir()) == []


def test_ctrl_c_as_the_program_ends_is_one_line(tmp_path):
    done = run(START + f"import atexit; atexit.register(lambda: {PRESS}); " + RUN, where=tmp_path)
    assert (done.returncode, done.stderr) == (130, "bideuchre: interrupted\n")
    assert "bideuchre selfplay" in done.stdout


def test_a_second_ctrl_c_ends_it_at_once_with_whole_lines(tmp_path):
    """The first one would print what is finished."""
    twice = (
        "from bideuchre_env import selfplay; play = selfplay.play\n"
        "def press(*pair, progress, **options):\n"
        "    def twice(done, *rest):\n"
        f"        if done > 50: {PRESS}; {PRESS}\n"
        "    return play(*pair, progress=twice, **options)\n"
        "selfplay.play = press; "
    )
    done = run(START + twice + RUN, *SELFPLAY, where=tmp_path)
    assert (done.returncode, told(done), done.stdout) == (130, ["bideuchre: interrupted"], "")
    lines = (tmp_path / "x.jsonl").read_bytes().splitlines(keepends=True)
    assert len(lines) > 50
    for line in (lines[0], lines[-1]):
        bideuchre_env.GameRecord.loads(line.decode())
    assert [path.name for path in tmp_path.iterdir()] == ["x.jsonl"]


def test_ctrl_c_ends_the_module_run_as_a_command(tmp_path):
    (tmp_path / "sitecustomize.py").write_text(START + MOMENTS["an import"])
    done = subprocess.run(
        [sys.executable, "-m", "bideuchre_env", *SELFPLAY],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (130, "bideuchre: interrupted\n")


SCRIPTS = {
    "it may save something": (
        f"def main():\n    try: {PRESS}\n    except KeyboardInterrupt: print('saved')\n"
        "    return 130\n",
        ("saved\n", ""),
    ),
    "it need not": (f"def main(): {PRESS}\n", ("", "ladder.py: interrupted\n")),
    "pressed twice": (
        f"def main():\n    try: {PRESS}\n    finally: {PRESS}; print('went on')\n",
        ("", "ladder.py: interrupted\n"),
    ),
    "while numba compiles": (
        "from numba.core.compiler_lock import global_compiler_lock as lock\n"
        "import bideuchre_env.runtime.jit\n"
        "def main():\n    try:\n"
        f"        with lock: {PRESS}\n"
        "    except KeyboardInterrupt: print('went on')\n",
        ("", "ladder.py: interrupted\n"),
    ),
}


@pytest.mark.parametrize("script", SCRIPTS)
def test_the_first_ctrl_c_raises_in_a_script_and_the_second_ends_it(script, tmp_path):
    body, printed = SCRIPTS[script]
    head = START + "sys.argv[0] = 'experiments/ladder.py'; from bideuchre_env.cli import program\n"
    done = run(head + body + "sys.exit(program.script(main))\n", where=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (130, *printed)


def test_after_a_script_has_run_ctrl_c_is_as_before():
    before = signal.getsignal(signal.SIGINT)
    assert program.script(lambda: 0) == 0
    assert signal.getsignal(signal.SIGINT) is before


def test_a_handler_that_a_program_has_set_stays(tmp_path):
    taken = "import signal, sys; signal.signal(signal.SIGINT, print); import atexit\n"
    ask = "atexit.register(lambda: print(signal.getsignal(signal.SIGINT) is print)); "
    assert run(taken + ask + RUN, "--version", where=tmp_path).stdout.endswith("True\n")
