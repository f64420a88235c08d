"""What an adapter says where the library it is for is not installed."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

PYTHON = {"openspiel": (3, 11), "tianshou": (3, 11)}
"""Extras that install nothing on an older Python."""


def how_to_install(extra: str) -> str:
    """The command that installs an extra, and the Python it takes where this one is too old."""
    major, minor = PYTHON.get(extra, (0, 0))
    late = f", with Python {major}.{minor} or later" if sys.version_info < (major, minor) else ""
    return f'pip install "bideuchre_env[{extra}]"{late}'


@contextmanager
def needs(extra: str) -> Iterator[None]:
    """Around an adapter's imports: a missing library is one line that names the extra."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"bideuchre_env.adapters.{extra} needs {error.name}: {how_to_install(extra)}",
            name=error.name,
        ) from None
