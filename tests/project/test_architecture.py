"""The house rules: who imports whom, what is packaged, how long files are, what is documented."""

import ast
import importlib
import os
import re
import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path

import pytest

import bideuchre_env
from bideuchre_env.runtime import jit

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "bideuchre_env"
FOLDERS = ("bideuchre_env", "agents", "experiments", "tests", "benchmarks")
TOP_LEVEL = {"pyproject.toml", "README.md", "LICENSE", *FOLDERS}

# The rooms of the package, in order: a room imports from the lines above its own, and from itself.
ROOMS = """
errors _checks _columns _files _intervals
rules runtime
core
records learning
solver
agents
analysis envs
adapters datasets evaluation __init__
bench play training
web
cli
"""
FLOOR = {
    room: floor for floor, line in enumerate(ROOMS.strip().splitlines()) for room in line.split()
}


def modules():
    """Every module of the package on disk: name, from the package on, to file."""
    found = {}
    for room, folder in (("", PACKAGE), ("agents", ROOT / "agents")):
        for path in sorted(folder.rglob("*.py")):
            parts = [room, *path.relative_to(folder).with_suffix("").parts]
            found[".".join(part for part in parts if part)] = path
    return found


FILES = modules()


def imports(path):
    """(module, put off?) of every import of a file: of the package by our names, others in full.

    What is imported late, or for type checkers alone, counts like everything else.
    """
    found = set()

    def visit(node, put_off):
        if isinstance(node, ast.Import):
            found.update((ours(alias.name, ""), put_off) for alias in node.names)
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name}: relative import"
            found.update((ours(node.module, alias.name), put_off) for alias in node.names)
        inside = put_off or isinstance(node, ast.FunctionDef | ast.Lambda)
        for child in ast.iter_child_nodes(node):
            visit(child, inside)

    visit(ast.parse(path.read_text(encoding="utf-8")), False)
    return found


def ours(module, name):
    """The key in `FILES` of what `from module import name` loads; another package's as it is."""
    if module.split(".")[0] != "bideuchre_env":
        return module
    if name == "__version__":  # set before anything else is imported
        return name
    inner = module.partition(".")[2]
    for candidate in (f"{inner}.{name}", f"{inner}.{name}.__init__", inner, f"{inner}.__init__"):
        if candidate.strip(".") in FILES:
            return candidate.strip(".")
    raise AssertionError(f"from {module} import {name}: there is no such module")


def room_of(name):
    """The first part of a module's name; `__main__` is of the command line."""
    return name.split(".")[0].replace("__main__", "cli")


def test_rooms_are_those_on_disk():
    """A new room is entered in `ROOMS`, where it belongs; at most seven modules are in none."""
    assert {room_of(name) for name in FILES} == set(FLOOR)
    assert sum("." not in name for name in FILES) <= 7


@pytest.mark.parametrize("name", FILES)
def test_imports_go_one_way(name):
    """No module imports from a room below its own, or from the other room of its line."""
    for target, _ in imports(FILES[name]):
        if target in FILES and room_of(target) != room_of(name):
            ours, theirs = FLOOR[room_of(name)], FLOOR[room_of(target)]
            beside = ours == theirs == FLOOR["errors"]
            assert theirs < ours or beside, f"{name} imports {target}, from below it"


def graph(prefix=""):
    """Who imports whom among the files and folders within a folder: name to names."""
    edges = {}
    for name, path in FILES.items():
        if not name.startswith(prefix):
            continue
        one = name[len(prefix) :].split(".")[0]
        edges.setdefault(one, set())
        for target, _ in imports(path):
            if target in FILES and target.startswith(prefix):
                other = target[len(prefix) :].split(".")[0]
                edges[one] |= {other} - {one}
    return edges


def circle(edges):
    """The names that are in or behind a circle of such a graph; empty if there is none."""
    left = dict(edges)
    while free := [name for name, others in left.items() if not others & left.keys()]:
        for name in free:
            del left[name]
    return set(left)


@pytest.mark.parametrize(
    "prefix", sorted({"", *(name.rpartition(".")[0] + "." for name in FILES if "." in name)})
)
def test_there_is_no_circle(prefix):
    """Neither among the files of a folder, nor among its folders, at any depth."""
    assert circle(graph(prefix)) == set()


