"""The scripts of `experiments/` and `benchmarks/` as modules: no packages, but folders of files."""

from __future__ import annotations

import importlib
import sys
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[2]


@contextmanager
def loaded(folder, *names):
    """The modules of these scripts, which import their neighbours by plain names; gone after."""
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
