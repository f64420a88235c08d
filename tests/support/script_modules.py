"""Scripts of `experiments/` and `benchmarks/` as modules."""

from __future__ import annotations

import importlib
import sys
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[2]


@contextmanager
def load_scripts(folder, *names):
    """Context manager: import scripts of a folder and yield the modules, in a list.

    Afterwards they are dropped from `sys.modules`.
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
