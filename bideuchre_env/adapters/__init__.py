"""Environments for other libraries' trainers: one module per library, each with its own extra.

It imports `envs` and the folders before it. A module is loaded on first access, for example
`bideuchre_env.adapters.openspiel`; if its library is missing, the error names the extra to install.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

MODULES = ("openspiel", "rllib", "sb3", "torchrl", "tianshou", "agilerl")
__all__ = ["MODULES"]  # not the modules: `import *` would need all their libraries


def __getattr__(name: str) -> Any:
    if name in MODULES:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*__all__, *MODULES})
