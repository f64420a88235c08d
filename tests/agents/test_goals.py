"""The goals of agents: points, or winning the game."""

import numpy as np
import pytest
from support.agent_games import SEARCH, searcher
from support.positions import CINCINNATI, Position

from bideuchre_env import agents
from bideuchre_env.agents.rule.win_curve import POINT_ALONE
from bideuchre_env.core.phases.scoring import played_points
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.errors import OptionError
from bideuchre_env.rules.cards import CARD_NAMES
from bideuchre_env.rules.variants import RULES
from bideuchre_env.runtime.jit import entry_kernel

SCORES = ((0, 0), (28, 5), (0, 31), (-20, 31))


@pytest.mark.parametrize("variant", ["cincinnati_v0", "barrie_v0", "double_deck_v0"])
def test_for_points_no_call_depends_on_the_score(variant):
    rules, rng = RULES[variant], np.random.default_rng(2)
    deck = np.repeat(np.array(CARD_NAMES[: rules.kinds]), rules.copies)
    changed = dict.fromkeys(("game", "points"), 0)
    for _ in range(40):
        hand = " ".join(rng.permutation(deck)[: rules.tricks])
        for goal in changed:
            calls = set()
            for score in SCORES:
                position = Position(rules, {1: hand}, score=score)
                position.agent = agents.make("expert", rules, goal=goal)
                calls.add(position.choice())
            changed[goal] += len(calls) > 1
    assert changed["points"] == 0 < changed["game"]


@entry_kernel
def fill_points(tables, level, points):
    """Write the declarer's point difference in a partnered contract, by its tricks."""
    for won in range(len(points)):
        ours, theirs, _ = played_points(tables[0], level, won, True)
        points[won] = ours - theirs


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("name", SEARCH)
def test_a_search_for_points_values_results_in_points(name, score):
    """At any score, a search with the goal points plays its playouts for points, too."""
    position = Position(CINCINNATI, {1: "JH JD AH KH QS 9C"}, score=score)
    position.do("bid 5, pass, pass, pass, trump H")
    agent = searcher(name, CINCINNATI, goal="points")
    row, mask = position.look()
    assert mask[agent.act(row, mask)]
    points = np.zeros(CINCINNATI.tricks + 1)
    fill_points(compile_tables(CINCINNATI), 2, points)  # a bid of 5
    assert agent.space.plans["by_tricks"][0][: len(points)] == pytest.approx(POINT_ALONE * points)
    for seat in (agent.space.expert, agent.space.players):
        assert seat.views["for_points"].tolist() == [1]


@pytest.mark.parametrize("name", ["expert", *SEARCH])
def test_an_unknown_goal_is_refused(name):
    for goal in ("win", "", 1, np.zeros(2)):
        with pytest.raises(OptionError, match=r"goal=.*: expected one of 'points', 'game'"):
            agents.make(name, CINCINNATI, goal=goal)
    assert agents.make(name, CINCINNATI).goal == "game"
    assert agents.make(f"{name}:goal=points", CINCINNATI, goal="game").goal == "points"
