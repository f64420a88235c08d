"""The kernels give the same with bounds checks on and without compilation; the cache sees edits.

The checksums of `support/exercise.py` are compared between settings, each in a process of its own.
"""

import ast
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support.exercise import PARTS, exercise, exercise_players, exercise_searchers
from support.fuzzing import BOUNDS_CHECKED

import bideuchre_env
from bideuchre_env.runtime import cache, intrinsics

TESTS = Path(__file__).parents[1]
PACKAGE = Path(bideuchre_env.__file__).parent
SETTINGS = {"bounds checked": BOUNDS_CHECKED, "plain": {"NUMBA_DISABLE_JIT": "1"}}


def python(*args, where=TESTS, **environment):
    """Run Python in a process of its own; its output, with any warning an error."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("NUMBA_")}
    done = subprocess.run(
        [sys.executable, "-W", "error", *map(str, args)],
        cwd=where,
        env=kept | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


@pytest.mark.parametrize("setting", SETTINGS)
def test_the_core_is_the_same_under(setting):
    """One game of everything: the same checksum, no bound overstepped, no warning."""
    told = python("-m", "support.exercise", 1, **SETTINGS[setting])
    assert told.strip() == exercise(1)


@pytest.mark.slow
@pytest.mark.parametrize("setting", SETTINGS)
def test_the_core_is_the_same_for_long_under(setting):
    """Fifteen games of everything."""
    told = python("-m", "support.exercise", 15, **SETTINGS[setting])
    assert told.strip() == exercise(15)


@pytest.mark.slow
def test_the_solver_and_the_agents_are_the_same_bounds_checked():
    """Some endings and hands; the players that search, and all the tests, are the slow run's."""
    told = python("-m", "support.exercise", "players", **SETTINGS["bounds checked"])
    assert told.strip() == exercise_players()


def test_agents_decide_the_same_in_plain_python():
    """Those that search, too, whose rows hold rows; at a score below 0."""
    told = python("-m", "support.exercise", "searchers", **SETTINGS["plain"])
    assert told.strip() == exercise_searchers()


def test_the_settings_do_what_they_are_for():
    """Bounds are checked and compilation is off, or the tests above would compare nothing."""
    overstep = """
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
    assert python("-c", overstep, **SETTINGS["bounds checked"]) == "True True\ncaught\n"
    assert python("-c", overstep, **SETTINGS["plain"]) == "False False\ncaught\n"


CORE = (
    *("core/test_properties.py", "core/test_observation.py", "records/test_record.py"),
    *("core/test_golden.py", "envs/test_pettingzoo.py", "envs/test_bad_input.py"),
    "core/test_against_reference.py",
)
LEARNING = ("learning/test_features.py", "learning/test_fitting.py", "learning/test_sampling.py")
PLAYERS = (
    "solver",
    "agents",
    "evaluation/test_rollout.py",
    "learning",
    "envs/test_solo_players.py",
)


def passes(names, setting):
    """Run whole files of tests in a process of its own; the slow tests in them are left out."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("NUMBA_")}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *names],
        cwd=TESTS,
        env=kept | SETTINGS[setting],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-5000:]
    assert "RuntimeWarning: overflow" not in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("setting", SETTINGS)
def test_the_core_tests_pass_under(setting):
    """The files that test the core, run whole; sampling a million deals needs compilation."""
    sampling = (
        ("core/test_deals.py", "core/test_resample.py") if setting == "bounds checked" else ()
    )
    passes((*CORE, *sampling), setting)


@pytest.mark.slow
def test_the_tests_of_the_solver_and_the_agents_pass_bounds_checked():
    """An access out of bounds, silent when compiled, is an error; plain Python would take days."""
    passes(PLAYERS, "bounds checked")


@pytest.mark.slow
def test_the_tests_of_learning_pass_uncompiled():
    """Features, networks, fits and draws, as plain Python."""
    passes(LEARNING, "plain")


