"""Ctrl-C while a line is waited for."""

import _thread
import os
import pty
import signal
import sys
import threading

import pytest

from bideuchre_env.runtime.interrupts import typed_line


@pytest.fixture
def terminal(monkeypatch):
    """The other end of a terminal that is the standard input."""
    main, other = pty.openpty()
    with open(other, encoding="utf-8") as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        monkeypatch.delitem(sys.modules, "readline", raising=False)  # pytest loads it
        yield main
    os.close(main)


def test_a_line_is_read_as_it_is_typed(terminal):
    os.write(terminal, b"bid 4\npass\n")
    assert [typed_line(), typed_line()] == ["bid 4", "pass"]
    os.write(terminal, b"\x04")
    with pytest.raises(EOFError):
        typed_line()


def test_ctrl_c_that_interrupts_no_call_ends_the_wait(terminal):
    """As one that comes after Python has looked for signals and before it waits."""
    hasty = threading.Timer(0.3, _thread.interrupt_main)
    missed = []
    late = threading.Timer(20.0, lambda: missed.append(os.write(terminal, b"too late\n")))
    hasty.start()
    late.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            typed_line()
    finally:
        late.cancel()
    assert not missed
    assert signal.set_wakeup_fd(-1) == -1  # as it was before


def test_other_signals_do_not_end_it(terminal):
    """A handler runs, and the line is read when it is there."""
    heard = []
    before = signal.signal(signal.SIGUSR1, lambda *_: heard.append(1))
    try:
        threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGUSR1)).start()
        threading.Timer(0.5, os.write, (terminal, b"h\n")).start()
        assert typed_line() == "h"
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert heard == [1]
