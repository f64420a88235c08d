"""How to install an extra of the package: the text of every message and page; versions in use."""

from __future__ import annotations

import platform
import sys
from collections.abc import Mapping
from contextlib import suppress
from importlib import metadata
from typing import Any

ON_INDEX = False
"""Whether pip finds the package on an index; `.github/docs/install_text.py` writes the pages."""
PACKAGES = ("numpy", "numba", "llvmlite", "gymnasium", "pettingzoo")
PYTHON = {"openspiel": (3, 11), "tianshou": (3, 11)}
"""The minimum Python version of extras that install nothing on an older one."""


def command(extra: str = "") -> str:
    """Return the command of pip that installs the package, with an extra if there is one."""
    place = "bideuchre_env" if ON_INDEX else "."
    target = f'"{place}[{extra}]"' if extra else place
    return f"pip install {target}" if ON_INDEX else f"pip install -e {target}"


def how_to_install(extra: str) -> str:
    """Return the command that installs an extra, and its Python version if this one is too old."""
    place = "" if ON_INDEX else " in a checkout"
    major, minor = PYTHON.get(extra, (0, 0))
    late = f", with Python {major}.{minor} or later" if sys.version_info < (major, minor) else ""
    return command(extra) + place + late


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
