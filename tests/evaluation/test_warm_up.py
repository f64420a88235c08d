"""All kernels can be compiled beforehand, in parts."""

import sys
from importlib import import_module

import pytest

from bideuchre_env import agents
from bideuchre_env.evaluation import warm_up
from bideuchre_env.runtime import cache, jit


def entries_of_the_package():
    """Its entry kernels, but not those that other tests have made of its functions."""
    for each in jit.ENTRIES:
        module, name = each.py_func.__module__, each.py_func.__name__
        if module.startswith("bideuchre_env.") and vars(sys.modules[module]).get(name) is each:
            yield each


def test_the_parts_compile_every_kernel_that_python_calls():
    """But those of `bideuchre prepare`, which compiles them at its first use."""
    for name in cache.kernel_sources():
        import_module(f"bideuchre_env.{name.removesuffix('.py').replace('/', '.')}")
    for play in warm_up.PARTS.values():
        play()
    later = [each for each in entries_of_the_package() if not each.signatures]
    assert {each.py_func.__name__ for each in later} <= {"try_rows"}


def test_a_compiled_part_is_not_compiled_again(monkeypatch, tmp_path):
    """Neither in this process nor, where it is saved, in the next."""
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
def test_agents_take_their_parts(names, parts):
    assert warm_up.parts_for(names) == parts


def test_an_agent_that_is_registered_takes_no_part(monkeypatch):
    """Nor does an installed one: what they call is not known."""
    monkeypatch.setitem(agents.registry.registered, "mine", print)
    assert warm_up.parts_for(["mine", "rule"]) == ("game", "rule")
