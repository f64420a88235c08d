"""Commands, scripts and programs: run or imported in this process, or run in a subprocess."""

import importlib
import os
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

from bideuchre_env.cli import main as cli

TESTS = Path(__file__).parents[1]
ROOT = TESTS.parent
KEYS = (
    *("variant", "options", "agents", "boards", "hands", "points_per_hand", "games"),
    *("contracts", "decisions_per_second", "seed", "records"),
)
"""The keys of results that commands print as JSON."""


def run(*arguments: str) -> int:
    """Run `bideuchre` with these arguments, and return its exit status."""
    try:
        return cli.main(arguments)
    except SystemExit as end:
        return int(end.code or 0)


def python(*arguments, where=None, status=0, numba=None, text=None, **environment):
    """Run Python in a subprocess with this exit status; return the `CompletedProcess`.

    `numba` replaces the variables of this process that configure numba; `text` is its input.
    """
    outer = dict(os.environ)
    if numba is not None:
        outer = {name: value for name, value in outer.items() if not name.startswith("NUMBA_")}
    done = subprocess.run(
        [sys.executable, *map(str, arguments)],
        cwd=where,
        env=outer | (numba or {}) | environment,
        input=text,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == status, done.stdout[-5000:] + done.stderr[-3000:]
    return done


@contextmanager
def load_scripts(folder, *names):
    """Context manager: import the scripts `names` of a folder and yield the list of modules.

    `folder` is relative to the repository. At the end these modules, and those of the folder that
    they import, are removed from `sys.modules`.
    """
    path, before = str(ROOT / folder), set(sys.modules)
    sys.path.insert(0, path)
    try:
        modules = [importlib.import_module(name) for name in names]
    finally:
        sys.path.remove(path)
    try:
        yield modules
    finally:
        for name in set(sys.modules) - before:
            if str(getattr(sys.modules[name], "__file__", None)).startswith(path):
                del sys.modules[name]
