"""Reading a line from a terminal, with Ctrl-C."""

import os
import subprocess
import sys

import pytest

pty = pytest.importorskip("pty")

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
    main, other = pty.openpty()
    os.write(main, b"bid 4\npass\n")
    options = {"stdin": other, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", PROGRAM], **options) as process:
        assert process.stdout.readline() == "['bid 4', 'pass']\n"
        assert process.stdout.readline() == "interrupted, wakeup descriptor -1\n"
        os.write(main, b"\x04")
        assert process.stdout.readline() == "end of file\n"
    os.close(main)
    os.close(other)
