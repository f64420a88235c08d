"""Parts of a round of a table: each plays the rows that wait for some of the players."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from bideuchre_env.agents.table.simple import CAUTIOUS, RANDOM, RULE, new_draws
from bideuchre_env.core.rows import encode_rows
from bideuchre_env.core.table.answers import answer_rows, list_rows, require_legal
from bideuchre_env.core.table.records import ASKED, OUTSIDE, Table, Turn
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.jit import Array, direct

Ask = Callable[[Array, Array], Array]
"""Returns choices, int64 (m,), for observations, int8 (m, D), and masks, int8 (m, A)."""
Where = Callable[[int, int], str]
"""Describes who has chosen in row j of the observations, which is row i of the table."""

_AGENTS, _TABLE = "bideuchre_env.agents", "bideuchre_env.agents.table"
KERNELS = {
    f"{_AGENTS}.random_agents.RandomAgent": (f"{_TABLE}.simple", "advance_random", RANDOM),
    f"{_AGENTS}.random_agents.CautiousAgent": (f"{_TABLE}.simple", "advance_random", CAUTIOUS),
    f"{_AGENTS}.rule.agent.RuleAgent": (f"{_TABLE}.simple", "advance_rule", RULE),
    f"{_AGENTS}.expert.agent.ExpertAgent": (f"{_TABLE}.expert", "advance_expert", 0),
    f"{_AGENTS}.learned.net.NetAgent": (f"{_TABLE}.net", "advance_net", 0),
}
"""By class of an agent, the entry kernel that contains it, and its kind there."""
_code: dict[Any, Any] = {}  # by entry kernel


def call(kernel: Any, *arguments: Any) -> Any:
    """Call an entry kernel of a table's rows in host memory, without type checks.

    Its machine code is looked up once: that takes more than a millisecond.
    """
    if kernel not in _code:
        _code[kernel] = direct(kernel, *arguments)
    return _code[kernel](*arguments)


def kinds_of(players: int, kinds: dict[int, int]) -> Array:
    """Return the kinds of players 0 to `players` - 1, int64; `OUTSIDE` for those not in `kinds`."""
    return np.array([kinds.get(number, OUTSIDE) for number in range(players)], np.int64)


class KernelPart:
    """Plays the seats of an agent that a kernel contains, in all rows of a table."""

    def __init__(self, table: Table, number: int, players: int, agent: Any) -> None:
        module, name, kind = KERNELS[_class_of(agent)]
        self.table, self.kernel = table, getattr(import_module(module), name)
        self.kinds = kinds_of(players, {number: kind})
        self.works: tuple[Any, ...] = (new_draws(agent.n_actions),) if "simple" in module else ()
        if hasattr(agent, "workspace"):
            self.works += (agent.workspace(),)

    def play(self, turn: Turn) -> int:
        """Play until no row waits for the agent; return its number of decisions."""
        rows = 0, len(self.table.states)
        return int(call(self.kernel, self.table, turn, self.kinds, *self.works, *rows))


class AgentPart:
    """Asks an agent that is called from Python, one decision of each row that waits for it."""

    def __init__(
        self, table: Table, rules: Rules, number: int, players: int, ask: Ask, where: Where
    ) -> None:
        self.table, self.rules, self.number = table, rules, number
        self.ask, self.where = ask, where
        self._outside = kinds_of(players, {})
        self._index = np.zeros(len(table.states), np.int64)

    def play(self, turn: Turn) -> int:
        """Ask the agent once; return the number of its decisions.

        Raises `IllegalActionError` for an illegal action, before any is applied.
        """
        table = self.table
        m = int(list_rows(table.seating, ASKED, self.number, self._index))
        if not m:
            return 0
        index = self._index[:m]
        observations = np.empty((m, table.observations.shape[1]), np.int8)
        masks = np.empty((m, table.masks.shape[1]), np.int8)
        encode_rows(table.states, table.tables, table.offsets, index, observations, masks)
        choices = self.ask(observations, masks)
        require_legal(self.rules, table.states, table.tables, index, choices, self.where)
        call(answer_rows, table, turn, self._outside, index, choices)
        return m


def is_contained(agent: Any) -> bool:
    """Whether a kernel can play an agent; a random agent is then drawn from the rows' streams."""
    return _class_of(agent) in KERNELS and "act_rows" not in vars(agent)


def _class_of(agent: Any) -> str:
    return f"{type(agent).__module__}.{type(agent).__qualname__}"