def test_the_search_for_circles_finds_them():
    """One of two, one of three, none."""
    assert circle({"a": {"b"}, "b": {"a"}, "c": set()}) == {"a", "b"}
    assert circle({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == {"a", "b", "c", "d"}
    assert circle({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == set()


COMPILER = {"numba", "llvmlite"}


def test_packaged_code_imports_what_is_declared():
    """The standard library, the declared dependencies, and itself; numba in one room only.

    What is behind an extra is imported late: matplotlib anywhere, ray in one file. An adapter is
    itself imported late, and imports the library it is for. Gymnasium needs `typing_extensions`.
    """
    declared = re.search(r"\ndependencies = \[(.*?)\]", read("pyproject.toml"), re.S)[1]
    allowed = set(re.findall(r'"([a-z_]+)', declared)) | {*sys.stdlib_module_names, "tomllib"}
    allowed |= {"typing_extensions"} | COMPILER
    extras = (
        re.search(rf"\n{extra} = \[(.*?)\]", read("pyproject.toml"), re.S)[1]
        for extra in ("plot", "ray")
    )
    plotting, cluster = (set(re.findall(r'"([a-z_]+)', extra)) for extra in extras)
    table = (
        "adapters.openspiel open_spiel pyspiel, adapters.rllib ray torch, "
        "adapters.sb3 stable_baselines3, adapters.torchrl torch torchrl tensordict, "
        "adapters.tianshou tianshou torch, adapters.agilerl agilerl, datasets.files pyarrow, "
        "datasets.minari_file minari h5py PIL, records.pixels PIL, web.server aiohttp, "
        "web.door aiohttp"
    )
    own = {name: libraries for name, *libraries in map(str.split, table.split(", "))}
    for name, path in FILES.items():
        for target, put_off in imports(path):
            top = target.split(".")[0]
            if top in own.get(name, ()) and (put_off or room_of(name) in ("adapters", "web")):
                continue
            late = plotting | (cluster if name == "evaluation.ray_pool" else set())
            if target in (*FILES, "__version__") or (put_off and top in late):
                continue
            assert top in allowed, f"{name} imports {target}"
            assert top not in COMPILER or room_of(name) == "runtime"
            internal = target.startswith("numba.core")
            assert not internal or name == "runtime.numba_private", f"{name} imports {target}"


def test_pyproject_allows_the_tested_versions_of_numba_alone():
    """The range of pyproject.toml is that of `jit.TESTED`."""
    (_, low), (_, high) = jit.TESTED
    assert f'"numba>=0.{low},<0.{high + 1}"' in read("pyproject.toml")


def test_nothing_is_unpickled():
    """The package writes and reads text: no pickle, no shelve, no pickled arrays, no eval."""
    for name, path in FILES.items():
        text = path.read_text(encoding="utf-8")
        for target, _ in imports(path):
            assert target.split(".")[0] not in {"pickle", "shelve", "marshal", "dill"}, name
        assert not re.search(r"allow_pickle|\beval\(|\bexec\(", text), name


def read(name):
    """A file of the top folder."""
    return (ROOT / name).read_text(encoding="utf-8")


def test_what_is_packaged_is_what_lies_on_disk():
    """The wheel has both folders of packaged code, whole; each folder in them is a package."""
    tomllib = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    build = tomllib.loads(read("pyproject.toml"))["tool"]["hatch"]["build"]
    wheel = build["targets"]["wheel"]
    assert wheel["only-include"] == ["bideuchre_env", "agents"]
    assert wheel["sources"] == {"agents": "bideuchre_env/agents"}
    assert build["exclude"] == ["/bideuchre_env/agents"]
    assert set(build["exclude"]) <= set(wheel["exclude"])  # a target's own list stands in its place
    for folder in {name.rpartition(".")[0] for name in FILES} - {""}:
        assert f"{folder}.__init__" in FILES, f"{folder} lacks an __init__.py"
    numbers = sorted((ROOT / "agents" / "data").glob("*.npz"))
    assert len(numbers) >= 4
    left_out = [*build["exclude"], *wheel["exclude"], *read(".gitignore").split()]
    pages = sorted(PACKAGE.glob("*/**/assets/*"))
    assert len(pages) >= 5
    for path in (PACKAGE / "py.typed", *numbers, *pages):
        parts = path.relative_to(ROOT).parts
        names = [*parts, *("/" + "/".join(parts[:k]) for k in range(1, len(parts) + 1))]
        for each in left_out:  # as a name anywhere, or as a path from the top
            assert not any(fnmatch(name, each.rstrip("/")) for name in names), (path, each)


def test_tests_mirror_the_rooms_and_import_no_other_test():
    """A folder of tests for a room; what tests share is in `support/` and `oracles/`."""
    rooms = {name.split(".")[0] for name in FILES if "." in name} | {"law", "project", "scripts"}
    for path in (ROOT / "tests").rglob("test_*.py"):
        assert path.parent.name in rooms, path
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [getattr(node, "module", None)] if isinstance(node, ast.ImportFrom) else []
            names += [each.name for each in node.names] if isinstance(node, ast.Import) else []
            assert not any("test_" in str(name) for name in names), path


def test_the_link_to_the_agents():
    """`bideuchre_env/agents` is a link in the repository, so that a checkout runs as it is."""
    listed = git("ls-files", "-s", "bideuchre_env/agents")
    assert listed.split()[0] == "120000"


def git(*args):
    """What git says, or a skip where this folder is not the top of a checkout."""
    outputs = []
    for asked in (("rev-parse", "--show-toplevel"), args):
        try:
            done = subprocess.run(["git", *asked], cwd=ROOT, capture_output=True, check=False)
        except FileNotFoundError:
            pytest.skip("there is no git")
        if done.returncode:
            pytest.skip("not a git checkout")
        outputs.append(os.fsdecode(done.stdout).rstrip("\n"))
    top, said = outputs
    if Path(top).resolve() != ROOT:
        pytest.skip("inside another checkout")
    return said


def test_the_top_folder_is_as_agreed():
    """Files and folders of git: those of `TOP_LEVEL`, and dot-files; nothing else."""
    names = git("ls-files").splitlines()
    top = {name.split("/")[0] for name in names}
    assert {name for name in top if not name.startswith(".")} <= TOP_LEVEL
    assert {"pyproject.toml", "README.md", "LICENSE", "bideuchre_env", "agents", "tests"} <= top


def test_files_are_short():
    """Under four hundred lines each, in every folder; styles and scripts of pages, too."""
    for folder in FOLDERS:
        for path in (ROOT / folder).rglob("*.*"):
            if path.suffix not in (".py", ".js", ".css", ".html"):
                continue
            lines = len(path.read_text(encoding="utf-8").splitlines())
            assert lines < 400, f"{path.relative_to(ROOT)}: {lines} lines"


def public(body, prefix=""):
    """Every public function, class and method among these statements, with its full name."""
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            if node.name.startswith("_"):
                continue
            yield prefix + node.name, node
            if isinstance(node, ast.ClassDef):
                yield from public(node.body, f"{prefix}{node.name}.")


@pytest.mark.parametrize("name", FILES)
def test_everything_public_says_what_it_does(name):
    """A docstring for every public module, class, function and method."""
    tree = ast.parse(FILES[name].read_text(encoding="utf-8"))
    assert ast.get_docstring(tree), f"{name} has no docstring"
    for full, node in public(tree.body):
        overload = any(getattr(d, "attr", "") == "setter" for d in node.decorator_list)
        assert ast.get_docstring(node) or overload, f"{name}.{full} has no docstring"


def test_every_public_name_is_imported_when_it_is_used():
    """`dir` lists the names of `__init__.pyi` alone; an unknown name is an AttributeError."""
    assert dir(bideuchre_env) == sorted(bideuchre_env.__all__)
    assert {"Rules", "barrie_v0", "make", "match", "records_io"} <= set(dir(bideuchre_env))
    for name in bideuchre_env.__all__:
        assert not name.startswith("_")
        assert getattr(bideuchre_env, name) is not None
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        _ = bideuchre_env.nonsense


def test_type_checkers_see_every_variant():
    """The names that `__init__.pyi` declares without importing them; mypy checks its imports."""
    stub = ast.parse(read("bideuchre_env/__init__.pyi")).body
    declared = {ast.unparse(node.target) for node in stub if isinstance(node, ast.AnnAssign)}
    assert declared == {*bideuchre_env.variants, "__version__"}


def test_the_version_is_stated_once_alike():
    """In pyproject and in the package."""
    assert f'\nversion = "{bideuchre_env.__version__}"\n' in read("pyproject.toml")


def test_variants_are_attributes():
    """`bideuchre_env.cincinnati_v0` and its kin, each a name of the package."""
    for name, variant in bideuchre_env.variants.items():
        assert getattr(bideuchre_env, name) is variant
        assert name in bideuchre_env.__all__


def test_a_module_is_imported_when_it_is_used():
    """An attribute after importing the package alone."""
    ask = (
        "import sys, bideuchre_env; print('bideuchre_env.evaluation.match' in sys.modules)\n"
        "print(bideuchre_env.match.__name__)"
    )
    done = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "bideuchre_env.evaluation.match"]
