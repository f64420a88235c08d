"""Kernels give the same results with bounds checks, without compilation, on a future numba.

Progress of compilation, and calls that are refused.
"""

import logging
from types import SimpleNamespace

import pytest
from support.commands import TESTS, python
from support.exercise import PARTS, table_games
from support.kernels import BOUNDS_CHECKED

from bideuchre_env.runtime import compiling, intrinsics, jit
from bideuchre_env.runtime.compiling import Compiling
from bideuchre_env.runtime.jit import entry_kernel, kernel

SETTINGS = {"bounds checked": BOUNDS_CHECKED, "plain": {"NUMBA_DISABLE_JIT": "1"}}
long = pytest.mark.long


@pytest.mark.slow
@pytest.mark.parametrize(
    ("part", "setting"),
    [
        ("short", "plain"),
        pytest.param("short", "bounds checked", marks=long),
        *(pytest.param("long", setting, marks=long) for setting in SETTINGS),
        pytest.param("searchers", "plain", marks=long),
    ],
)
def test_results_are_the_same_under(setting, part):
    program = ("-W", "error", "-m", "support.exercise")
    done = python(*program, part, where=TESTS, numba=SETTINGS[setting])
    assert done.stdout.strip() == PARTS[part]()


OVERSTEP = """
import numpy as np
from bideuchre_env import club_v0
from bideuchre_env.runtime import jit
from bideuchre_env.core.one_row import mask_row
from bideuchre_env.core.state import new_states
from bideuchre_env.core.tables import compile_tables
print(jit.JIT, bool(jit.config.BOUNDSCHECK))
try:
    mask_row(new_states(0), compile_tables(club_v0.rules), np.zeros(9, np.int8))
except IndexError:
    print("caught")
"""


@pytest.mark.parametrize(
    ("setting", "state"),
    [("plain", "False False"), pytest.param("bounds checked", "True True", marks=long)],
)
def test_settings_check_bounds_or_disable_compilation(setting, state):
    done = python("-c", OVERSTEP, where=TESTS, numba=SETTINGS[setting])
    assert done.stdout == f"{state}\ncaught\n"


CORE = (
    *("core/test_properties.py", "core/test_observation.py", "records/test_record.py"),
    *("core/test_golden.py", "envs/test_pettingzoo.py", "envs/test_bad_input.py"),
    "core/test_against_reference.py",
)
LEARNING = ("learning/test_features.py", "learning/test_fitting.py", "learning/test_sampling.py")
PLAYERS = ("solver", "agents", "learning")
PLAYERS += ("evaluation/test_selfplay.py", "envs/test_solo_players.py")
DEALS = ("core/test_deals.py", "core/test_resample.py")  # a million deals need compilation


@long
@pytest.mark.parametrize(
    ("names", "setting"),
    [((*CORE, *DEALS, *PLAYERS), "bounds checked"), ((*CORE, *LEARNING), "plain")],
)
def test_whole_files_of_tests_pass_under(names, setting):
    """An out-of-bounds access is silent in compiled code, and an error here."""
    program = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "not long")
    done = python(*program, *names, where=TESTS, numba=SETTINGS[setting])
    assert "RuntimeWarning: overflow" not in done.stdout


def test_plain_twins_of_machine_instructions():
    for bits in (1, 2, 3, 5, 2**47, 2**47 - 1, 2**62 + 1):
        assert intrinsics._popcount(bits) == bits.bit_count()
        assert 1 << intrinsics._lowest_bit(bits) == bits & -bits


@pytest.mark.parametrize("part", [pytest.param(part, marks=long) for part in PARTS])
def test_results_are_the_same_on_a_future_numba(part):
    """Kernels compile with numba's documented interface only."""
    done = python("-m", "support.future_numba", "support.exercise", part, where=TESTS, numba={})
    assert done.stdout.strip() == PARTS[part]()


@pytest.mark.slow
def test_threads_step_tables_on_a_future_numba(capsys):
    program = ("support.future_numba", "support.exercise", "tables")
    done = python("-m", *program, where=TESTS, numba={"NUMBA_OPT": "1"})
    table_games()
    assert done.stdout == capsys.readouterr().out


@pytest.mark.skipif(not jit.private, reason="only with a tested version of numba")
def test_a_kernel_that_only_kernels_call_refuses_python():
    @kernel
    def one():
        return 1

    @entry_kernel
    def two():
        return one() + 1

    assert two() == 2
    with pytest.raises(TypeError, match="one is called by kernels alone: make it an entry_kernel"):
        one()


@pytest.mark.skipif(not jit.private, reason="only with a tested version of numba")
def test_mutually_recursive_kernels_are_an_error():
    @kernel
    def even(n):
        return n == 0 or odd(n - 1)

    @kernel
    def odd(n):
        return n != 0 and even(n - 1)

    @entry_kernel
    def entry(n):
        return even(n)

    with pytest.raises(TypeError, match="expected kernels without mutual recursion"):
        entry(4)


OWN, OTHER, FOREIGN = (SimpleNamespace(name=name) for name in ("own", "other", "foreign"))


def test_progress_counts_own_kernels_until_the_outermost_is_compiled():
    progress, texts = Compiling([OWN, OTHER], lambda: True), []
    progress.show = lambda text: None
    with progress.shown_by(texts.append):
        progress.begin(OWN)
        progress.begin(FOREIGN)
        progress.begin(OTHER)
        progress.end(OTHER)
        progress.end(FOREIGN)
        progress.end(OWN)
    progress.begin(OWN)
    progress.end(OWN)
    zero, one = (f"compiling kernels, {done} done" for done in (0, 1))
    assert texts == [zero, zero, one, ""]
    assert progress.count == 3


def test_one_warning_is_logged_in_a_process(caplog, monkeypatch):
    for saved in (True, False):
        monkeypatch.setattr(compiling, "_logged", set())
        progress = Compiling([OWN], lambda saved=saved: saved)
        for _ in range(2):
            progress.begin(OWN)
            progress.end(OWN)
    assert [record.levelno for record in caplog.records] == [logging.WARNING] * 2
    first, second = (record.message for record in caplog.records)
    assert "compiling kernels" in first
    assert "saved for the next run" in first
    assert "saved" not in second