def imported(path):
    """The files of the package that a file imports at its top level."""
    found = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("bideuchre_env"):
            inner = node.module.split(".")[1:]
            for names in ([*inner, alias.name] for alias in node.names):
                found.add(PACKAGE.joinpath(*names).with_suffix(".py"))
            found.add(PACKAGE.joinpath(*inner).with_suffix(".py"))
    return {file.resolve() for file in found if file.exists()}


def test_the_cache_knows_every_file_that_kernels_depend_on():
    """Every module with a kernel, and all that those import from the package, and so on."""
    known = {file.resolve() for file in cache.kernel_sources().values()}
    modules = [*PACKAGE.rglob("*.py"), *(PACKAGE / "agents").rglob("*.py")]
    with_kernels = {
        path.resolve()
        for path in modules
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef)
        and any(
            isinstance(d, ast.Name) and d.id in ("kernel", "inline_kernel", "entry_kernel")
            for d in node.decorator_list
        )
    }
    assert len(with_kernels) > 10
    assert with_kernels <= known
    for file in known:
        assert imported(file) <= known, file.name
    assert (PACKAGE / "rules" / "cards.py").resolve() in known
    assert (PACKAGE / "core" / "phases" / "play.py").resolve() in known
    assert (PACKAGE / "runtime" / "numba_private.py").resolve() in known
    assert (PACKAGE / "cli" / "main.py").resolve() not in known


ASK = """
import bideuchre_env, sys
import numpy as np
from bideuchre_env.runtime import jit
from bideuchre_env.core.one_row import mask_row
from bideuchre_env.core.state import new_states
from bideuchre_env.core.tables import compile_tables
rows = new_states(1)
mask = np.zeros(len(bideuchre_env.cincinnati_v0.raw_env().action_names), np.int8)
rows["phase"] = 1
mask_row(rows, compile_tables(bideuchre_env.cincinnati_v0.rules), mask)
print(mask.sum(), sum(mask_row.stats.cache_hits.values()), jit.CACHE_FOLDER, sep="|")
assert bideuchre_env.__file__.startswith(sys.argv[1])
"""


@pytest.fixture
def installed(tmp_path):
    """A copy of the package in a folder of its own."""
    shutil.copytree(
        PACKAGE, tmp_path / "bideuchre_env", ignore=shutil.ignore_patterns("__pycache__")
    )
    return tmp_path


