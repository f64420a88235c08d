"""The package is quick to import: no compiler and no extra is loaded before it is needed."""

from __future__ import annotations

import subprocess
import sys

import pytest

LIGHT = (
    "errors",
    "rules.rules",
    "rules.variants",
    "envs.registration",
    "__init__",
    "adapters",
    "cli.main",
)
EXTRAS = "matplotlib PIL pyarrow minari h5py ray torch tensorboard aiohttp"
TRAINERS = "pyspiel open_spiel stable_baselines3 sb3_contrib torchrl tensordict tianshou agilerl"


@pytest.mark.parametrize("name", LIGHT)
def test_importing_is_light(name):
    """Importing it and listing its names loads none of them; nor is any looked for, installed or
    not.
    """
    module = {"__init__": "bideuchre_env"}.get(name, f"bideuchre_env.{name}")
    ask = (
        "import sys; tried = set()\n"
        "class Watch:\n"
        "    find_spec = lambda name, *more: tried.add(name.partition('.')[0])\n"
        "sys.meta_path.insert(0, Watch)\n"
        f"import {module}; dir({module})\n"
        f"print(sorted({{'numba', *{EXTRAS.split()}, *{TRAINERS.split()}}} & tried))"
    )
    done = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
