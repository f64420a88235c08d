"""Nothing a seat cannot see changes what it does: neither one decision nor how decisions spread.

The other hands, the cards put aside in an exchange and the deals to come are drawn anew.
"""

from collections import Counter

import numpy as np
import pytest
from support.agent_games import LEARNED, SEARCH, decisions, lone_decisions, look, searcher, shipped

from bideuchre_env import agents
from bideuchre_env.core.observation.resample import new_redeal, resample_row
from bideuchre_env.core.phases.deal import split_seed
from bideuchre_env.core.state import AUCTION, GIVING, NAMING, PASSING, PLAY, new_states
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.rules.variants import RULES

WHAT_IS_TRIED = ("n", "actions", "sums", "squares", "total")
SEEDS = range(10)


def phases_of(rules):
    """The phases in which somebody decides in this game."""
    phases = {AUCTION, PLAY}
    if rules.strain_named == "after_auction":
        phases.add(NAMING)
    if any(bid.exchange for bid in rules.lone):
        phases |= {GIVING, PASSING}
    return phases


def met(rules, most, seed):
    """Decisions with a choice, up to so many of each phase, calls for cards among them."""
    found = decisions(rules, 3, seed=seed, hands=2)
    for bid in rules.lone:
        if bid.exchange:
            found += lone_decisions(rules, bid.name, 2, seed=seed)
    kept = []
    for phase in sorted(phases_of(rules)):
        of_phase = [d for d in found if d[2]["phase"] == phase and d[1].sum() > 1]
        assert of_phase, f"no choice was met in phase {phase}"
        kept += of_phase[:: max(1, len(of_phase) // most)][:most]
    return kept


def redrawn(rules, state, number):
    """Row and mask of the seat to act, with all it cannot know drawn anew."""
    twin = new_states(1)
    twin[0] = state
    resample_row(
        twin, compile_tables(rules), int(state["turn"]), new_redeal(),
        *split_seed(number),
    )  # fmt: skip
    moved = not np.array_equal(twin[0]["hands"], state["hands"])
    rows, masks = look(rules, twin, np.arange(1))
    return rows[0], masks[0], moved


def tried(agent):
    """What a searcher has worked out on the way to its decision, as bytes."""
    return [agent.space.plans[part].tobytes() for part in WHAT_IS_TRIED]


@pytest.mark.parametrize(
    ("name", "variant"),
    [
        (name, variant)
        for name in ("rule", "expert", *LEARNED, *SEARCH)
        for variant in (shipped(name) if name in LEARNED else RULES)
    ],
)
def test_hidden_cards_change_no_decision(name, variant):
    """In every phase of every game, nor anything a searcher has worked out."""
    rules, moved = RULES[variant], 0
    search = name in SEARCH
    agent = searcher(name, rules, seed=4, worlds=4) if search else agents.make(name, rules)
    found = met(rules, 30 if search else 60, seed=9)
    for number, (row, mask, state) in enumerate(found):
        again, same_mask, differs = redrawn(rules, state, number)
        assert np.array_equal(again, row)
        assert np.array_equal(same_mask, mask)
        chosen = agent.act(row, mask)
        worked_out = tried(agent) if search else None
        assert agent.act(again, same_mask) == chosen
        assert worked_out == (tried(agent) if search else None)
        moved += differs
    assert moved > len(found) // 2


@pytest.mark.parametrize("name", SEARCH)
@pytest.mark.parametrize("variant", ["cincinnati_v0", "barrie_v0"])
def test_decisions_spread_alike_whatever_is_hidden(name, variant):
    """Over seeds a searcher chooses now this, now that: as often, with the hidden cards redrawn
    before each choice."""
    rules, uncertain = RULES[variant], 0
    players = [searcher(name, rules, seed=seed) for seed in SEEDS]
    for number, (row, mask, state) in enumerate(met(rules, 4, seed=3)):
        plain = Counter(player.act(row, mask) for player in players)
        twins = [redrawn(rules, state, 100 * number + seed) for seed in SEEDS]
        pairs = zip(players, twins, strict=True)
        assert plain == Counter(player.act(*twin[:2]) for player, twin in pairs)
        uncertain += len(plain) > 1
    assert uncertain > 0
