"""Figures of a hand by strain, and the goals of agents."""

from __future__ import annotations

from functools import wraps

import numpy as np
import pytest
from support.agent_games import SEARCH, searcher
from support.kernels import callable_from_python
from support.positions import CINCINNATI, Position
from support.weighed_calls import expert_at, random_hand, weighed

from bideuchre_env import agents, match
from bideuchre_env.agents.expert.agent import ExpertAgent
from bideuchre_env.agents.expert.auction import CALLS
from bideuchre_env.agents.expert.call_network import NETWORK, new_network
from bideuchre_env.agents.expert.strains import find_best
from bideuchre_env.agents.rule.bidding import expected_tricks, lone_chance
from bideuchre_env.agents.rule.weights import load_weights
from bideuchre_env.agents.rule.win_curve import POINT_ALONE
from bideuchre_env.core.phases.scoring import played_points
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.errors import OptionError
from bideuchre_env.learning.view import read_view
from bideuchre_env.rules.bids import Bid
from bideuchre_env.rules.cards import CARD_NAMES, NO_TRUMP, SUITS
from bideuchre_env.rules.variants import RULES
from bideuchre_env.runtime.intrinsics import row_of
from bideuchre_env.runtime.jit import entry_kernel, new_rows

find_best = callable_from_python(find_best)

DOUBLE_DECK = RULES["double_deck_v0"]
SPADES = SUITS.index("S")


@entry_kernel
def tricks_by_rule(rows, work, strain):
    """The rule player's expected tricks of the first row's hand in a strain."""
    t, view = work.tables[0], work.views[0]
    read_view(row_of(rows, 0), t, work.offsets[0], view)
    return expected_tricks(view, t, work.learned.weights[0], strain, work.scratch[0])


@entry_kernel
def alone_by_rule(rows, work, strain, exchange):
    """The rule player's chance to make a lone bid."""
    t, view = work.tables[0], work.views[0]
    read_view(row_of(rows, 0), t, work.offsets[0], view)
    return lone_chance(view, t, work.learned.weights[0], strain, exchange, work.scratch[0])


def untaught(seed):
    """A network that changes nothing, but counts as fitted."""
    network = new_network()
    network["first"][0] = np.random.default_rng(seed).normal(0, 1, network["first"][0].shape)
    return network


@pytest.mark.parametrize("seed", range(2))
def test_tricks_of_a_large_deck_are_those_of_the_rule_player(seed):
    """A normal distribution around the rule player's expected tricks."""
    rng = np.random.default_rng(seed)
    position = expert_at(DOUBLE_DECK, {1: " ".join(random_hand(DOUBLE_DECK, rng))})
    position.agent = ExpertAgent(DOUBLE_DECK, network=untaught(seed))
    calls = weighed(position)
    work, row = position.agent.workspace(), position.look()[0]
    for strain in range(5):
        mean = tricks_by_rule(row[np.newaxis], work, strain)
        assert calls["table_mean"][strain] == pytest.approx(mean, abs=1e-9)
        spread = load_weights(24, 2)["deviation"][0, 0, int(strain == NO_TRUMP)]
        curve = np.exp(-0.5 * ((np.arange(13) - mean) / spread) ** 2)
        assert calls["chances"][strain, :13] == pytest.approx(curve / curve.sum(), abs=1e-9)
    assert (calls["lone"] == 0.0).all()


@pytest.mark.parametrize("shift", [-1e6, 1.0, 1e6])
def test_the_shift_of_a_network_is_added_to_the_tricks_within_their_range(shift):
    position = expert_at(DOUBLE_DECK, {1: "JS JC AS KS QS TS AH KH AD KD QC 9C"})
    network, means = untaught(0), []
    for constant in (0.0, shift):
        network["shifts"][0, :, 1] = constant
        position.agent = ExpertAgent(DOUBLE_DECK, network=network)
        calls = weighed(position)
        means.append(calls["means"].copy())
        chances = calls["chances"][:, : DOUBLE_DECK.tricks + 1]
        assert chances.sum(axis=1) == pytest.approx(np.ones(5))
    assert ((means[1] >= 0) & (means[1] <= DOUBLE_DECK.tricks)).all()
    assert abs(shift) > 1.0 or means[1] - means[0] == pytest.approx(np.ones(5), abs=0.1)


