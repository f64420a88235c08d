"""Which contract a hand would be bid at, by the expert."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bideuchre_env.agents.advice.position import known_position
from bideuchre_env.agents.expert.agent import ExpertAgent
from bideuchre_env.core.one_row import look_row
from bideuchre_env.core.state import Phase
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.rules import actions
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.jit import Array

PLACES = {"first to call": 0, "last after three passes": 3}


def would_bid(cards: Sequence[str], rules: Rules) -> dict[str, str]:
    """The contract the expert bids with a hand at no score, "4 H" or "pass", by when it calls.

    Where the strain is named after the auction, it is the one that the expert would name.
    """
    expert, acts = ExpertAgent(rules), actions.of(rules)
    found = {}
    for words, before in PLACES.items():
        calls = ["pass"] * before
        if before and rules.all_pass == "eldest_forced":
            continue  # the first to call may not pass
        call = _choice(expert, known_position(rules, cards, calls=calls))
        name = acts.names[call]
        if call > 0 and acts.strains_per_bid == 1:
            calls = [*calls, name, *["pass"] * (3 - before)]
            rows = known_position(rules, cards, calls=calls, dealer=3 - before)
            if rows["phase"][0] == Phase.NAMING:
                strain = _choice(expert, rows) - acts.trump_offset
                name = str(acts.contract(call - 1, strain))
        found[words] = name.removeprefix("bid ")
    return found


def _choice(expert: ExpertAgent, rows: Array) -> int:
    """What the expert does there."""
    seen, mask = np.zeros(expert.layout.size, np.int8), np.zeros(expert.n_actions, np.int8)
    look_row(rows, compile_tables(expert.rules), expert.layout.offsets, seen, mask)
    return expert.act(seen, mask)
