"""Ctrl-C ends a command with one line, code 130 and no incomplete file, and ends a prompt."""

import os
import signal
import subprocess
import sys

import pytest
from support.commands import python

import bideuchre_env
from bideuchre_env.cli import program

pytestmark = pytest.mark.skipif(os.name == "nt", reason="POSIX signals")

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
    "from bideuchre_env import selfplay; play = selfplay.play\n"
    "def press(*pair, progress, **options):\n"
    "    def twice(done, *rest):\n"
    f"        if done > 50: {PRESS}; {PRESS}\n"
    "    return play(*pair, progress=twice, **options)\n"
    "selfplay.play = press; "
)


def run(code, *arguments, where, status=130, **environment):
    """Run a program text; return its output, and its error lines except those on compilation."""
    done = python("-c", code, *arguments, where=where, status=status, **environment)
    errors = [line for line in done.stderr.splitlines() if "compil" not in line]
    return done.stdout, errors


@pytest.mark.parametrize("moment", MOMENTS)
def test_ctrl_c_prints_one_line_and_leaves_no_file_during(moment, tmp_path):
    cold = {"NUMBA_CACHE_DIR": str(tmp_path / "kernels")} if moment == "compiling" else {}
    (tmp_path / "here").mkdir()
    done = run(START + MOMENTS[moment] + RUN, *SELFPLAY, where=tmp_path / "here", **cold)
    assert done == ("", ["bideuchre: interrupted"])
    assert list((tmp_path / "here").iterdir()) == []


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
        "    return 130\n",
        ("saved\n", []),
    ),
    "is not caught": (f"def main(): {PRESS}\n", ("", ["ladder.py: interrupted"])),
}


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_script_ends_with_code_130_whether_ctrl_c_is_caught_or_not(script, tmp_path):
    body, printed = SCRIPTS[script]
    head = START + "sys.argv[0] = 'experiments/ladder.py'; from bideuchre_env.cli import program\n"
    assert run(head + body + "sys.exit(program.script(main))\n", where=tmp_path) == printed


def test_a_script_restores_the_handler_of_ctrl_c():
    before = signal.getsignal(signal.SIGINT)
    assert program.script(lambda: 0) == 0
    assert signal.getsignal(signal.SIGINT) is before


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
