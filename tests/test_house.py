"""The house rules: who imports whom, what is packaged, how long files are, what is documented."""

import ast
import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

import bideuchre_env

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "bideuchre_env"
FOLDERS = ("bideuchre_env", "agents", "experiments", "tests", "benchmarks")
TOP_LEVEL = {"pyproject.toml", "README.md", "LICENSE", *FOLDERS}

# A module imports only from lines above its own, or from what stands before it on its line.
LAYERS = """
errors
cards rules rule_sheet variants
_cache _jit spread
actions tables state
deal auction exchange play scoring episode step
observation decode validity
batch one_row duel resample
deals transcript record
show records_io intervals report
books aec guarded
team step_team vector_input vector
solver.board solver.memory solver.bounds solver.order solver.search solver.values
solver.workers solver.positions solver.faces solver.deal_table solver.best_calls solver.analysis
solver.__init__
agents.base
agents.card_order agents.view agents.chances agents.discards agents.following agents.leading
agents.exchange_play agents.hand_value agents.equity agents.bidding agents.hand_numbers
agents.hand_weights agents.rule agents.simple agents.table_file agents.hand_table agents.layouts
agents.endgame
agents.leanings agents.win_table agents.call_inputs agents.call_network agents.calls
agents.call_weights agents.expert agents.worlds agents.outcomes
agents.likelihood agents.pimc agents.__init__
solo_rows solo_players solo_batch solo solo_vector
registration __init__
rollout record_book table_room scores selfplay sequential ratings match_report
match_rooms match_worker match_crew match match_files
timing speed
command_records command_selfplay command_match command_bench command_variants command_hand cli
"""
ORDER = LAYERS.split()

# Imports put off until they are used, and why; they too go upwards unless they stand here.
UPWARD = {
    ("rules", "rule_sheet"): "str(rules) is its rule sheet",
    ("observation", "decode"): "layout.decode(...) needs words, encoding does not",
}
MODULES = (
    *("agents", "match", "ratings", "record", "records_io", "rollout", "selfplay", "sequential"),
    "solver",
)
LIGHT = ("errors", "cards", "rules", "rule_sheet", "variants", "registration", "__init__", "cli")


def modules():
    """Every module of the package on disk: name to file."""
    found = {path.stem: path for path in sorted(PACKAGE.glob("*.py"))}
    for room, folder in (("agents", ROOT / "agents"), ("solver", PACKAGE / "solver")):
        found |= {f"{room}.{path.stem}": path for path in sorted(folder.glob("*.py"))}
    return found


def imports(path, known):
    """The imports of a file, as (module, put off?): of the package by our names, others in full.

    What stands under `if TYPE_CHECKING` is never run and is left out.
    """
    found = set()

    def visit(node, put_off):
        if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING":
            return
        if isinstance(node, ast.Import):
            found.update((alias.name, put_off) for alias in node.names)
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name}: relative import"
            for alias in node.names:
                found.add((ours(node.module, alias.name, known), put_off))
        inside = put_off or isinstance(node, ast.FunctionDef | ast.Lambda)
        for child in ast.iter_child_nodes(node):
            visit(child, inside)

    visit(ast.parse(path.read_text(encoding="utf-8")), False)
    return found


def ours(module, name, known):
    """The name in `LAYERS` of what `from module import name` loads."""
    if module.split(".")[0] != "bideuchre_env":
        return module
    inner = ".".join(module.split(".")[1:])
    for candidate in (f"{inner}.{name}".lstrip("."), f"{inner}.{name}.__init__".lstrip("."), inner):
        if candidate in known:
            return candidate
    return f"{inner}.__init__".lstrip(".")


def test_every_module_has_its_place():
    """A new module is entered in `LAYERS`, where it belongs; one that is gone is taken out."""
    assert sorted(ORDER) == sorted(modules())
    assert len(set(ORDER)) == len(ORDER)


@pytest.mark.parametrize("name", ORDER)
def test_imports_go_upwards(name):
    """No module imports from below it; an import put off may, where `UPWARD` says why."""
    known = modules()
    for target, put_off in imports(known[name], known):
        if target in known:
            downhill = ORDER.index(target) >= ORDER.index(name)
            allowed = put_off and (name, target) in UPWARD
            assert not downhill or allowed, f"{name} imports {target}, which is below it"


def test_no_excuse_is_left_unused():
    """Every import that `UPWARD` allows is there."""
    known = modules()
    there = {(name, target) for name in known for target, _ in imports(known[name], known)}
    assert set(UPWARD) <= there


def test_packaged_code_imports_what_is_declared():
    """The standard library, the declared dependencies, and itself; numba in one module only."""
    declared = re.search(r"\ndependencies = \[(.*?)\]", read("pyproject.toml"), re.S)[1]
    allowed = set(re.findall(r'"([a-z_]+)', declared)) | sys.stdlib_module_names
    extra = re.search(r"\nplot = \[(.*?)\]", read("pyproject.toml"), re.S)[1]
    plotting = set(re.findall(r'"([a-z_]+)', extra))
    known = modules()
    for name, path in known.items():
        for target, put_off in imports(path, known):
            top = target.split(".")[0]
            if target in known or (put_off and top in plotting):
                continue
            assert top in allowed, f"{name} imports {target}"
            assert top != "numba" or name == "_jit"


