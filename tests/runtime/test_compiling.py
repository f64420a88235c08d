"""Compilation is shown while it lasts, and only that of the package's own kernels."""

import logging
from types import SimpleNamespace

import pytest

from bideuchre_env.runtime.compiling import Compiling

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


def test_one_line_is_logged(caplog):
    for saved in (True, False):
        compiling = Compiling([OWN], saved)
        for _ in range(2):
            compiling.begin(OWN)
            compiling.end(OWN)
    assert [record.levelno for record in caplog.records] == [logging.WARNING] * 2
    first, second = (record.message for record in caplog.records)
    assert first.startswith("bideuchre_env: compiling kernels")
    assert "saved for the next run" in first
    assert "not saved" in second
