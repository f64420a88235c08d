"""Adapters without their libraries raise a one-line error with the extra; fixed options."""

import re
import sys
from pathlib import Path

import pytest
from gymnasium.vector import AutoresetMode
from support.commands import python

import bideuchre_env
from bideuchre_env import adapters
from bideuchre_env._install import PYTHON, how_to_install
from bideuchre_env.adapters import common
from bideuchre_env.errors import OptionError

LIBRARIES = {"openspiel": "pyspiel", "rllib": "ray", "sb3": "sb3_contrib"}
LIBRARIES |= {name: name for name in ("torchrl", "tianshou", "agilerl")}
WITHOUT = """
import sys
for name, library in {libraries!r}.items():
    sys.modules[library] = None
    for ask in (f"import bideuchre_env.adapters.{{name}}", f"bideuchre_env.adapters.{{name}}"):
        try:
            exec("import bideuchre_env; " + ask)
        except ModuleNotFoundError as error:
            print(error, error.__suppress_context__)
"""


def test_every_adapter_is_listed():
    assert bideuchre_env.adapters is adapters
    assert sorted(LIBRARIES) == sorted(adapters.MODULES)
    assert set(LIBRARIES) <= set(dir(adapters))
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        _ = adapters.nonsense


@pytest.mark.slow
def test_a_missing_library_is_one_line_that_names_the_extra():
    done = python("-c", WITHOUT.format(libraries=LIBRARIES))
    names = [name for name in LIBRARIES for _ in range(2)]
    for line, name in zip(done.stdout.splitlines(), names, strict=True):
        expected = (
            rf"bideuchre_env.adapters.{name} needs ({LIBRARIES[name]}|torch|tensordict)"
            rf"[\w.]*: {re.escape(how_to_install(name))} True"
        )
        assert re.fullmatch(expected, line)


def test_an_extra_that_an_older_python_cannot_install_says_so(monkeypatch):
    """The message names a Python version only for the extras that pyproject.toml limits."""
    text = Path(__file__).parents[2].joinpath("pyproject.toml").read_text(encoding="utf-8")
    limited = re.findall(r"^(\w+) = \[.*; python_version>='(\d+)\.(\d+)'\"", text, re.M)
    assert {name: (int(a), int(b)) for name, a, b in limited} == PYTHON
    for version, expected in (((3, 10, 4), ", with Python 3.11 or later"), ((3, 11, 0), "")):
        monkeypatch.setattr(sys, "version_info", version)
        line = f'openspiel needs pyspiel: pip install -e ".[openspiel]" in a checkout{expected}'
        with pytest.raises(ModuleNotFoundError) as error, common.needs("openspiel"):
            raise ModuleNotFoundError(name="pyspiel")
        assert str(error.value) == f"bideuchre_env.adapters.{line}"
        assert how_to_install("sb3") == 'pip install -e ".[sb3]" in a checkout'


def test_a_fixed_option_takes_its_own_value_only():
    fixed = {"observation": common.FLOATS, "autoreset_mode": "Disabled"}
    chosen = {"reward": "win", "autoreset_mode": AutoresetMode.DISABLED}
    usual = {"reward": "win", "observation": "flat", "autoreset_mode": "Disabled"}
    assert common.with_fixed(chosen, "TorchRL", **fixed) == usual
    other = {"observation": "features"}
    assert common.with_fixed(chosen | other, "TorchRL", **fixed) == usual | other
    for name, value, allowed in (
        ("observation", "dict", "'flat' or 'features'"),
        ("autoreset_mode", "SameStep", "'Disabled'"),
    ):
        with pytest.raises(OptionError, match=f"{name}='{value}': for TorchRL it is {allowed}"):
            common.with_fixed({name: value}, "TorchRL", **fixed)


def test_a_game_is_a_name_rules_or_a_variant():
    rules = bideuchre_env.barrie_v0.rules
    for game in ("barrie_v0", rules, bideuchre_env.barrie_v0):
        assert common.variant_of(game).rules == rules
