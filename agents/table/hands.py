"""Hands that agents play on from any states."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from bideuchre_env.agents.protocols import CompleteAgent
from bideuchre_env.agents.table.parts import AgentPart, call, kinds_of, part_of
from bideuchre_env.core.table.answers import continue_rows
from bideuchre_env.core.table.loop import new_table
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.jit import Array


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
