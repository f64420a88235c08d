"""Agents for every game of the family: `make("rule", rules)` makes one, `names()` lists them.

An agent's name is one of `names()`, `package.module:Agent` or `./file.py:Agent`. Options may follow
the name, as in `make("pimc:worlds=20,solved=4", rules)`; they are then part of the agent's name.

`advise(env)` recommends an action and explains it.

Heavy modules are imported when an agent is made. In the repository, `agents/README.md` compares the
agents.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from bideuchre_env.agents.making import agent_of, make
from bideuchre_env.agents.protocols import Agent, AgentSource, CompleteAgent, Goal
from bideuchre_env.agents.registry import names, parse, register

if TYPE_CHECKING:
    from bideuchre_env.agents.advice.advising import advise
    from bideuchre_env.agents.base import RowAgent

__all__ = [
    "Agent",
    "AgentSource",
    "CompleteAgent",
    "Goal",
    "RowAgent",
    "advise",
    "agent_of",
    "make",
    "names",
    "parse",
    "register",
]


def __getattr__(name: str) -> Any:
    if name == "RowAgent":  # its kernel needs the compiler
        return import_module("bideuchre_env.agents.base").RowAgent
    if name == "advise":
        return import_module("bideuchre_env.agents.advice").advise
    raise AttributeError(f"module 'bideuchre_env.agents' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
