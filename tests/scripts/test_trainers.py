"""The scripts of `experiments/trainers/`, as files: their help, and the line without a library."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.util import find_spec

import pytest
from support.script_modules import ROOT

FOLDER = ROOT / "experiments" / "trainers"
NEEDS = {  # the library that is imported, and the extra it comes with
    "agilerl_ppo": ("agilerl", "agilerl"),
    "cleanrl_ppo": ("torch", "train"),
    "openspiel_ismcts": ("pyspiel", "openspiel"),
    "rllib_ppo": ("ray", "rllib"),
    "sb3_maskable_ppo": ("sb3_contrib", "sb3"),
    "tianshou_ppo": ("tianshou", "tianshou"),
    "torchrl_ppo": ("torchrl", "torchrl"),
}
ALSO_NEEDS = {"rllib_ppo": ("torch",)}  # the extra ray brings ray alone


def run(folder, *words):
    """What Python printed and its code, begun in a folder that is not the script's."""
    return subprocess.run([sys.executable, *words], cwd=folder, capture_output=True, text=True)


def test_every_script_is_tried():
    """Each that has a command line."""
    scripts = {
        path.stem for path in FOLDER.glob("*.py") if "class Args(" in path.read_text("utf-8")
    }
    assert scripts == set(NEEDS)


@pytest.mark.parametrize("name", NEEDS)
def test_it_runs_as_a_file(name, tmp_path):
    """`python experiments/trainers/NAME.py --help`, with what it needs."""
    for library in (NEEDS[name][0], *ALSO_NEEDS.get(name, ())):
        if not find_spec(library):
            pytest.skip(f"{library} is not installed")
    done = run(tmp_path, str(FOLDER / f"{name}.py"), "--help")
    assert done.returncode == 0, done.stderr
    assert f"usage: {name}.py" in done.stdout
    assert "--judges" in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_without_its_library_a_script_says_what_to_install(tmp_path):
    """One line, and code 2: all of them, one after another in one process."""
    missing = f"import runpy, sys; sys.path.insert(0, {str(FOLDER)!r})\n"
    for name, (library, _) in NEEDS.items():
        path = str(FOLDER / f"{name}.py")
        missing += f"saved = sys.modules.get({library!r}); sys.modules[{library!r}] = None\n"
        missing += f"try: runpy.run_path({path!r}, run_name='__main__')\n"
        missing += f"except SystemExit as end: print({name!r}, end.code)\n"
        missing += f"del sys.modules[{library!r}]\n"
        missing += f"if saved: sys.modules[{library!r}] = saved\n"
    done = run(tmp_path, "-c", missing)
    assert done.stdout.splitlines() == [f"{name} 2" for name in NEEDS], done.stderr
    for line, (name, (library, extra)) in zip(done.stderr.splitlines(), NEEDS.items(), strict=True):
        needed = rf"\w+ needs ({library}|torch|tensordict)[\w.]*: "
        expected = rf'{name}\.py: error: {needed}pip install "bideuchre_env\[{extra}\]".*'
        assert re.fullmatch(expected, line)
    assert list(tmp_path.iterdir()) == []