def test_nothing_is_unpickled():
    """The package writes and reads text: no pickle, no shelve, no pickled arrays, no eval."""
    for name, path in modules().items():
        text = path.read_text(encoding="utf-8")
        for target, _ in imports(path, modules()):
            assert target.split(".")[0] not in {"pickle", "shelve", "marshal", "dill"}, name
        assert not re.search(r"allow_pickle|\beval\(|\bexec\(", text), name


def read(name):
    """A file of the top folder."""
    return (ROOT / name).read_text(encoding="utf-8")


def test_the_packages_declared_are_those_on_disk():
    """`packages` and `package-dir` in pyproject name every folder of packaged code."""
    tomllib = pytest.importorskip("tomllib", reason="in the standard library from 3.11")
    declared = tomllib.loads(read("pyproject.toml"))["tool"]["setuptools"]
    assert declared["packages"] == [
        "bideuchre_env",
        "bideuchre_env.agents",
        "bideuchre_env.solver",
    ]
    assert declared["package-dir"] == {"bideuchre_env.agents": "agents"}
    found = [*PACKAGE.rglob("__init__.py"), *(ROOT / "agents").rglob("__init__.py")]
    inner = {path.parent for path in found}
    packaged = {PACKAGE, ROOT / "agents", PACKAGE / "solver"}
    assert {path.resolve() for path in inner} == {path.resolve() for path in packaged}
    assert (PACKAGE / "py.typed").exists()


def test_the_link_to_the_agents():
    """`bideuchre_env/agents` is a link in the repository, so that a checkout runs as it is."""
    listed = git("ls-files", "-s", "bideuchre_env/agents")
    assert listed.split()[0] == "120000"


def git(*args):
    """What git says, or a skip outside a checkout."""
    done = subprocess.run(["git", *args], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip("not a git checkout")
    return done.stdout


def test_the_top_folder_is_as_agreed():
    """Six files and folders, and dot-files; nothing else, not even uncommitted."""
    names = git("ls-files", "--cached", "--others", "--exclude-standard").splitlines()
    top = {name.split("/")[0] for name in names}
    assert {name for name in top if not name.startswith(".")} <= TOP_LEVEL
    assert {"pyproject.toml", "README.md", "LICENSE", "bideuchre_env", "agents", "tests"} <= top


def test_files_are_short():
    """Under four hundred lines each, in every folder."""
    for folder in FOLDERS:
        for path in (ROOT / folder).rglob("*.py"):
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


@pytest.mark.parametrize("name", ORDER)
def test_everything_public_says_what_it_does(name):
    """A docstring for every public module, class, function and method."""
    tree = ast.parse(modules()[name].read_text(encoding="utf-8"))
    if name != "agents.__init__" or tree.body:
        assert ast.get_docstring(tree), f"{name} has no docstring"
    for full, node in public(tree.body):
        overload = any(getattr(d, "attr", "") == "setter" for d in node.decorator_list)
        assert ast.get_docstring(node) or overload, f"{name}.{full} has no docstring"


def test_every_public_name_is_there():
    """`__all__` holds, lazily loaded names included, and an unknown one is an AttributeError."""
    for name in bideuchre_env.__all__:
        assert getattr(bideuchre_env, name) is not None
        assert name in dir(bideuchre_env)
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        _ = bideuchre_env.nonsense


@pytest.mark.parametrize("name", LIGHT)
def test_importing_is_light(name):
    """Importing the package, its rules or its command line does not load numba."""
    module = {"__init__": "bideuchre_env"}.get(name, f"bideuchre_env.{name}")
    ask = f"import sys, {module}; print(sorted({{'numba', 'matplotlib'}} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_the_version_is_stated_once_alike():
    """In pyproject and in the package."""
    assert f'\nversion = "{bideuchre_env.__version__}"\n' in read("pyproject.toml")


def test_variants_are_attributes_and_modules_can_be_imported():
    """`bideuchre_env.cincinnati_v0` and its kin, each a name of the package."""
    for name, variant in bideuchre_env.variants.items():
        assert getattr(bideuchre_env, name) is variant
        assert name in bideuchre_env.__all__
    for name in MODULES:
        assert getattr(bideuchre_env, name) is importlib.import_module(f"bideuchre_env.{name}")


@pytest.mark.parametrize("name", MODULES)
def test_a_module_is_there_after_importing_the_package_alone(name):
    """As an attribute that `dir` tells of, and imported only when it is asked for."""
    full = f"bideuchre_env.{name}"
    ask = (
        f"import sys, bideuchre_env; print({name!r} in dir(bideuchre_env), {full!r} in sys.modules)"
    )
    ask += f"\nprint({full}.__name__)"
    done = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "False", full]
