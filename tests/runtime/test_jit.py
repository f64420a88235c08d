"""Kernels give the same results with bounds checks, without compilation, on a future numba."""

import ast
import os
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from numba.core.errors import TypingError
from support.commands import TESTS, python
from support.exercise import PARTS, table_games
from support.kernels import BOUNDS_CHECKED

import bideuchre_env
from bideuchre_env.runtime import cache, intrinsics
from bideuchre_env.runtime.jit import JIT, config, entry_kernel, new_rows
from bideuchre_env.runtime.vectors import _plain_add_rows, add_rows

PACKAGE = Path(bideuchre_env.__file__).parent
SETTINGS = {"bounds checked": BOUNDS_CHECKED, "plain": {"NUMBA_DISABLE_JIT": "1"}}
slow = pytest.mark.slow


@pytest.mark.parametrize(
    ("part", "setting"),
    [
        ("short", "plain"),
        pytest.param("short", "bounds checked", marks=slow),
        *(pytest.param("long", setting, marks=slow) for setting in SETTINGS),
        pytest.param("searchers", "plain", marks=slow),
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
    [("plain", "False False"), pytest.param("bounds checked", "True True", marks=slow)],
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


@slow
@pytest.mark.parametrize(
    ("names", "setting"),
    [((*CORE, *DEALS, *PLAYERS), "bounds checked"), ((*CORE, *LEARNING), "plain")],
)
def test_whole_files_of_tests_pass_under(names, setting):
    """An out-of-bounds access is silent in compiled code, and an error here."""
    program = ("-m", "pytest", "-q", "-p", "no:cacheprovider")
    done = python(*program, *names, where=TESTS, numba=SETTINGS[setting])
    assert "RuntimeWarning: overflow" not in done.stdout


def imported(path):
    """The set of files of the package that a file imports at its top level by `from`."""
    files = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("bideuchre_env"):
            inner = node.module.split(".")[1:]
            for names in ([*inner, alias.name] for alias in node.names):
                files.add(PACKAGE.joinpath(*names).with_suffix(".py"))
            files.add(PACKAGE.joinpath(*inner).with_suffix(".py"))
    return {file.resolve() for file in files if file.exists()}


def test_the_cache_hashes_every_file_that_kernels_import():
    hashed = {file.resolve() for file in cache.kernel_sources().values()}
    modules = [*PACKAGE.rglob("*.py"), *(PACKAGE / "agents").rglob("*.py")]
    decorated = re.compile(r"^ *@(inline_|entry_)?kernel$", re.M)
    texts = {path.resolve(): path.read_text(encoding="utf-8") for path in modules}
    with_kernels = {path for path, text in texts.items() if decorated.search(text)}
    assert len(with_kernels) > 10
    assert with_kernels <= hashed
    for file in hashed:
        assert imported(file) <= hashed, file.name
    assert (PACKAGE / "rules" / "cards.py").resolve() in hashed
    assert (PACKAGE / "runtime" / "numba_private.py").resolve() in hashed
    assert (PACKAGE / "cli" / "main.py").resolve() not in hashed


ASK = """
import sys
import bideuchre_env
import numpy as np
from bideuchre_env.runtime import jit
from bideuchre_env.core.one_row import mask_row
from bideuchre_env.core.state import new_states
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.rules import actions
rows, rules = new_states(1), bideuchre_env.cincinnati_v0.rules
mask = np.zeros(len(actions.of(rules).names), np.int8)
rows["phase"] = 1
mask_row(rows, compile_tables(rules), mask)
print(mask.sum(), sum(mask_row.stats.cache_hits.values()), jit.CACHE_FOLDER, sep="|")
assert bideuchre_env.__file__.startswith(sys.argv[1])
"""
FOLDER = "from bideuchre_env.runtime import jit; print(jit.CACHE_FOLDER)"
NO_HOME = """
import os, pwd
os.environ.pop("HOME", None)
os.environ.pop("XDG_CACHE_HOME", None)
def unknown(uid): raise KeyError(uid)
pwd.getpwuid = unknown
"""


@pytest.fixture
def installed(tmp_path):
    ignore = shutil.ignore_patterns("__pycache__")
    shutil.copytree(PACKAGE, tmp_path / "bideuchre_env", ignore=ignore)
    return tmp_path


def run_copy(folder, code, **environment):
    own = {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"} | environment
    done = python("-c", code, folder, where=folder, numba={"NUMBA_OPT": "1"}, **own)
    return done.stdout.strip()


def ask(folder, **environment):
    """Run ASK with the copy in `folder`; return legal strains, cache hits and the cache folder."""
    strains, hits, cache = run_copy(folder, ASK, **environment).split("|")
    return int(strains), int(hits), Path(cache)


def test_an_edit_of_an_imported_file_is_compiled(installed):
    """The test edits a constant of a file that `mask_row` uses through other files."""
    inner = installed / "bideuchre_env" / "core" / "phases" / "auction.py"
    strains, hits, cache = ask(installed)
    assert (strains, hits) == (5, 0)
    assert cache.parent == installed / "bideuchre_env" / "__pycache__"
    text = inner.read_text()
    edited = text.replace("STRAIN_BITS = (1 << N_STRAINS) - 1", "STRAIN_BITS = 15")
    assert edited != text
    inner.write_text(edited)
    strains, hits, other = ask(installed)
    assert (strains, hits) == (4, 0)
    assert other != cache


def test_kernels_are_cached_beside_the_package_or_in_the_first_usable_folder(installed):
    user, temporary, chosen = (installed / name for name in ("user", "temporary", "chosen"))
    temporary.mkdir()
    places = {"XDG_CACHE_HOME": str(user), "TMPDIR": str(temporary)}

    def parent(code=FOLDER, **more):
        return Path(run_copy(installed, code, **places, **more)).parent

    assert parent(NUMBA_CACHE_DIR=str(chosen)) == chosen
    assert parent() == installed / "bideuchre_env" / "__pycache__"
    shutil.rmtree(installed / "bideuchre_env" / "__pycache__", ignore_errors=True)
    (installed / "bideuchre_env" / "__pycache__").write_text("a file where the folder would be")
    assert parent() == user / "bideuchre_env"
    own = temporary / f"bideuchre_env-{os.getuid() if os.name == 'posix' else 0}"
    assert parent(NO_HOME + FOLDER) == own
    shutil.rmtree(user, ignore_errors=True)
    user.write_text("another")
    assert parent() == own
    if os.name == "posix":
        own.chmod(0o777)  # others could have put code there
        assert run_copy(installed, FOLDER, **places) == ""


def test_plain_twins_of_machine_instructions():
    for bits in (1, 2, 3, 5, 2**47, 2**47 - 1, 2**62 + 1):
        assert intrinsics._popcount(bits) == bits.bit_count()
        assert 1 << intrinsics._lowest_bit(bits) == bits & -bits


@pytest.mark.parametrize("part", [pytest.param(part, marks=slow) for part in PARTS])
def test_results_are_the_same_on_a_future_numba(part):
    """Kernels compile with numba's documented interface only."""
    done = python("-m", "support.future_numba", "support.exercise", part, where=TESTS, numba={})
    assert done.stdout.strip() == PARTS[part]()


def test_threads_step_tables_on_a_future_numba(capsys):
    program = ("support.future_numba", "support.exercise", "tables")
    done = python("-m", *program, where=TESTS, numba={"NUMBA_OPT": "1"})
    table_games()
    assert done.stdout == capsys.readouterr().out


FIELDS = [("inputs", (21,)), ("weights", (21, 24)), ("sums", (24,))]
LAYER = np.dtype([(name, np.float32, shape) for name, shape in FIELDS], align=True)


@entry_kernel
def add(layers, first, last):
    layer = layers[0]
    add_rows(layer.inputs, first, last, layer.weights, layer.sums)


@pytest.mark.parametrize(("first", "last"), [(0, 21), (0, 4), (5, 5), (3, 20), (20, 21)])
@pytest.mark.parametrize("share", [1.0, 0.3])
def test_sums_have_the_same_bits_as_in_plain_python(first, last, share):
    rng = np.random.default_rng(first + 100 * last)
    layers = new_rows(LAYER, 1)
    layers["inputs"] = rng.normal(0, 10, 21) * (rng.random(21) < share)
    layers["weights"] = rng.normal(0, 1, (21, 24)) * 10.0 ** rng.integers(-6, 6, (21, 24))
    layers["sums"] = rng.normal(0, 1, 24)
    sums = layers["sums"][0].copy()
    _plain_add_rows(layers["inputs"][0], first, last, layers["weights"][0], sums)
    add(layers, first, last)
    assert np.array_equal(layers["sums"][0].view(np.int32), sums.view(np.int32))


@pytest.mark.skipif(not JIT or config.BOUNDSCHECK, reason="the plain one takes any array")
def test_fields_of_other_types_are_refused_at_compilation():
    other = np.dtype([("inputs", np.float32, (3,)), ("weights", np.float64, (3, 2))])

    @entry_kernel
    def wrong(layers, others):
        add_rows(layers[0].inputs, 0, 3, others[0].weights, layers[0].sums)

    with pytest.raises(TypingError, match="add_rows"):
        wrong(new_rows(LAYER, 1), new_rows(other, 1))
