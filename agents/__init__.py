"""Agents for every game of the family: `make("rule", rules)` makes one, `names()` lists them.

An agent's name is one of `names()`, `package.module:Agent` or `./file.py:Agent`. Options may follow
the name, as in `make("pimc:worlds=20,solved=4", rules)`; they are then part of the agent's name. A
bot in another process is `cmd:PROGRAM ARGUMENTS`.

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
    from bideuchre_env.agents.bots.agent import CommandAgent
    from bideuchre_env.agents.feature_agent import FeatureAgent

__all__ = [
    "Agent",
    "AgentSource",
    "CommandAgent",
    "CompleteAgent",
    "FeatureAgent",
    "Goal",
    "RowAgent",
    "advise",
    "agent_of",
    "make",
    "names",
    "parse",
    "register",
]


_LATE = {  # modules that need the compiler, or much else
    "CommandAgent": "bideuchre_env.agents.bots.agent",
    "FeatureAgent": "bideuchre_env.agents.feature_agent",
    "RowAgent": "bideuchre_env.agents.base",
    "advise": "bideuchre_env.agents.advice",
}


def __getattr__(name: str) -> Any:
    if name in _LATE:
        return getattr(import_module(_LATE[name]), name)
    raise AttributeError(f"module 'bideuchre_env.agents' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
