"""Reinforcement-learning environments for the Bid Euchre family of card games.

    env = bideuchre_env.cincinnati_v0()

Every variant is a callable with `.env`, `.raw_env`, `.vec` and `.rules`; `make` builds one from
options or from custom `Rules`. `__init__.pyi` is the table of the public names. The heavy ones are
imported when they are first used.
"""

from __future__ import annotations

import ast
from importlib import import_module
from pkgutil import get_data
from typing import Any

from bideuchre_env._deprecation import present_name
from bideuchre_env.envs.registration import register, variants

__version__ = "0.3.0"


def _sources() -> dict[str, tuple[str, str]]:
    """Read the imports in `__init__.pyi`: from public name to module and name in it."""
    sources = {}
    text = get_data(__name__, "__init__.pyi")  # also from a zip file
    for node in ast.parse(text or b"").body:
        if isinstance(node, ast.ImportFrom):
            [alias] = node.names
            sources[alias.asname or alias.name] = (str(node.module), alias.name)
        elif isinstance(node, ast.Assign):  # a public name that differs from the module's
            [target] = node.targets
            sources[ast.unparse(target)] = sources.pop(ast.unparse(node.value))
    return sources


_SOURCES = _sources()
__all__ = sorted([*_SOURCES, *variants])


def __getattr__(name: str) -> Any:
    present = present_name(name, __all__)
    if present in variants:
        return variants[present]
    if present not in _SOURCES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, attribute = _SOURCES[present]
    names = vars(import_module(module))
    return names[attribute] if attribute in names else import_module(f"{module}.{attribute}")


def __dir__() -> list[str]:
    return __all__


register()
