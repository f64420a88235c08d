"""Compilation is shown while it lasts, and only that of the package's own kernels."""

import io
import logging
import sys
from types import SimpleNamespace

import pytest

from bideuchre_env.runtime.compiling import Compiling, _Status


class Terminal(io.StringIO):
    """A stream that is a terminal."""

    def isatty(self):
        return True


OWN, OTHER, FOREIGN = (SimpleNamespace(name=name) for name in ("own", "other", "foreign"))


@pytest.fixture
def compiling():
    """The counter of two kernels, which shows nothing."""
    compiling = Compiling([OWN, OTHER], saved=True)
    compiling.show = lambda text: None
    return compiling


def test_own_kernels_are_counted_and_shown_until_the_outermost_is_done(compiling):
    texts = []
    with compiling.shown_by(texts.append):
        compiling.begin(OWN)
        compiling.begin(FOREIGN)
        compiling.begin(OTHER)
        compiling.end(OTHER)
        compiling.end(FOREIGN)
        compiling.end(OWN)
    compiling.begin(OWN)
    compiling.end(OWN)
    zero, one = (f"compiling kernels, {done} done" for done in (0, 1))
    assert texts == [zero, zero, one, ""]
    assert compiling.count == 3


def test_without_a_terminal_one_line_is_logged(caplog, monkeypatch):
    monkeypatch.setattr("sys.stderr", io.StringIO())
    status = _Status(saved=True)
    for text in ("compiling kernels, 0 done", "", "compiling kernels, 1 done", ""):
        status(text)
    _Status(saved=False)("compiling kernels, 0 done")
    assert [record.levelno for record in caplog.records] == [logging.WARNING] * 2
    first, second = (record.message for record in caplog.records)
    assert first.startswith("bideuchre_env: compiling kernels")
    assert "saved for the next run" in first
    assert "not saved" in second


def test_on_a_terminal_a_line_is_drawn_and_removed(caplog, monkeypatch):
    monkeypatch.setattr("sys.stderr", Terminal())
    monkeypatch.setenv("TERM", "xterm")
    status = _Status(saved=True)
    status("compiling kernels, 0 done")
    status("compiling kernels, 1 done")
    status("")
    drawn = sys.stderr.getvalue()
    assert "compiling kernels, 1 done" in drawn
    assert drawn.endswith("\x1b[2K")
    assert caplog.text == ""


@pytest.mark.parametrize("stream", [None, object(), io.StringIO()])
def test_a_missing_or_closed_stderr_is_no_error(stream, monkeypatch):
    if isinstance(stream, io.StringIO):
        stream.close()
    monkeypatch.setattr("sys.stderr", stream)
    _Status(saved=True)("compiling kernels, 0 done")
