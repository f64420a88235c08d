"""Parts of the package that are compiled together: their state, and the estimated time to compile.

`warm_up.py` compiles the parts. This module imports no kernels, so that a command can print the
estimate before it imports them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from pathlib import Path

from bideuchre_env.agents.registry import parse
from bideuchre_env.runtime import jit

AGENT_PARTS = {
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
"""Parts that this process has compiled without a cache folder."""


def agent_parts(names: Iterable[str]) -> tuple[str, ...]:
    """Return the parts whose kernels these agents call, without "game", which all matches need.

    The kernels of agents that are not built in are not known.
    """
    called = {part for name in names for part in AGENT_PARTS.get(parse(name)[0], ())}
    return tuple(part for part in SECONDS if part in called)


def advice_parts(names: Iterable[str]) -> tuple[str, ...]:
    """Return the parts that advice by these agents needs; `inference` evaluates the options."""
    return (*agent_parts([*names, "inference"]), "advice")


def is_compiled(part: str) -> bool:
    """Whether a part is marked as compiled, or needs no compilation because JIT is off."""
    if jit.CACHE_FOLDER:
        return _marker(part).exists()
    return not jit.JIT or part in _in_process


def mark_compiled(part: str) -> None:
    """Mark a part as compiled: in the cache folder, or without it for this process."""
    if jit.CACHE_FOLDER:
        with contextlib.suppress(OSError):
            _marker(part).touch()
    else:
        _in_process.add(part)


def _marker(part: str) -> Path:
    return Path(jit.CACHE_FOLDER, f"compiled-{part}")


def compile_seconds(parts: Iterable[str]) -> int:
    """Return the estimated seconds to compile the parts that are not compiled; 0 if all are."""
    most = max((SECONDS[part] for part in parts if not is_compiled(part)), default=0)
    less = [part for part in SECONDS if SECONDS[part] < most]
    return most - max((SECONDS[part] for part in less if is_compiled(part)), default=0)


def compile_notice(parts: Iterable[str]) -> str:
    """Return a sentence with the estimated time to compile parts; "" if all are compiled."""
    once = ", once" if jit.CACHE_FOLDER else ""
    seconds = compile_seconds(parts)
    return f"Compiling kernels{once}: about {seconds} s left" if seconds else ""
