"""Layout of the package: light imports, declared libraries, packaged files, length of files."""

import ast
import importlib
import re
import sys
from fnmatch import fnmatch
from pathlib import Path

import pytest
from support.commands import python

import bideuchre_env
from bideuchre_env.runtime import jit

tomllib = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "bideuchre_env"
FOLDERS = ("bideuchre_env", "agents", "experiments", "tests", "benchmarks", ".github")


def modules():
    """The files of all modules of the package, by name without the package."""
    files = {}
    for prefix, folder in (("", PACKAGE), ("agents", ROOT / "agents")):
        for path in sorted(folder.rglob("*.py")):
            parts = [prefix, *path.relative_to(folder).with_suffix("").parts]
            files[".".join(part for part in parts if part)] = path
    return files


FILES = modules()


def imports(path):
    """Return the set of (module, whether it is inside a function) of the imports of a file."""
    result = set()

    def visit(node, late):
        if isinstance(node, ast.Import):
            result.update((module_key(alias.name, ""), late) for alias in node.names)
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name}: relative import"
            result.update((module_key(node.module, alias.name), late) for alias in node.names)
        inside = late or isinstance(node, ast.FunctionDef | ast.Lambda)
        for child in ast.iter_child_nodes(node):
            visit(child, inside)

    visit(ast.parse(path.read_text(encoding="utf-8")), False)
    return result


def module_key(module, name):
    """The key in `FILES` of `from module import name`; the module's name for other packages."""
    if module.split(".")[0] != "bideuchre_env":
        return module
    if name == "__version__":  # set before the other imports
        return name
    inner = module.partition(".")[2]
    for candidate in (f"{inner}.{name}", f"{inner}.{name}.__init__", inner, f"{inner}.__init__"):
        if candidate.strip(".") in FILES:
            return candidate.strip(".")
    raise AssertionError(f"from {module} import {name}: there is no such module")


COMPILER = {"numba", "llvmlite"}

LATE_EXTRAS = {"matplotlib"}  # imported inside functions by any module
EXTRAS = {  # by module
    "adapters.openspiel": {"open_spiel", "pyspiel"},
    "adapters.torchrl": {"torch", "torchrl", "tensordict"},
    "datasets.minari_file": {"minari", "h5py", "PIL"},
}
EXTRAS |= {"adapters.sb3": {"sb3_contrib", "stable_baselines3", "torch"}}
EXTRAS |= {"adapters.agilerl": {"agilerl", "torch"}, "learning.policy_graph": {"torch"}}
EXTRAS |= {"adapters.rllib": {"ray", "torch"}, "adapters.tianshou": {"tianshou", "torch"}}
EXTRAS |= {"datasets.files": {"pyarrow"}, "evaluation.ray_pool": {"ray"}}
EXTRAS |= {"records.pixels": {"PIL"}, "cli.completion": {"shtab"}}
EXTRAS |= {"web.connections": {"aiohttp"}, "web.server": {"aiohttp", "segno"}}


@pytest.mark.slow
def test_packaged_code_imports_declared_libraries_only():
    """Extras are imported late, or by adapters and the server; numba only by `runtime`."""
    declared = re.search(r"\ndependencies = \[(.*?)\]", read("pyproject.toml"), re.S)[1]
    allowed = {*re.findall(r'"([a-z_]+)', declared), *sys.stdlib_module_names, *COMPILER}
    allowed |= {"tomllib", "typing_extensions"}  # typing_extensions comes with Gymnasium
    for name, path in FILES.items():
        for target, late in imports(path):
            top = target.split(".")[0]
            if target in (*FILES, "__version__") or (late and top in LATE_EXTRAS):
                continue
            if top in EXTRAS.get(name, ()) and (late or name.startswith(("adapters.", "web."))):
                continue
            assert top in allowed, f"{name} imports {target}"
            internal = target.startswith("numba.core")
            assert not internal or name == "runtime.numba_private", f"{name} imports {target}"


def test_pyproject_allows_the_tested_versions_of_numba_only():
    (_, low), (_, high) = jit.TESTED
    assert f'"numba>=0.{low},<0.{high + 1}"' in read("pyproject.toml")


def test_nothing_is_unpickled():
    """Reading files must not run code: no pickled arrays, no eval; ruff bans other modules."""
    for name, path in FILES.items():
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"allow_pickle|\beval\(|\bexec\(", text), name


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


def test_the_wheel_has_both_folders_and_their_data():
    build = tomllib.loads(read("pyproject.toml"))["tool"]["hatch"]["build"]
    wheel = build["targets"]["wheel"]
    assert wheel["only-include"] == ["bideuchre_env", "agents"]
    assert wheel["sources"] == {"agents": "bideuchre_env/agents"}
    for folder in {name.rpartition(".")[0] for name in FILES} - {""}:
        assert f"{folder}.__init__" in FILES, f"{folder} lacks an __init__.py"
    numbers = sorted((ROOT / "agents" / "data").glob("*.npz"))
    pages = sorted(PACKAGE.glob("*/**/assets/*"))
    assert len(numbers) >= 4
    assert len(pages) >= 5
    excluded = [*build["exclude"], *wheel["exclude"], *read(".gitignore").split()]
    for path in (PACKAGE / "py.typed", *numbers, *pages):
        parts = path.relative_to(ROOT).parts
        names = [*parts, *("/" + "/".join(parts[:k]) for k in range(1, len(parts) + 1))]
        for pattern in excluded:  # a name anywhere, or a path from the root
            assert not any(fnmatch(name, pattern.rstrip("/")) for name in names), (path, pattern)


