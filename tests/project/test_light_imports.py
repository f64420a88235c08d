"""Importing the package is quick, and changes nothing but the registries of environments."""

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


STATE = """
import os, signal, sys, warnings
def state():
    handlers = [signal.getsignal(number) for number in sorted(signal.valid_signals())]
    hooks = [sys.excepthook, sys.unraisablehook, sys.meta_path, sys.path, sys.path_hooks]
    return [*handlers, *map(repr, hooks), dict(os.environ)]
"""
PROGRAMS = ("bideuchre", "-c", "experiments/ladder.py", "bideuchre --help")


@pytest.mark.parametrize("program", PROGRAMS)
def test_importing_changes_no_handler_hook_or_path(program):
    """Ctrl-C stays Python's under every name of the program."""
    ask = (
        f"{STATE}sys.argv = {program.split()!r}; import gymnasium, pettingzoo, numba\n"
        "before = state(); import bideuchre_env, bideuchre_env.cli.main\n"
        "import bideuchre_env.runtime.jit, bideuchre_env.runtime.interrupts\n"
        "print([one for one in zip(before, state()) if one[0] != one[1]])\n"
        "print('bideuchre/Cincinnati-v0' in gymnasium.registry)"
    )
    done = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\nTrue\n"
