"""Importing the package is fast, and changes only the registries of environments."""

import pytest
from support.commands import python

LIGHT = ("errors", "rules.variants", "envs.registration", "", "adapters", "cli.main")
EXTRAS = "matplotlib PIL pyarrow minari h5py ray torch tensorboard aiohttp shtab"
TRAINERS = "pyspiel open_spiel stable_baselines3 sb3_contrib torchrl tensordict tianshou agilerl"


@pytest.mark.parametrize("name", LIGHT)
def test_importing_loads_neither_numba_nor_extras(name):
    """The import does not even search for these libraries."""
    module = f"bideuchre_env.{name}".rstrip(".")
    program = (
        "import sys; tried = set()\n"
        "class Watch:\n"
        "    find_spec = lambda name, *more: tried.add(name.partition('.')[0])\n"
        "sys.meta_path.insert(0, Watch)\n"
        f"import {module}; dir({module})\n"
        f"print(sorted({{'numba', *{EXTRAS.split()}, *{TRAINERS.split()}}} & tried))"
    )
    assert python("-c", program).stdout == "[]\n"


def test_a_public_module_is_imported_when_it_is_used():
    program = (
        "import sys, bideuchre_env; print('bideuchre_env.evaluation.match' in sys.modules)\n"
        "print(bideuchre_env.match.__name__)"
    )
    assert python("-c", program).stdout.split() == ["False", "bideuchre_env.evaluation.match"]


@pytest.mark.parametrize("program", ["bideuchre --help", "-c"])
def test_importing_changes_no_signal_handler_hook_or_path(program):
    """Ctrl-C stays Python's; the environments are registered with Gymnasium."""
    ask = (
        "import os, signal, sys, gymnasium, pettingzoo, numba\n"
        "def state():\n"
        "    handlers = [signal.getsignal(number) for number in sorted(signal.valid_signals())]\n"
        "    hooks = [sys.excepthook, sys.unraisablehook, sys.meta_path, sys.path]\n"
        "    return [*handlers, *map(repr, hooks), dict(os.environ)]\n"
        f"sys.argv = {program.split()!r}; before = state()\n"
        "import bideuchre_env, bideuchre_env.cli.main\n"
        "import bideuchre_env.runtime.jit, bideuchre_env.runtime.interrupts\n"
        "print([one for one in zip(before, state()) if one[0] != one[1]])\n"
        "print('bideuchre/Cincinnati-v0' in gymnasium.registry)"
    )
    assert python("-c", ask).stdout == "[]\nTrue\n"
