"""How to install an extra of the package: the text of every message and page."""

from __future__ import annotations

import sys

ON_INDEX = False
"""Whether pip finds the package on an index; `.github/docs/install_text.py` writes the pages."""
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