@pytest.mark.parametrize("number", [np.nan, np.inf, -1e9])
@pytest.mark.parametrize("part", NETWORK.names)
def test_networks_with_numbers_that_are_not_finite_are_refused(part, number):
    """Kernels would compute an index from them."""
    network = untaught(0)
    network[part][..., -1:] = number
    with pytest.raises(OptionError, match=f"network: {part} has a number that is not finite"):
        ExpertAgent(DOUBLE_DECK, network=network)


def test_lone_chances_of_a_large_deck_are_those_of_the_rule_player():
    """For each exchange of the ladder, in every strain."""
    lone = (Bid("call-2", value=20, exchange=2), Bid("moon", value=30))
    rules = DOUBLE_DECK.replace(lone=lone)
    position = expert_at(rules, {1: "JS JS JC JC AS AS KS KS QS QS TS TS"})
    position.agent = ExpertAgent(rules, network=untaught(0))
    calls, row = weighed(position), position.look()[0]
    for exchange in range(4):
        for strain in range(5):
            has = exchange in (0, 2)
            chance = alone_by_rule(row[np.newaxis], position.agent.workspace(), strain, exchange)
            assert calls["lone"][exchange, strain] == (chance if has else 0.0)
    assert calls["lone"][0].argmax() == SPADES
    assert calls["lone"][0].max() > 0.9


@pytest.mark.parametrize("tricks", [(7.0, 7.9, 5.0, 7.5, 4.0), (7.9, 7.0, 5.0, 7.5, 7.95)])
def test_strains_with_equal_lone_chances_are_ranked_by_tricks(tricks):
    b = new_rows(CALLS, 1)
    b["means"] = tricks
    b["lone"][0, 0] = (1.0, 1.0, 0.2, 1.0, 0.9)
    b["lone"][0, 1] = (0.0, 0.0, 0.0, 0.0, 0.0)
    b["lone"][0, 2] = (0.5, 0.4, 0.6, 0.6, 0.6)
    b["lone"][0, 3] = (0.1, 0.1, 0.1, 0.2, 0.1)
    find_best(b[0])
    most = int(np.argmax(tricks))
    assert b["best_lone"][0].tolist() == [
        int(np.argmax(tricks[:2])),
        most,
        int(np.argmax(tricks[2:])) + 2,
        3,
    ]
    assert b["ranked"][0].tolist() == np.argsort(-np.array(tricks)).tolist()


WITH_GOALS = ("expert", *SEARCH)
SCORES = ((0, 0), (28, 5), (0, 31), (-20, 31))


@pytest.mark.parametrize("variant", ["cincinnati_v0", "barrie_v0", "double_deck_v0"])
def test_for_points_no_call_depends_on_the_score(variant):
    """With the goal `game` some calls do."""
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
    """Write ours less theirs by the tricks of our side in our partnered contract."""
    for won in range(len(points)):
        ours, theirs, _ = played_points(tables[0], level, won, True)
        points[won] = ours - theirs


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("name", SEARCH)
def test_a_search_for_points_values_results_in_points(name, score):
    """At any score; its playouts play for points too."""
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
def test_an_unknown_goal_is_refused(name):
    for goal in ("win", "", 1, np.zeros(2)):
        with pytest.raises(OptionError, match=r"goal=.*: one of 'points', 'game'"):
            agents.make(name, CINCINNATI, goal=goal)
    assert agents.make(name, CINCINNATI).goal == "game"
    assert agents.make(f"{name}:goal=points", CINCINNATI, goal="game").goal == "points"


def test_a_match_sets_the_goal_unless_a_name_does(monkeypatch):
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
