"""All kernels are compiled beforehand, in parts whose numbers are right."""

import ast
import sys
from importlib import import_module

import pytest
from support.script_modules import ROOT

from bideuchre_env import agents
from bideuchre_env.evaluation import warm_up
from bideuchre_env.runtime import jit


def entries_of_the_package():
    """Its entry kernels, but not those that other tests have made of its functions."""
    for each in jit.ENTRIES:
        module, name = each.py_func.__module__, each.py_func.__name__
        if module.startswith("bideuchre_env.") and vars(sys.modules[module]).get(name) is each:
            yield each


@pytest.mark.parametrize("name", warm_up.PARTS)
def test_a_part_compiles_all_that_it_counts(name):
    """Played once, it has no kernel that is neither compiled nor kept."""
    part = warm_up.PARTS[name]
    part.play()
    modules = {import_module(f"bideuchre_env.{module}").__name__ for module in part.modules}
    entries = [each for each in entries_of_the_package() if each.py_func.__module__ in modules]
    assert {each.py_func.__module__ for each in entries} == modules
    assert [each.py_func.__name__ for each in jit.compiling.missing(entries)] == []


def test_the_parts_have_every_kernel():
    """Each that Python calls is in one of them."""
    for name in warm_up.PARTS:
        for module in warm_up.PARTS[name].modules:
            import_module(f"bideuchre_env.{module}")
    named = {
        f"bideuchre_env.{module}" for part in warm_up.PARTS.values() for module in part.modules
    }
    assert {each.py_func.__module__ for each in entries_of_the_package()} == named


def test_the_halves_that_tests_compile_beforehand_are_every_part():
    """What two processes compile at once for `pytest -n`, each part in one of them."""
    tree = ast.parse((ROOT / "tests" / "conftest.py").read_text(encoding="utf-8"))
    [halves] = (
        ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "HALVES"
    )
    assert sorted(name for half in halves for name in half) == sorted(warm_up.PARTS)


def test_what_is_compiled_is_not_compiled_again():
    """Neither here nor, as it is kept, in the next process."""
    warm_up.compile_parts(("game", "rule"))
    assert warm_up.compile_parts(("game", "rule"))[0] == 0


@pytest.mark.parametrize(
    ("names", "parts"),
    [
        (["random", "cautious"], ("game",)),
        (["rule", "random"], ("game", "rule")),
        (["expert"], ("game", "expert")),
        (["ppo"], ("game", "ppo")),
        (["net"], ("game", "expert", "net")),
        (["pimc:worlds=20", "rule"], ("game", "rule", "expert", "search")),
    ],
)
def test_agents_take_their_parts(names, parts):
    assert warm_up.parts_for(names) == parts


def test_an_agent_that_is_registered_takes_no_part(monkeypatch):
    """Nor does an installed one: what they call is not known."""
    monkeypatch.setitem(agents.registry.registered, "mine", print)
    assert warm_up.parts_for(["mine", "rule"]) == ("game", "rule")
