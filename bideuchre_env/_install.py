"""How to install an extra of the package: the text of every message and page."""

from __future__ import annotations

import sys

ON_INDEX = False
"""Whether pip finds the package on an index; a test compares the pages with it."""
PYTHON = {"openspiel": (3, 11), "tianshou": (3, 11)}
"""The minimum Python version of extras that install nothing on an older one."""


def how_to_install(extra: str) -> str:
    """Return the command that installs an extra, and its Python version if this one is too old."""
    command = f'pip install "bideuchre_env[{extra}]"'
    if not ON_INDEX:
        command = f'pip install -e ".[{extra}]" in a checkout'
    major, minor = PYTHON.get(extra, (0, 0))
    late = f", with Python {major}.{minor} or later" if sys.version_info < (major, minor) else ""
    return command + late
