"""Every public function, with each parameter in turn set to odd values."""

import inspect
import itertools
import sys

import pytest
from support.odd_calls import ODD, calls

from bideuchre_env import agents, analysis, datasets, solver
from bideuchre_env.agents import registry
from bideuchre_env.errors import BidEuchreError

PARTS = 8
"""The functions are split into this many tests, which processes can share."""
CALLBACKS = ("progress", "propose", "report", "finished")


@pytest.fixture(scope="module")
def all_calls(tmp_path_factory):
    return calls(tmp_path_factory.mktemp("usable"))


class UnreadInput:
    """Standard input that fails when it is used."""

    def __getattr__(self, name):
        raise AssertionError(f"sys.stdin.{name}")


@pytest.mark.parametrize("part", range(PARTS))
def test_odd_values_are_accepted_or_raise_the_packages_errors(
    all_calls, part, tmp_path, monkeypatch
):
    """Unrelated exceptions, for example of numpy, do not reach the caller."""
    monkeypatch.setattr(registry, "registered", {})
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "stdin", UnreadInput())
    unrelated = []
    for function, values in all_calls[part::PARTS]:
        function(**values)
        for parameter, value in itertools.product(values, ODD):
            if parameter in CALLBACKS and callable(value):
                continue  # an error of the caller's own function reaches the caller
            try:
                function(**values | {parameter: value})
            except BidEuchreError:
                pass
            except Exception as error:
                where = f"{getattr(function, '__qualname__', function)}({', '.join(values)})"
                unrelated.append(f"{where}: {parameter}: {type(error).__name__}: {error}")
    assert not unrelated, "\n".join(unrelated)


def test_every_public_function_is_called(all_calls):
    """The calls include all functions in `__all__` of agents, analysis, datasets and solver."""
    called = {function for function, _ in all_calls}
    for package in (agents, analysis, datasets, solver):
        for name in package.__all__:
            function = getattr(package, name)
            if inspect.isfunction(function) and name != "names":
                assert function in called, name
