"""The kernels give the same with bounds checks on and without compilation; the cache sees edits.

`python tests/test_jit.py 3` plays three games of everything and prints a checksum of all there is
to see, `python tests/test_jit.py players` one of what the solver says and the agents do; the tests
compare it between settings, each in a process of its own.
"""

import ast
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path
from zlib import crc32

import numpy as np
import pytest
import solver_positions
from test_agents import play_on, start

from bideuchre_env import GameRecord, _cache, _jit, agents, make, solver

TESTS = Path(__file__).parent
PACKAGE = Path(_jit.__file__).parent
SETTINGS = {"bounds checked": {"NUMBA_BOUNDSCHECK": "1"}, "plain": {"NUMBA_DISABLE_JIT": "1"}}
EXERCISED = (
    ("cincinnati_v0", {}),
    ("simplified_v0", {"dealer_may_equal": "lone"}),
    ("club_v0", {"partnered": None, "lone": [{"name": "call-3", "value": 9, "exchange": 3}]}),
    ("barrie_v0", {"opening_lead": "eldest", "all_pass": "eldest_forced"}),
    ("six_card_v0", {"win_rule": "any", "both_over": "highest", "target": 3}),
    ("double_deck_v0", {}),
)


def exercise(games):
    """A checksum of some games of every kind: rows, masks, views, redeals, records, pictures."""
    seen = hashlib.sha256()
    for name, options in EXERCISED:
        for game in range(games):
            env = make(name, **({"max_hands": 4} | options)).raw_env(render_mode="ansi")
            env.reset(seed=2**70 * game + 5)
            ply = 0
            while not any(env.terminations.values()) and not any(env.truncations.values()):
                legal = np.flatnonzero(env.infos[env.agent_selection]["action_mask"])
                look(env, seen)
                if ply % 9 == 0:
                    for seat in range(4):
                        look(env.resample_hidden(seat, np.random.default_rng(ply)), seen)
                env.step(int(legal[crc32(f"{game} {ply}".encode()) % len(legal)]))
                ply += 1
            line = env.record.dumps()
            assert GameRecord.loads(line).dumps() == line
            seen.update(line.encode())
            seen.update(env.render().encode())
    return seen.hexdigest()


def look(env, seen):
    """Add everything there is to see of a position to the checksum."""
    for field in env._states.dtype.names:
        seen.update(env._states[field].tobytes())
    for agent in env.possible_agents:
        for part in env.observe(agent).values():
            seen.update(part.tobytes())
    seen.update(env.state().tobytes())


def exercise_players():
    """A checksum of the worth of some endings of every deck, and of hands of the quick agents."""
    seen = hashlib.sha256()
    endings = solver_positions.random_endings(60, seed=3)
    for rules in solver_positions.RULES.values():
        rows = solver_positions.Ending.rows([e for e in endings if e.rules == rules])
        seen.update(np.array(solver.solve_batch(rows, rules, threads=1)).tobytes())
    for name in ("cincinnati_v0", "barrie_v0"):
        rules = make(name).rules
        sides = [agents.make(agent, rules) for agent in ("rule", "expert")]
        play_on(rules, start(rules, 8), sides, watch=lambda *parts: seen.update(parts[2].tobytes()))
    return seen.hexdigest()


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
    told = python(TESTS / "test_jit.py", 1, **SETTINGS[setting])
    assert told.strip() == exercise(1)


@pytest.mark.slow
@pytest.mark.parametrize("setting", SETTINGS)
def test_the_core_is_the_same_for_long_under(setting):
    """Fifteen games of everything."""
    told = python(TESTS / "test_jit.py", 15, **SETTINGS[setting])
    assert told.strip() == exercise(15)


def test_the_solver_and_the_agents_are_the_same_bounds_checked():
    """Some endings and hands; the players that search, and all the tests, are the slow run's."""
    told = python(TESTS / "test_jit.py", "players", **SETTINGS["bounds checked"])
    assert told.strip() == exercise_players()


def test_the_settings_do_what_they_are_for():
    """Bounds are checked and compilation is off, or the tests above would compare nothing."""
    overstep = """
import numpy as np
from bideuchre_env import _jit, club_v0
from bideuchre_env.one_row import mask_row
from bideuchre_env.state import new_states
from bideuchre_env.tables import compile_tables
print(_jit.JIT, bool(_jit.config.BOUNDSCHECK))
try:
    mask_row(new_states(0), compile_tables(club_v0.rules), np.zeros(9, np.int8))
except IndexError:
    print("caught")
"""
    assert python("-c", overstep, **SETTINGS["bounds checked"]) == "True True\ncaught\n"
    assert python("-c", overstep, **SETTINGS["plain"]) == "False False\ncaught\n"


CORE = ("test_properties", "test_observation", "test_record", "test_golden", "test_pettingzoo")
CORE += ("test_bad_input", "test_lockstep")


PLAYERS = ("test_solver", "test_solver_faces", "test_solver_deals", "test_agents", "test_worlds")
PLAYERS += ("test_likelihood", "test_expert", "test_search_agents", "test_calls")
PLAYERS += ("test_situations_search", "test_situations_play", "test_situations_bidding")
PLAYERS += (
    "test_situations_maxims",
    "test_blindness",
    "test_hand_table",
    "test_solver_effort",
    "test_leanings",
    "test_rollout",
)


