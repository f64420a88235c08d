"""Parts of the package that are compiled together: their state, and the estimated time to compile.

`warm_up.py` compiles the parts. For each part it saves the list of the entry kernels that the
process has compiled or loaded: a part is compiled if the cache has the present code of them all.
"""

from __future__ import annotations

import contextlib
import json
import math
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import import_module
from typing import Any

from bideuchre_env.agents.registry import combined
from bideuchre_env.runtime import jit

AGENT_PARTS = {
    "beginner": ("rule",),
    "rule": ("rule",),
    "expert": ("expert",),
    "ppo": ("ppo",),
    "net": ("expert", "net"),
    "pimc": ("expert", "search"),
    "inference": ("expert", "search"),
}
"""Parts whose kernels an agent of the package calls."""
SECONDS = {
    "claims": 14,
    "rule": 20,
    "ppo": 30,
    "expert": 63,
    "net": 87,
    "search": 210,
    "advice": 217,
}
"""Approximate processor seconds to compile a part with all that it needs, on one core of an AMD
EPYC. Parts with more seconds share most kernels of those with less."""
_in_process: set[str] = set()
"""Parts that this process has compiled."""


def agent_parts(names: Iterable[str]) -> tuple[str, ...]:
    """Return the parts whose kernels these agents call, without "game", which all matches need.

    The kernels of agents that are not built in are not known.
    """
    called = {part for name in names for own in combined(name) for part in AGENT_PARTS.get(own, ())}
    return tuple(part for part in SECONDS if part in called)


def advice_parts(names: Iterable[str]) -> tuple[str, ...]:
    """Return the parts that advice by these agents needs; `inference` evaluates the options."""
    return (*agent_parts([*names, "inference"]), "advice")


def is_compiled(part: str) -> bool:
    """Whether a part needs no compilation: it is saved, this process has compiled it, or no JIT."""
    return _missing(part) == 0


def mark_compiled(part: str) -> None:
    """Mark a part as compiled: for this process, and with its entry kernels in the cache folder."""
    _in_process.add(part)
    if jit.private:
        kernels = [(*name, types) for *name, each in _entries() for types in each]
        with contextlib.suppress(OSError):
            jit.FILES.write(_mark(part), json.dumps(kernels).encode())


def _entries() -> Iterator[tuple[str, str, list[str]]]:
    """Yield module, name and texts of argument types of the package's entry kernels in use."""
    for each in jit.ENTRIES:
        module, name = each.py_func.__module__, each.py_func.__name__
        if module.startswith("bideuchre_env.") and vars(sys.modules[module]).get(name) is each:
            yield module, name, jit.private.types_in_use(each)


def _mark(part: str) -> str:
    return f"compiled-{part}-{jit.cache_base()[:24]}"


def _missing(part: str) -> float:
    """Return the share of a part's entry kernels that are not compiled; 1 without a mark."""
    if not jit.JIT or part in _in_process:
        return 0
    mark = jit.FILES.read(_mark(part)) if jit.private else None
    if mark is None:
        return 1
    kernels = json.loads(mark)
    return sum(not _is_saved(*each) for each in kernels) / max(1, len(kernels))


def _is_saved(module: str, name: str, types: str) -> bool:
    try:
        kernel = getattr(import_module(module), name)
        return bool(jit.private.is_saved(kernel, types, _stamps()))
    except Exception:  # the mark is of another version of the package
        return False


@cache
def _stamps() -> Any:
    """Return the stamps of kernels when this process first asked for them."""
    return jit.private.Stamps()


def compile_seconds(parts: Iterable[str]) -> int:
    """Return the estimated seconds to compile the parts that are not compiled; 0 if all are."""
    left = {part: SECONDS[part] * _missing(part) for part in parts}
    most = max(left, key=left.__getitem__, default=None)
    if most is None or left[most] < SECONDS[most]:  # only some kernels of a part are missing
        return math.ceil(left[most]) if most else 0
    less = [part for part in SECONDS if SECONDS[part] < SECONDS[most]]
    return SECONDS[most] - max((SECONDS[part] for part in less if is_compiled(part)), default=0)


def compile_notice(parts: Iterable[str]) -> str:
    """Return a sentence with the estimated time to compile parts; "" if all are compiled."""
    once = ", once" if jit.FILES.writable else ""
    seconds = compile_seconds(parts)
    return f"Compiling kernels{once}: about {seconds} s left" if seconds else ""