def test_files_have_fewer_than_600_lines():
    for folder in FOLDERS:
        for path in (ROOT / folder).rglob("*.*"):
            if path.suffix not in (".py", ".js", ".css", ".html"):
                continue
            lines = len(path.read_text(encoding="utf-8").splitlines())
            assert lines < 600, f"{path.relative_to(ROOT)}: {lines} lines"


def test_public_names_equal_the_stub():
    stub = {}
    exec(read("bideuchre_env/__init__.pyi"), stub)
    assert stub.pop("__annotations__").keys() == {*bideuchre_env.variants, "__version__"}
    expected = {name: stub[name] for name in stub if not name.startswith("_")}
    expected |= bideuchre_env.variants
    assert sorted(expected) == bideuchre_env.__all__ == dir(bideuchre_env)
    assert {"Rules", "make", "match", "records_io"} <= expected.keys()
    for name, value in expected.items():
        assert getattr(bideuchre_env, name) is value, name
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        _ = bideuchre_env.nonsense


@pytest.mark.parametrize("name", ["", ".agents", ".analysis", ".datasets", ".solver"])
def test_an_import_of_all_names_gets_the_names_of_dir(name):
    module = importlib.import_module(f"bideuchre_env{name}")
    scope = {}
    exec(f"from {module.__name__} import *", scope)
    assert sorted(scope.keys() - {"__builtins__"}) == sorted(module.__all__)
    assert set(module.__all__) <= set(dir(module))
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        _ = module.nonsense


def test_the_version_is_in_one_place():
    """The build reads it from the package; the citation in the README has the same one."""
    project = tomllib.loads(read("pyproject.toml"))
    assert "version" not in project["project"]
    assert "version" in project["project"]["dynamic"]
    assert project["tool"]["hatch"]["version"] == {"path": "bideuchre_env/__init__.py"}
    versions = re.findall(r'^__version__ = "(.*)"$', read("bideuchre_env/__init__.py"), re.M)
    assert versions == [bideuchre_env.__version__]
    assert re.findall(r"version = \{(.*?)\}", read("README.md")) == versions


LIGHT = ("errors", "rules.variants", "envs.registration", "", "adapters", "cli.main")
OPTIONAL = "matplotlib PIL pyarrow minari h5py ray torch tensorboard aiohttp segno shtab"
TRAINERS = "pyspiel open_spiel stable_baselines3 sb3_contrib torchrl tensordict tianshou agilerl"


@pytest.mark.parametrize("name", LIGHT)
def test_importing_loads_neither_numba_nor_extras(name):
    """The import does not even search for these libraries."""
    module = f"bideuchre_env.{name}".rstrip(".")
    program = (
        "import sys; tried = set()\n"
        "class Watch:\n"
        "    find_spec = lambda name, *more: tried.add(name.partition('.')[0])\n"
        "sys.meta_path.insert(0, Watch)\n"
        f"import {module}; dir({module})\n"
        f"print(sorted({{'numba', *{OPTIONAL.split()}, *{TRAINERS.split()}}} & tried))"
    )
    assert python("-c", program).stdout == "[]\n"


def test_a_public_module_is_imported_when_it_is_used():
    program = (
        "import sys, bideuchre_env; print('bideuchre_env.evaluation.match' in sys.modules)\n"
        "print(bideuchre_env.match.__module__)\n"
        "import importlib; importlib.reload(bideuchre_env)"  # registers the environments again
    )
    printed = python("-W", "error", "-c", program).stdout.split()
    assert printed == ["False", "bideuchre_env.evaluation.match"]


@pytest.mark.slow
def test_matches_tournaments_and_rollouts_load_neither_pages_nor_extras():
    program = (
        "import sys, bideuchre_env as b\n"
        "results = [b.match('six_card_v0', 'random', 'random', boards=2),\n"
        "    b.tournament(['six_card_v0'], ['random', 'cautious'], boards=2),\n"
        "    b.rollout('six_card_v0', hands=2)]\n"
        "for each in results:\n"
        "    assert isinstance(each, b.Result) and str(each) and each.to_dict()\n"
        f"heavy = {{*{OPTIONAL.split()}, *{TRAINERS.split()}, 'bideuchre_env.records.page'}}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    assert python("-c", program).stdout == "[]\n"


@pytest.mark.parametrize("program", ["bideuchre --help", "-c"])
def test_importing_changes_no_signal_handler_hook_or_path(program):
    """Ctrl-C stays Python's; the environments are registered with Gymnasium."""
    ask = (
        "import os, signal, sys, gymnasium, pettingzoo, numba\n"
        "def state():\n"
        "    handlers = [signal.getsignal(number) for number in sorted(signal.valid_signals())]\n"
        "    hooks = [sys.excepthook, sys.unraisablehook, sys.meta_path, sys.path]\n"
        "    return [*handlers, *map(repr, hooks), dict(os.environ)]\n"
        f"sys.argv = {program.split()!r}; before = state()\n"
        "import bideuchre_env, bideuchre_env.cli.main\n"
        "import bideuchre_env.runtime.jit, bideuchre_env.runtime.interrupts\n"
        "print([one for one in zip(before, state()) if one[0] != one[1]])\n"
        "print('bideuchre/Cincinnati-v0' in gymnasium.registry)"
    )
    assert python("-c", ask).stdout == "[]\nTrue\n"
