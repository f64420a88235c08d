"""What a seat sees in the play: straight from the state, and by way of its observation."""

import numpy as np
import pytest
from support.agent_games import look, random_rules, start

from bideuchre_env import agents
from bideuchre_env.agents.search.seeing import see_play
from bideuchre_env.core.observation.layout import layout_of
from bideuchre_env.core.rows import apply_rows, deal_rows
from bideuchre_env.core.state import DEAL, PLAY
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.learning.view import VIEW, read_view
from bideuchre_env.rules.variants import RULES
from bideuchre_env.runtime.intrinsics import row_of
from bideuchre_env.runtime.jit import entry_kernel, new_rows

FIELDS = (
    "phase", "dealer", "level", "strain", "declarer", "sitting_out", "tricks_won", "held",
    "held_pair", "unseen", "unseen_pair", "n_unseen", "trumps", "void", "led", "winning",
    "winning_kind", "cards_left", "after", "thrown",
)  # fmt: skip
"""All that the rules of play go by."""


@entry_kernel
def see_both(states, i, tables, offsets, observations, views):
    """Fill view 0 from row i of the states, and view 1 from row 0 of the observations."""
    s, gone, gone_pair = states[i], 0, 0
    for n in range(len(s.plays)):
        if s.plays[n] >= 0:
            gone_pair |= gone & 1 << s.plays[n]
            gone |= 1 << s.plays[n]
    see_play(s, tables[0], gone, gone_pair, views[0])
    read_view(row_of(observations, 0), tables[0], offsets[0], views[1])


def compared(rules, seed, hands=2):
    """Play some hands and compare all that is seen in them; how often something was."""
    states, tables, offsets = start(rules, 3, seed=seed), compile_tables(rules), layout_of(rules)
    views, n = new_rows(VIEW, 2), 0
    players = [agents.make(name, rules, seed=seed) for name in ("cautious", "random", "rule")]
    for hand in range(hands):
        while len(live := np.flatnonzero(np.asarray(states["phase"]) < DEAL)):
            rows, masks = look(rules, states, live)
            for i, row in zip(live, rows, strict=True):
                if states["phase"][i] == PLAY:
                    see_both(states, int(i), tables, offsets.offsets, row[np.newaxis], views)
                    for name in FIELDS:
                        assert np.array_equal(views[name][0], views[name][1]), name
                    n += 1
            apply_rows(states, tables, live, players[hand % 3].act_rows(rows, masks))
        deal_rows(states, tables)
    return n


@pytest.mark.parametrize("variant", RULES)
def test_a_state_shows_what_its_observation_shows(variant):
    assert compared(RULES[variant], seed=4, hands=6) > 200


def test_and_so_in_custom_games():
    """With exchanges, one deck or two, seats that sit out."""
    rng = np.random.default_rng(5)
    assert sum(compared(random_rules(rng), seed=game) for game in range(15)) > 500
