"""Compilation of kernels in advance, in parts."""

import sys
from importlib import import_module

import pytest

from bideuchre_env import agents
from bideuchre_env.evaluation import warm_up
from bideuchre_env.runtime import cache, jit


def entries_of_the_package():
    """Entry kernels of the package, without kernels of tests."""
    for each in jit.ENTRIES:
        module, name = each.py_func.__module__, each.py_func.__name__
        if module.startswith("bideuchre_env.") and vars(sys.modules[module]).get(name) is each:
            yield each


def test_the_parts_compile_every_entry_kernel():
    """Only `try_rows`, the kernel of `bideuchre prepare`, is left to compile at its first use."""
    for name in cache.kernel_sources():
        import_module(f"bideuchre_env.{name.removesuffix('.py').replace('/', '.')}")
    for play in warm_up.PARTS.values():
        play()
    later = [each for each in entries_of_the_package() if not each.signatures]
    assert {each.py_func.__name__ for each in later} <= {"try_rows"}


def test_a_part_that_is_compiled_and_saved_is_skipped(monkeypatch, tmp_path):
    played = []
    monkeypatch.setattr(jit, "CACHE_FOLDER", str(tmp_path))
    monkeypatch.setitem(warm_up.PARTS, "game", lambda: played.append("game"))
    assert [warm_up.compile_part("game"), warm_up.compile_part("game")] == [0, 0]
    assert played == ["game"]
    monkeypatch.setattr(jit, "CACHE_FOLDER", "")
    warm_up.compile_part("game")
    assert played == ["game", "game"]


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
def test_parts_of_agents(names, parts):
    assert warm_up.parts_for(names) == parts


def test_registered_agents_add_no_part(monkeypatch):
    monkeypatch.setitem(agents.registry.registered, "mine", print)
    assert warm_up.parts_for(["mine", "rule"]) == ("game", "rule")