def passes(names, setting):
    """Run whole files of tests in a process of its own; the slow tests in them are left out."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("NUMBA_")}
    files = [f"{name}.py" for name in names]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *files],
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
    sampling = ("test_deals", "test_resample") if setting == "bounds checked" else ()
    passes((*CORE, *sampling), setting)


@pytest.mark.slow
def test_the_tests_of_the_solver_and_the_agents_pass_bounds_checked():
    """An access out of bounds, silent when compiled, is an error; plain Python would take days."""
    passes(PLAYERS, "bounds checked")


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
    known = {file.resolve() for file in _cache.kernel_sources()}
    modules = [*PACKAGE.glob("*.py"), *(PACKAGE / "agents").glob("*.py")]
    with_kernels = {
        path.resolve()
        for path in modules
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef)
        and any(
            isinstance(d, ast.Name) and d.id in ("kernel", "inline_kernel")
            for d in node.decorator_list
        )
    }
    assert len(with_kernels) > 10
    assert with_kernels <= known
    for file in known:
        assert imported(file) <= known, file.name
    assert (PACKAGE / "cards.py").resolve() in known
    assert (PACKAGE / "cli.py").resolve() not in known


ASK = """
import bideuchre_env, sys
from bideuchre_env import _jit, step
from bideuchre_env.state import new_states
from bideuchre_env.tables import compile_tables
rows = new_states(1)
rows["phase"] = 1
bits = step.legal_bits(rows[0], compile_tables(bideuchre_env.cincinnati_v0.rules)[0])
print(bits, sum(step.legal_bits.stats.cache_hits.values()), _jit.CACHE_FOLDER, sep="|")
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
    """What the strains kernel says in a fresh process, cache hits so far, and the cache folder."""
    environment = {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"} | environment
    bits, hits, cache = python("-c", ASK, folder, where=folder, **environment).strip().split("|")
    return int(bits), int(hits), Path(cache)


def test_the_cache_sees_an_edit_in_another_file(installed):
    """`step.legal_bits` is called; `auction.legal_strain`, which it calls, is changed and back."""
    inner = installed / "bideuchre_env" / "auction.py"
    text = inner.read_text()
    bits, hits, cache = ask(installed)
    assert (bits, hits) == (31, 0)
    assert cache.parent == installed / "bideuchre_env" / "__pycache__"
    assert ask(installed) == (31, 1, cache)
    edited = text.replace("STRAIN_BITS = (1 << N_STRAINS) - 1", "STRAIN_BITS = 15")
    assert edited != text
    inner.write_text(edited)
    bits, hits, other = ask(installed)
    assert (bits, hits) == (15, 0)
    assert other != cache
    inner.write_text(text)
    assert ask(installed) == (31, 1, cache)


def test_an_install_that_cannot_be_written_caches_elsewhere(installed):
    """First the user's cache folder; without a home the temporary one; without that, none."""
    (installed / "bideuchre_env" / "__pycache__").write_text("a file where the folder would be")
    user, temporary = installed / "user", installed / "temporary"
    temporary.mkdir()
    places = {"XDG_CACHE_HOME": str(user), "TMPDIR": str(temporary)}
    bits, _, cache = ask(installed, **places)
    assert (bits, cache.parent) == (31, user / "bideuchre_env")
    shutil.rmtree(user)
    user.write_text("another")
    bits, _, cache = ask(installed, **places)
    own = temporary / f"bideuchre_env-{os.getuid()}"
    assert (bits, cache.parent) == (31, own)
    own.chmod(0o777)  # others could have put code there
    assert ask(installed, **places) == (31, 0, Path())
    own.rename(temporary / "moved")
    own.write_text("another")
    assert ask(installed, **places) == (31, 0, Path())


def test_a_chosen_cache_folder_is_used(installed):
    """numba's own setting comes first; the folder inside still carries the hash."""
    chosen = installed / "chosen"
    bits, _, cache = ask(installed, NUMBA_CACHE_DIR=str(chosen))
    assert (bits, cache.parent) == (31, chosen)
    assert any(cache.rglob("*.nbc"))


def test_a_user_without_a_home_can_import(installed):
    """As in a container that runs under a number: the user's cache folder cannot be told."""
    (installed / "bideuchre_env" / "__pycache__").write_text("a file where the folder would be")
    lines = (
        "import os, pwd",
        "os.environ.pop('HOME', None); os.environ.pop('XDG_CACHE_HOME', None)",
        "def nobody(uid): raise KeyError(uid)",
        "pwd.getpwuid = nobody",
        "from bideuchre_env import _jit",
        "print(_jit.CACHE_FOLDER)",
    )
    folder = python("-c", "\n".join(lines), where=installed, PYTHONPATH=str(installed))
    assert f"bideuchre_env-{os.getuid()}/kernels-" in folder


def test_the_plain_twins_of_instructions():
    """Without JIT the two machine instructions are Python; both ways they say the same."""
    for bits in (1, 2, 3, 5, 2**47, 2**47 - 1, 2**62 + 1):
        assert _jit._popcount(bits) == bits.bit_count()
        assert _jit._lowest_bit(bits) == next(i for i in range(63) if bits >> i & 1)
        assert 1 << _jit._lowest_bit(bits) == bits & -bits


if __name__ == "__main__":
    asked = sys.argv[1]
    print(exercise_players() if asked == "players" else exercise(int(asked)))


def test_compiling_is_announced_once(tmp_path):
    """With an empty cache a line on stderr says that kernels are compiled; with a warm one none."""
    code = "import bideuchre_env as b; e = b.cincinnati_v0.raw_env(); e.reset(seed=1); e.step(0)"
    kept = {k: v for k, v in os.environ.items() if not k.startswith("NUMBA_")}
    told = [
        subprocess.run(
            [sys.executable, "-c", code],
            env=kept | {"NUMBA_CACHE_DIR": str(tmp_path)},
            capture_output=True,
            text=True,
            check=True,
        ).stderr
        for _ in range(2)
    ]
    assert told[0].count("\n") == 1
    assert told[0].startswith("bideuchre_env: compiling its kernels")
    assert told[1] == ""
