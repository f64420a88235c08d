"""The view of the play that is read from a state row, against the one from an observation."""

import numpy as np
import pytest
from support.agent_games import live_rows, look, random_rules, start

from bideuchre_env import agents
from bideuchre_env.agents.search.seeing import see_play
from bideuchre_env.core.observation.layout import layout_of
from bideuchre_env.core.rows import apply_rows, deal_rows
from bideuchre_env.core.state import PLAY
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
CUSTOM = [random_rules(np.random.default_rng(seed)) for seed in range(15)]


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


@pytest.mark.parametrize("games", [*([rules] for rules in RULES.values()), CUSTOM])
def test_a_state_gives_the_view_that_its_observation_gives(games):
    views, compared = new_rows(VIEW, 2), 0
    for rules in games:
        states, tables, layout = start(rules, 3, seed=4), compile_tables(rules), layout_of(rules)
        players = [agents.make(name, rules, seed=4) for name in ("cautious", "random", "rule")]
        for player in players:
            while len(live := live_rows(states)):
                rows, masks = look(rules, states, live)
                for i, row in zip(live, rows, strict=True):
                    if states["phase"][i] == PLAY:
                        see_both(states, int(i), tables, layout.offsets, row[np.newaxis], views)
                        for name in FIELDS:
                            assert np.array_equal(views[name][0], views[name][1]), name
                        compared += 1
                apply_rows(states, tables, live, player.act_rows(rows, masks))
            deal_rows(states, tables)
    assert compared > 100
