"""Parts of a round of a table: each plays the rows that wait for some of the players.

`play_hands` plays hands on from any states.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from typing import Any, TypeAlias

import numpy as np

from bideuchre_env.agents.protocols import CompleteAgent
from bideuchre_env.agents.random_agents import RandomAgent
from bideuchre_env.agents.rule.agent import rule_workspace
from bideuchre_env.agents.table.simple import CAUTIOUS, RANDOM, RULE, new_draws
from bideuchre_env.core.observation.layout import layout_of
from bideuchre_env.core.rows import encode_rows
from bideuchre_env.core.table.answers import answer_rows, continue_rows, list_rows, require_legal
from bideuchre_env.core.table.loop import ASKED, OUTSIDE, Table, new_table
from bideuchre_env.rules import actions
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.devices import HostMemory
from bideuchre_env.runtime.jit import Array, direct
from bideuchre_env.runtime.threads import ThreadPool

Ask = Callable[[Array, Array], Array]
"""Returns choices, int64 (m,), for observations, int8 (m, D), and masks, int8 (m, A)."""
Where = Callable[[int, int], str]
"""Describes who has chosen in row j of the observations, which is row i of the table."""
Workspaces = Callable[[], tuple[Any, ...]]
"""Makes a kernel's own arguments, for one thread."""

_AGENTS, _TABLE = "bideuchre_env.agents", "bideuchre_env.agents.table"
_SIMPLE = f"{_TABLE}.simple"
KERNELS = {
    f"{_AGENTS}.random_agents.RandomAgent": (_SIMPLE, "advance_simple", RANDOM),
    f"{_AGENTS}.random_agents.CautiousAgent": (_SIMPLE, "advance_simple", CAUTIOUS),
    f"{_AGENTS}.rule.agent.RuleAgent": (_SIMPLE, "advance_simple", RULE),
    f"{_AGENTS}.expert.agent.ExpertAgent": (f"{_TABLE}.player", "advance_player", 0),
    f"{_AGENTS}.learned.net.NetAgent": (f"{_TABLE}.player", "advance_player", 0),
}
"""By class of an agent, the entry kernel that contains it, and its kind there."""
HOST = HostMemory()
_code: dict[Any, Any] = {}  # by entry kernel, and whether there are callers


def call(kernel: Any, table: Table, *arguments: Any) -> Any:
    """Call an entry kernel of a table's rows in host memory, without type checks.

    Its machine code is looked up once: that takes more than a millisecond.
    """
    key = kernel, table.callers is None
    if key not in _code:
        _code[key] = direct(kernel, table, *arguments)
    return _code[key](table, *arguments)


def kinds_of(players: int, kinds: dict[int, int]) -> Array:
    """Return the kinds of players 0 to `players` - 1, int64; `OUTSIDE` for those not in `kinds`."""
    return np.array([kinds.get(number, OUTSIDE) for number in range(players)], np.int64)


class KernelPart:
    """Plays some players by a kernel that contains them, in all rows of a table.

    `kinds` are those of the kernel; `workspaces()` returns its own arguments, for one thread.
    """

    def __init__(
        self,
        table: Table,
        kernel: Any,
        kinds: Array,
        workspaces: Workspaces,
        memory: Any = HOST,
        pool: ThreadPool | None = None,
    ) -> None:
        self.table, self.kernel, self.kinds = table, kernel, memory.put(kinds)
        self.memory, self.pool, self.n = memory, pool, len(table.states)
        # by the first row of a thread
        self.works: Any = defaultdict(lambda: memory.put(workspaces()))
        self.shares: dict[int, Any] = {}

    def play(self) -> int:
        """Play until no row waits for a player; return the number of decisions, 0 on a GPU."""
        if self.memory.name != "cpu":
            self.memory.run(self.kernel, self.n, self.table, self.kinds, *self.works[0])
            return 0
        if self.pool is None:
            return int(self._share(0, self.n))
        counts: list[int] = []
        self.pool.share(self.n, lambda *span: counts.append(self._share(*span)), whole=True)
        return sum(counts)

    def _share(self, start: int, stop: int) -> Any:
        """Play rows `start` to `stop` - 1, a thread's share."""
        if start not in self.shares:
            rest = self.table, self.kinds, *self.works[start], start
            self.shares[start] = partial(direct(self.kernel, *rest, stop), *rest)
        return self.shares[start](stop)


