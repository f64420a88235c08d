"""Ctrl-C while a line is read from a terminal."""

import _thread
import os
import signal
import threading
from contextlib import contextmanager
from unittest import mock

import pytest
from support.own_process import in_own_process

from bideuchre_env.runtime.interrupts import typed_line

pty = pytest.importorskip("pty")


@contextmanager
def terminal():
    """The other end of a terminal that is the standard input."""
    main, other = pty.openpty()
    with open(other, encoding="utf-8") as stdin, mock.patch("sys.stdin", stdin):
        yield main
    os.close(main)


@in_own_process
def test_lines_are_read_until_end_of_file():
    with terminal() as main:
        os.write(main, b"bid 4\npass\n")
        assert [typed_line(), typed_line()] == ["bid 4", "pass"]
        os.write(main, b"\x04")
        with pytest.raises(EOFError):
            typed_line()


@in_own_process
def test_ctrl_c_ends_the_wait_for_a_line():
    """The signal interrupts no system call, like one between a check for signals and the wait."""
    with terminal() as main:
        missed = []
        late = threading.Timer(20.0, lambda: missed.append(os.write(main, b"too late\n")))
        threading.Timer(0.3, _thread.interrupt_main).start()
        late.start()
        with pytest.raises(KeyboardInterrupt):
            typed_line()
        late.cancel()
        assert not missed
        assert signal.set_wakeup_fd(-1) == -1  # as it was before
