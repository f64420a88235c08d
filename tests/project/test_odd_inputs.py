"""Every public function and constructor, with one parameter after another given an odd value.

The outcome is a result or one of the package's own errors: nothing unrelated, such as an error of
numpy in the middle of the work, reaches the caller.
"""

from __future__ import annotations

import inspect
import itertools
import sys

import pytest
from support.odd_games import game_calls
from support.odd_learning import learning_calls
from support.odd_values import ODD, sound_values

from bideuchre_env import agents, analysis, datasets, solver
from bideuchre_env.agents import registry
from bideuchre_env.errors import BidEuchreError

PARTS = 8
"""Parts of the functions, for as many processes."""
CALLBACKS = ("progress", "propose", "report")


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """Sound values: a record and its file, observations and masks, features, a network."""
    return sound_values(tmp_path_factory.mktemp("sound"))


@pytest.fixture(autouse=True)
def isolated_registry(monkeypatch):
    """Undo registrations of agents after each test."""
    monkeypatch.setattr(registry, "registered", {})


def calls(sound):
    """A function and sound values of its parameters, by name."""
    return game_calls(sound) | learning_calls(sound)


class _Unread:
    """Standard input that is not to be read."""

    def __getattr__(self, name):
        raise AssertionError(f"sys.stdin.{name}")


@pytest.mark.parametrize("part", range(PARTS))
def test_an_odd_value_is_accepted_or_refused_in_the_words_of_the_package(
    sound, part, tmp_path, monkeypatch
):
    """Each parameter in turn, the others as they should be."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "stdin", _Unread())
    unrelated = []
    for name, (function, values) in itertools.islice(calls(sound).items(), part, None, PARTS):
        function(**values)
        for parameter, (label, value) in itertools.product(values, ODD.items()):
            if parameter in CALLBACKS and callable(value):
                continue  # an error of the caller's own function reaches the caller
            try:
                function(**values | {parameter: value})
            except BidEuchreError:
                pass
            except Exception as error:
                unrelated.append(f"{name}({parameter}={label}): {type(error).__name__}: {error}")
    assert not unrelated, "\n".join(unrelated)


def test_every_public_function_is_tried(sound):
    """All functions in `__all__` of agents, analysis, datasets and solver."""
    tried = " ".join(calls(sound))
    for room in (agents, analysis, datasets, solver):
        for name in room.__all__:
            if inspect.isfunction(getattr(room, name)) and name != "names":
                assert f".{name}" in tried or f" {name}" in f" {tried}", name
