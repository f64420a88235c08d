"""Ctrl-C in the command: one line, code 130 and nothing left, at whatever moment."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest
from support.script_modules import ROOT

import bideuchre_env

pytestmark = pytest.mark.skipif(os.name == "nt", reason="POSIX signals")

PRESS = "signal.raise_signal(signal.SIGINT)"
START = "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "
COMMAND = START + "sys.argv[0] = 'bideuchre'; "
RUN = "from bideuchre_env.cli.main import main; sys.exit(main())"
SELFPLAY = ("selfplay", "--games", "100000", "--out", "x.jsonl")
MATCH = ("match", "rule", "cautious", "--boards", "900000", "--json", "a.json")

MOMENTS = {
    "an import": "import builtins; load = builtins.__import__\n"
    "def slow(name, *rest):\n"
    f"    if name == 'gymnasium': {PRESS}; print('went on')\n"
    "    return load(name, *rest)\n"
    "builtins.__import__ = slow; ",
    "a late import": "import builtins; load = builtins.__import__\n"
    "def slow(name, *rest):\n"
    f"    if name == 'numba': {PRESS}; print('went on')\n"
    "    return load(name, *rest)\n"
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
    done = run(COMMAND + MOMENTS[moment] + RUN, *arguments, where=tmp_path / "here", **cold)
    assert (done.returncode, told(done), done.stdout) == (130, ["bideuchre: interrupted"], "")
    assert list((tmp_path / "here").iterdir()) == []


def test_ctrl_c_as_the_program_ends_is_one_line(tmp_path):
    done = run(COMMAND + f"import atexit; atexit.register(lambda: {PRESS}); " + RUN, where=tmp_path)
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
    done = run(COMMAND + twice + RUN, *SELFPLAY, where=tmp_path)
    assert (done.returncode, told(done), done.stdout) == (130, ["bideuchre: interrupted"], "")
    lines = (tmp_path / "x.jsonl").read_bytes().splitlines(keepends=True)
    assert len(lines) > 50
    for line in (lines[0], lines[-1]):
        bideuchre_env.GameRecord.loads(line.decode())
    assert [path.name for path in tmp_path.iterdir()] == ["x.jsonl"]


def test_the_module_is_the_command_too(tmp_path):
    """`python -m bideuchre_env`, from the package's first import on."""
    (tmp_path / "gymnasium.py").write_text(f"import signal; {PRESS}; print('went on')")
    (tmp_path / "sitecustomize.py").write_text(START)  # the tests may run where Ctrl-C is ignored
    done = subprocess.run(
        [sys.executable, "-m", "bideuchre_env", "variants"],
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (130, "bideuchre: interrupted\n")


def test_a_script_raises_first_and_then_ends(tmp_path):
    """In its main function, which may have something to keep; a finalizer swallows no Ctrl-C."""
    script = tmp_path / "script.py"
    head = (
        START
        + "from pathlib import Path; import bideuchre_env as b; "
        + "sys.argv[0] = str(Path(b.__file__).resolve().parents[1] / 'experiments' / 'ladder.py')\n"
        "from bideuchre_env.runtime import quitting; quitting.take_ctrl_c()\n"
        "from bideuchre_env.cli import program\n"
    )
    bodies = {
        f"def main():\n    try: {PRESS}\n    except KeyboardInterrupt: print('kept')\n"
        "    return 130\n": ("kept\n", ""),
        f"def main(): {PRESS}\n": ("", "ladder.py: interrupted\n"),
        f"def main():\n    try: {PRESS}\n    finally: {PRESS}\n": ("", "ladder.py: interrupted\n"),
        "from numba.core.compiler_lock import global_compiler_lock as lock\n"
        "def main():\n    try:\n"
        f"        with lock: {PRESS}\n"
        "    except KeyboardInterrupt: print('went on')\n": ("", "ladder.py: interrupted\n"),
        f"class Press:\n    def __del__(self): {PRESS}\ndef main(): Press(); print('went on')\n": (
            "",
            "ladder.py: interrupted\n",
        ),
    }
    for body, (out, err) in bodies.items():
        script.write_text(head + body + "sys.exit(program.script(main))\n")
        done = run(script.read_text(), where=tmp_path)
        assert (done.returncode, done.stdout, done.stderr) == (130, out, err)


def test_other_programs_keep_their_ctrl_c(tmp_path):
    ask = START + "import bideuchre_env; print(signal.getsignal(signal.SIGINT).__name__)"
    assert run(ask, where=tmp_path).stdout == "default_int_handler\n"
    for name in ("bench.py", "README.md"):
        there = START + f"sys.argv[0] = {str(ROOT / 'experiments' / name)!r}; "
        assert run(there + ask, where=tmp_path).stdout == "default_int_handler\n"
    taken = "import signal, sys; sys.argv[0] = 'bideuchre'\nsignal.signal(signal.SIGINT, print)\n"
    ask = taken + "import bideuchre_env; print(signal.getsignal(signal.SIGINT) is print)"
    assert run(ask, where=tmp_path).stdout == "True\n"
    assert signal.getsignal(signal.SIGINT) is not None