class AgentPart:
    """Asks an agent that is called from Python, one decision of each row that waits for it."""

    def __init__(
        self, table: Table, rules: Rules, number: int, players: int, ask: Ask, where: Where
    ) -> None:
        self.table, self.rules, self.number, self.players = table, rules, number, players
        self.ask, self.where = ask, where
        self._offsets = layout_of(rules).offsets
        self._widths = layout_of(rules).size, actions.of(rules).n
        self._outside = kinds_of(players, {})
        self._index = np.zeros(len(table.states), np.int64)

    def play(self) -> int:
        """Ask the agent once; return the number of its decisions.

        Raises `IllegalActionError` for an illegal action, before any is applied.
        """
        table = self.table
        m = int(list_rows(table.seating, ASKED, self.number, self._index))
        if not m:
            return 0
        index = self._index[:m]
        observations, masks = (np.empty((m, width), np.int8) for width in self._widths)
        encode_rows(table.states, table.tables, self._offsets, index, observations, masks)
        choices = self.ask(observations, masks)
        require_legal(self.rules, table.states, table.tables, index, choices, self.where)
        call(answer_rows, table, self._outside, index, choices)
        return m


Part: TypeAlias = KernelPart | AgentPart


def part_of(
    agent: CompleteAgent, asking: AgentPart, *, by_row: bool = False, with_rule: bool = False
) -> Part:
    """Return the part that plays an agent by a kernel, or `asking` if none contains it.

    A random agent draws its own numbers, unless `by_row`. `with_rule`: a rule player is at the
    table, and random ones share its kernel, so that one less is compiled.
    """
    if not is_contained(agent) or (isinstance(agent, RandomAgent) and not by_row):
        return asking
    kernel, kind, workspaces = container_of(agent, with_rule)
    kinds = kinds_of(asking.players, {asking.number: kind})
    return KernelPart(asking.table, kernel, kinds, workspaces)


def is_contained(agent: Any) -> bool:
    """Whether a kernel can play an agent; a random agent is then drawn from the rows' streams."""
    own = {"act_rows", "choose", "workspace"}
    return _class_of(agent) in KERNELS and own.isdisjoint(vars(agent))


def container_of(agent: Any, with_rule: bool = False) -> tuple[Any, int, Workspaces]:
    """Return the kernel that contains an agent, its kind there, and its new workspaces."""
    module, name, kind = KERNELS[_class_of(agent)]

    def workspaces() -> tuple[Any, ...]:
        if module != _SIMPLE:
            return (agent.workspace(),)
        rule = rule_workspace(agent.rules) if with_rule else None
        return new_draws(agent.n_actions), agent.workspace() if kind == RULE else rule

    return getattr(import_module(module), name), kind, workspaces


def _class_of(agent: Any) -> str:
    return f"{type(agent).__module__}.{type(agent).__qualname__}"


def play_hands(
    rules: Rules, states: Array, agents: Sequence[CompleteAgent], players: Array
) -> None:
    """Play hands on from `states`, STATE (n,), which change in place, until each is over.

    `players`, int (n, 4), has the index in `agents` of each seat's player, or `CALLER`: there the
    hand stops. Raises `IllegalActionError` for an illegal action.
    """
    table = new_table(rules, len(states))._replace(states=states)
    table.setup["pause"] = 1
    table.seating["seat"], table.seating["player"] = -1, players
    n, parts = len(agents), []
    for number, agent in enumerate(agents):
        where = partial("agent {!r}, row {}".format, agent.name)
        parts.append(part_of(agent, AgentPart(table, rules, number, n, agent.act_rows, where)))
    call(continue_rows, table, kinds_of(n, {}), np.arange(len(states)))
    while any(part.play() for part in parts):
        pass
