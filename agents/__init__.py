"""Players for any game of the family: `make("rule", rules)` gives one, `names()` lists them.

An agent is named as one of those, `package.module:Agent` or `./file.py:Agent`, wherever one is
asked for; options that are numbers, words or paths may stand behind the name, as in
`make("pimc:worlds=20,solved=4", rules)`. All of that is then what the agent is called.

`advise(env)` says what one of them would do, and why.

Nothing heavy is imported until an agent is made. In the repository, `agents/README.md` tells the
agents apart.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from bideuchre_env.agents.making import agent_of, make
from bideuchre_env.agents.naming import parse
from bideuchre_env.agents.protocols import Agent, AgentSource, CompleteAgent, Goal
from bideuchre_env.agents.registry import names, register

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
