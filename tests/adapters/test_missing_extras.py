"""The room without its libraries: quick to import, and one line that says what to install."""

import re
import subprocess
import sys

import pytest

import bideuchre_env
from bideuchre_env import adapters

LIBRARIES = {
    "openspiel": "pyspiel",
    "rllib": "ray",
    "sb3": "stable_baselines3",
    "torchrl": "torchrl",
    "tianshou": "tianshou",
    "agilerl": "agilerl",
}


def test_every_adapter_is_listed():
    """As an attribute that `dir` tells of; any other name is an AttributeError."""
    assert bideuchre_env.adapters is adapters
    assert sorted(LIBRARIES) == sorted(adapters.MODULES)
    assert set(LIBRARIES) <= set(dir(adapters))
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        _ = adapters.nonsense


@pytest.mark.parametrize("name", LIBRARIES)
def test_a_missing_library_is_one_line_that_names_the_extra(name):
    """However the adapter is asked for."""
    library = LIBRARIES[name]
    for ask in (
        f"from bideuchre_env.adapters import {name}",
        f"import bideuchre_env.adapters.{name}",
        f"import bideuchre_env; bideuchre_env.adapters.{name}",
    ):
        code = f"import sys; sys.modules[{library!r}] = None\n{ask}"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        line = (
            f"ModuleNotFoundError: bideuchre_env.adapters.{name} needs ({library}|torch|tensordict)"
            rf'[\w.]*: pip install "bideuchre_env\[{name}\]"'
        )
        assert re.fullmatch(line, done.stderr.splitlines()[-1])
        assert "During handling" not in done.stderr
