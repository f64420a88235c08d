"""What players play for: to win the game, by the score, or the points of each hand."""

from __future__ import annotations

from functools import wraps

import numpy as np
import pytest
from support.agent_games import SEARCH, searcher
from support.positions import CINCINNATI, Position

from bideuchre_env import agents, match
from bideuchre_env.agents.expert import tables
from bideuchre_env.agents.expert.agent import ExpertAgent
from bideuchre_env.agents.rule.win_curve import POINT_ALONE
from bideuchre_env.core.phases.scoring import played_points
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.errors import OptionError
from bideuchre_env.rules.cards import CARD_NAMES
from bideuchre_env.rules.variants import RULES
from bideuchre_env.runtime.jit import entry_kernel

WITH_GOALS = ("expert", *SEARCH)
QUICK = {"wanted": (0,) * 13}
FOR_POINTS = ("expert", {"goal": "points", **QUICK})
SCORES = ((0, 0), (28, 5), (0, 31), (-20, 31))


def per_hand(variant, one, other, boards, seed):
    """Points per hand on duplicate boards; the expert searches no last tricks."""
    sides = [agents.make(name, RULES[variant], **options) for name, options in (one, other)]
    return match.play(variant, *sides, boards=boards, seed=seed).boards.points_per_hand


def test_the_expert_for_points_is_ahead_of_the_rule_player():
    assert per_hand("cincinnati_v0", FOR_POINTS, ("rule", {}), 4000, seed=7).low > 0.3


@pytest.mark.parametrize("variant", ["cincinnati_v0", "simplified_v0", "barrie_v0"])
def test_who_plays_for_points_makes_no_fewer_than_who_plays_to_win(variant):
    """At no score, where the two agree on most hands.

    Of so many boards the interval is 0.01 to 0.03 either way: where both make as many, its low end
    is about that far below nothing. 0.06 leaves room for it, and for little else.
    """
    assert per_hand(variant, FOR_POINTS, ("expert", QUICK), 40_000, seed=8).low > -0.06


@pytest.mark.parametrize("variant", ["cincinnati_v0", "barrie_v0", "double_deck_v0"])
def test_for_points_no_call_depends_on_the_score(variant):
    """To win the game, some do: with a table of hands, and where the rule player's numbers bid."""
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
    """Ours less theirs, by the tricks of our side in a partnered contract of ours."""
    for won in range(len(points)):
        ours, theirs, _ = played_points(tables[0], level, won, True)
        points[won] = ours - theirs


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("name", SEARCH)
def test_a_searcher_values_the_end_of_a_hand_in_points(name, score):
    """Whatever the score; and what it plays out plays for points too."""
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


@pytest.mark.parametrize("name", WITH_GOALS)
def test_for_points_no_table_of_the_chance_to_win_is_worked_out(name, monkeypatch):
    monkeypatch.setattr(tables, "win_table", None)
    assert agents.make(name, CINCINNATI, goal="points").goal == "points"
    with pytest.raises(TypeError):
        agents.make(name, CINCINNATI)


@pytest.mark.parametrize("name", WITH_GOALS)
def test_a_goal_that_there_is_not_is_refused(name):
    for goal in ("win", "", 1, np.zeros(2)):
        with pytest.raises(OptionError, match=r"goal=.*: one of 'points', 'game'"):
            agents.make(name, CINCINNATI, goal=goal)
    assert agents.make(name, CINCINNATI).goal == "game"
    assert agents.make(f"{name}:goal=points", CINCINNATI, goal="game").goal == "points"


def test_a_match_asks_for_points_on_boards_and_for_the_game_in_games(monkeypatch):
    """Of whoever can play for either, unless its name says what for."""
    made, init = [], ExpertAgent.__init__

    @wraps(init)
    def watched(self, rules, **options):
        made.append(options["goal"])
        init(self, rules, **options)

    monkeypatch.setattr(ExpertAgent, "__init__", watched)
    match.play("six_card_v0", "expert", "rule", boards=2)
    assert set(made) == {"points"}
    made.clear()
    match.play("six_card_v0", "expert:goal=points", "expert", games=2)
    assert set(made) == {"points", "game"}
