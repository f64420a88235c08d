"""Progress of compilation."""

import logging
from types import SimpleNamespace

from bideuchre_env.runtime.compiling import Compiling

OWN, OTHER, FOREIGN = (SimpleNamespace(name=name) for name in ("own", "other", "foreign"))


def test_progress_counts_own_kernels_until_the_outermost_is_compiled():
    compiling, texts = Compiling([OWN, OTHER], saved=True), []
    compiling.show = lambda text: None
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


def test_one_warning_is_logged_in_a_process(caplog):
    for saved in (True, False):
        compiling = Compiling([OWN], saved)
        for _ in range(2):
            compiling.begin(OWN)
            compiling.end(OWN)
    assert [record.levelno for record in caplog.records] == [logging.WARNING] * 2
    first, second = (record.message for record in caplog.records)
    assert "compiling kernels" in first
    assert "saved for the next run" in first
    assert "not saved" in second
