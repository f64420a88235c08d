"""Hidden information changes no decision of an agent.

The other hands, hidden exchanged cards and future deals are redrawn.
"""

import numpy as np
import pytest
from support.agent_games import LEARNED, SEARCH, look, redeals, searcher, shipped, varied_decisions

from bideuchre_env import agents
from bideuchre_env.core.state import AUCTION, GIVING, NAMING, PASSING, PLAY
from bideuchre_env.rules.variants import RULES

PLAN_FIELDS = ("n", "actions", "sums", "squares", "total")


def phases_of(rules):
    """The phases with decisions in this game."""
    phases = {AUCTION, PLAY}
    if rules.strain_named == "after_auction":
        phases.add(NAMING)
    if any(bid.exchange for bid in rules.lone):
        phases |= {GIVING, PASSING}
    return phases


def plan_bytes(agent):
    """The results of a searcher's last decision, as bytes."""
    return [agent.space.plans[part].tobytes() for part in PLAN_FIELDS]


@pytest.mark.parametrize(
    ("name", "variant"),
    [
        (name, variant)
        for name in ("rule", "expert", *LEARNED, *SEARCH)
        for variant in (shipped(name) if name in LEARNED else RULES)
    ],
)
def test_hidden_cards_change_no_decision(name, variant):
    """Decisions and search results stay equal in every phase of every game."""
    rules, moved, phases = RULES[variant], 0, set()
    search = name in SEARCH
    agent = searcher(name, rules, seed=4, worlds=4) if search else agents.make(name, rules)
    cases = varied_decisions(rules, 30 if search else 60, seed=9)
    for number, (row, mask, state) in enumerate(cases):
        twin = redeals(rules, state, 1, seed=number)
        again, same_mask = look(rules, twin, np.arange(1))
        assert np.array_equal(again[0], row)
        assert np.array_equal(same_mask[0], mask)
        chosen = agent.act(row, mask)
        plan = plan_bytes(agent) if search else None
        assert agent.act(again[0], same_mask[0]) == chosen
        assert plan is None or plan == plan_bytes(agent)
        moved += not np.array_equal(twin[0]["hands"], state["hands"])
        phases.add(int(state["phase"]))
    assert moved > len(cases) // 2
    assert phases == phases_of(rules)