def ask(folder, **environment):
    """The number of strains to name, in a fresh process, cache hits so far, the cache folder."""
    own = {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1", "NUMBA_OPT": "1"}
    environment = own | environment  # it compiles often, and runs once
    strains, hits, cache = python("-c", ASK, folder, where=folder, **environment).strip().split("|")
    return int(strains), int(hits), Path(cache)


def test_the_cache_sees_an_edit_in_another_file(installed):
    """`mask_row` is called; `legal_strain`, deep in the tree and calls, is changed and back."""
    inner = installed / "bideuchre_env" / "core" / "phases" / "auction.py"
    text = inner.read_text()
    strains, hits, cache = ask(installed)
    assert (strains, hits) == (5, 0)
    assert cache.parent == installed / "bideuchre_env" / "__pycache__"
    assert ask(installed) == (5, 1, cache)
    edited = text.replace("STRAIN_BITS = (1 << N_STRAINS) - 1", "STRAIN_BITS = 15")
    assert edited != text
    inner.write_text(edited)
    strains, hits, other = ask(installed)
    assert (strains, hits) == (4, 0)
    assert other != cache
    inner.write_text(text)
    assert ask(installed) == (5, 1, cache)


def test_an_install_that_cannot_be_written_caches_elsewhere(installed):
    """First the user's cache folder; without a home the temporary one; without that, none."""
    (installed / "bideuchre_env" / "__pycache__").write_text("a file where the folder would be")
    user, temporary = installed / "user", installed / "temporary"
    temporary.mkdir()
    places = {"XDG_CACHE_HOME": str(user), "TMPDIR": str(temporary)}
    strains, _, cache = ask(installed, **places)
    assert (strains, cache.parent) == (5, user / "bideuchre_env")
    shutil.rmtree(user)
    user.write_text("another")
    strains, _, cache = ask(installed, **places)
    own = temporary / f"bideuchre_env-{os.getuid()}"
    assert (strains, cache.parent) == (5, own)
    own.chmod(0o777)  # others could have put code there
    assert ask(installed, **places) == (5, 0, Path())
    own.rename(temporary / "moved")
    own.write_text("another")
    assert ask(installed, **places) == (5, 0, Path())


def test_a_chosen_cache_folder_is_used(installed):
    """numba's own setting comes first; the folder inside still carries the hash.

    Files in it that are damaged are compiled anew.
    """
    chosen = installed / "chosen"
    strains, _, cache = ask(installed, NUMBA_CACHE_DIR=str(chosen))
    assert (strains, cache.parent) == (5, chosen)
    assert any(cache.rglob("*.nbc"))
    for file in cache.rglob("*.nb?"):
        file.write_bytes(b"")  # as a machine leaves it that goes off
    assert ask(installed, NUMBA_CACHE_DIR=str(chosen)) == (5, 0, cache)
    assert ask(installed, NUMBA_CACHE_DIR=str(chosen)) == (5, 1, cache)


def test_a_user_without_a_home_can_import(installed):
    """As in a container that runs under a number: the user's cache folder cannot be told."""
    (installed / "bideuchre_env" / "__pycache__").write_text("a file where the folder would be")
    lines = (
        "import os, pwd",
        "os.environ.pop('HOME', None); os.environ.pop('XDG_CACHE_HOME', None)",
        "def nobody(uid): raise KeyError(uid)",
        "pwd.getpwuid = nobody",
        "from bideuchre_env.runtime import jit",
        "print(jit.CACHE_FOLDER)",
    )
    folder = python("-c", "\n".join(lines), where=installed, PYTHONPATH=str(installed))
    assert f"bideuchre_env-{os.getuid()}/kernels-" in folder


def test_the_plain_twins_of_instructions():
    """Without JIT the two machine instructions are Python; both ways they say the same."""
    for bits in (1, 2, 3, 5, 2**47, 2**47 - 1, 2**62 + 1):
        assert intrinsics._popcount(bits) == bits.bit_count()
        assert intrinsics._lowest_bit(bits) == next(i for i in range(63) if bits >> i & 1)
        assert 1 << intrinsics._lowest_bit(bits) == bits & -bits


def test_compiling_is_announced_once(tmp_path):
    """With an empty cache one line on stderr says so; with a warm one none does."""
    code = "import bideuchre_env as b; e = b.cincinnati_v0.raw_env(); e.reset(seed=1); e.step(0)"
    kept = {k: v for k, v in os.environ.items() if not k.startswith("NUMBA_")}
    first, second = (
        subprocess.run(
            [sys.executable, "-c", code],
            env=kept | {"NUMBA_CACHE_DIR": str(tmp_path), "NUMBA_OPT": "1"},
            capture_output=True,
            text=True,
            check=True,
        ).stderr
        for _ in range(2)
    )
    assert re.fullmatch("bideuchre_env: compiling kernels, .*; saved for the next run\n", first)
    assert second == ""


@pytest.mark.parametrize(
    "part",
    ["1", *(pytest.param(part, marks=pytest.mark.slow) for part in ("players", "searchers"))],
)
def test_games_are_the_same_on_a_future_numba(part):
    """An untested version without any private name: kernels compile by the documented interface."""
    told = python("-W", "default", "-m", "support.future_numba", "support.exercise", part)
    assert told.strip() == PARTS.get(part, lambda: exercise(1))()


def test_threads_share_tables_on_a_future_numba():
    """Actions are drawn, and rows stepped by two threads, as on a tested version."""
    ask = "support.future_numba", "support.seeded_games", "tables"
    assert python("-W", "default", "-m", *ask) == python("-m", *ask[1:])
