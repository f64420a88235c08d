"""How to install an extra of the package, for every message; versions in use."""

from __future__ import annotations

import platform
import sys
from collections.abc import Mapping
from contextlib import suppress
from importlib import metadata
from typing import Any

PACKAGES = ("numpy", "numba", "llvmlite", "gymnasium", "pettingzoo")
PYTHON = {"openspiel": (3, 11), "tianshou": (3, 11)}
"""The minimum Python version of extras that install nothing on an older one."""


def how_to_install(extra: str) -> str:
    """Return the command that installs an extra, and its Python version if this one is too old."""
    major, minor = PYTHON.get(extra, (0, 0))
    late = f", with Python {major}.{minor} or later" if sys.version_info < (major, minor) else ""
    return f'pip install -e ".[{extra}]" in a checkout{late}'


def software() -> dict[str, Any]:
    """Return "system", "python" and "packages": this package and the installed ones of `PACKAGES`.

    Packages are mapped to their versions; none of `PACKAGES` is imported.
    """
    from bideuchre_env import __version__  # which imports this module

    versions = {"bideuchre_env": __version__}
    for name in PACKAGES:
        with suppress(metadata.PackageNotFoundError):
            versions[name] = metadata.version(name)
    return {
        "system": f"{platform.system()} {platform.machine()}",
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "packages": versions,
    }


def software_lines(facts: Mapping[str, Any]) -> str:
    """Format the facts of `software` for a bug report: a line for each package, then the rest."""
    packages = [f"{name} {version}" for name, version in facts["packages"].items()]
    return "\n".join([*packages, facts["python"], facts["system"]])
