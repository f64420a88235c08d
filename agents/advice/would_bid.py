"""The bids of agent `expert` with a hand, at score 0-0."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bideuchre_env.agents.advice.position import known_position
from bideuchre_env.agents.expert.agent import ExpertAgent
from bideuchre_env.core.one_row import look_row, step_row
from bideuchre_env.core.state import Phase
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.rules import actions
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.jit import Array

PLACES = {"first to call": 0, "last after three passes": 3}  # number of passes before the call


def would_bid(cards: Sequence[str], rules: Rules) -> dict[str, str]:
    """Return the bids of agent `expert` with a hand at score 0-0, such as "4 H" or "pass".

    The keys of the dict are "first to call" and "last after three passes"; the second is missing if
    the first seat may not pass. If strains are named after the auction, the bid includes the strain
    that the expert would name.
    """
    expert, acts = ExpertAgent(rules), actions.of(rules)
    result = {}
    for words, before in PLACES.items():
        calls = ["pass"] * before
        if before and rules.all_pass == "eldest_forced":
            continue  # the first to call may not pass
        rows = known_position(rules, cards, calls=calls, dealer=3 - before)
        call = _choice(expert, rows)
        name = acts.names[call]
        named = int(compile_tables(rules)[0]["call_strains"][call]) >= 0
        if call > 0 and not named:
            step_row(rows, compile_tables(rules), call)
            while rows["phase"][0] == Phase.AUCTION:
                step_row(rows, compile_tables(rules), 0)  # the others pass
            if rows["phase"][0] == Phase.NAMING:
                strain = _choice(expert, rows) - acts.trump_offset
                name = str(acts.contract(acts.first_of_bid.index(call), strain))
        result[words] = name.removeprefix("bid ")
    return result


def _choice(expert: ExpertAgent, rows: Array) -> int:
    """Return the expert's action for the seat to act in row 0."""
    seen, mask = np.zeros(expert.layout.size, np.int8), np.zeros(expert.n_actions, np.int8)
    look_row(rows, compile_tables(expert.rules), expert.layout.offsets, seen, mask)
    return expert.act(seen, mask)
