"""Old names of the package, of variants and of agents, which work for one minor version."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Container

RENAMED: dict[str, tuple[str, str]] = {}
"""From an old name to the present one, and the version without the old one."""
_CALLERS = ("bideuchre_env", "gymnasium", "pettingzoo", "importlib")


def present_name(name: str, names: Container[str]) -> str:
    """Return the present name, if it is one of `names`, for an old one; other names unchanged.

    For an old name there is a `DeprecationWarning`.
    """
    present, version = RENAMED.get(name, (name, ""))
    if present == name or present not in names:
        return name
    warn_old(name, present, version)
    return present


def warn_old(old: str, new: str, until: str) -> None:
    """Issue a `DeprecationWarning` that an old name works until this version."""
    words = f"{old} is now {new}; the old name works until bideuchre_env {until}"
    warnings.warn(words, DeprecationWarning, stacklevel=_user_level())


def _user_level() -> int:
    """Return the `stacklevel` of the user's code that has the old name."""
    frame, level = sys._getframe(1), 1
    while frame.f_back and frame.f_globals.get("__name__", "").split(".")[0] in _CALLERS:
        frame, level = frame.f_back, level + 1
    return level
