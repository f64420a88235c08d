"""Scripts of `experiments/` and `benchmarks/` as modules."""

import importlib
import sys
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[2]


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
