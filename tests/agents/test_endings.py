"""Enumerated worlds of an ending: all of them, each with its probability."""

import numpy as np
import pytest
from support.agent_games import decisions, lone_decisions, play_on, searcher, start
from support.exact_worlds import assert_possible, exact_worlds
from support.kernels import callable_from_python

from bideuchre_env import agents
from bideuchre_env.agents.search.candidates import begin
from bideuchre_env.agents.search.endings import TOO_MANY, coprime, list_worlds, open_listing
from bideuchre_env.agents.search.sampler import LISTED
from bideuchre_env.agents.search.workspace import MOST_UNKNOWN
from bideuchre_env.core.state import PLAY
from bideuchre_env.rules.variants import RULES

coprime = callable_from_python(coprime)


def listed(agent, row, mask, wanted):
    """The weights of the enumerated worlds by their hands; None where there are too many."""
    begin(agent.space, row[np.newaxis], mask[np.newaxis], 0)
    if agent.space.plans["n"][0] < 2 or open_listing(agent.space) > LISTED:
        return None
    weights = np.zeros(wanted)
    list_worlds(agent.space, wanted, weights)
    worlds = agent.space.kept[np.flatnonzero(weights)]
    assert_possible(agent.space, worlds[:5], row)
    hands = [tuple(map(int, world["hands"][1:])) for world in worlds]
    assert len(set(hands)) == len(hands)  # each world is listed once
    return dict(zip(hands, weights[np.flatnonzero(weights)], strict=True))


def endings(unknown, found):
    """The decisions in the play with at most so many unseen cards."""
    for row, mask, state in found:
        others = [seat for seat in range(4) if seat != int(state["turn"])]
        left = sum(int(state["hands"][seat]).bit_count() for seat in others)
        if state["phase"] == PLAY and mask.sum() > 1 and left <= unknown:
            yield row, mask, state


@pytest.mark.parametrize(
    ("variant", "hands"), [("cincinnati_v0", 12), ("simplified_v0", 10), ("double_deck_v0", 6)]
)
def test_enumerated_worlds_have_their_exact_probabilities(variant, hands):
    rules, compared, several = RULES[variant], 0, 0
    agent = searcher("inference", rules)
    for row, mask, _ in endings(8, decisions(rules, hands, seed=11, hands=2)):
        weights = listed(agent, row, mask, 5000)
        if weights is None:
            continue
        exact = exact_worlds(agent.space, rules)
        for hands_of in exact.keys() | weights.keys():
            share = weights.get(hands_of, 0.0) / 5000
            assert share == pytest.approx(exact[hands_of], rel=1e-6, abs=1.01e-4)
        compared += 1
        several += max(exact.values()) < 0.5
    assert compared > 12
    assert several > 4


@pytest.mark.parametrize("variant", ["cincinnati_v0", "barrie_v0"])
def test_of_many_worlds_each_is_sampled_in_proportion_to_its_probability(variant):
    """By systematic sampling: within one of its expected number."""
    rules, compared = RULES[variant], 0
    agent = searcher("inference", rules)
    for row, mask, _ in endings(9, decisions(rules, 12, seed=14, hands=2, every=2)):
        few = listed(agent, row, mask, 40)
        if few is None or agent.space.listings["n_worlds"][0] <= 40:
            continue
        assert sum(few.values()) == 40
        squares = sum(weight**2 for weight in few.values())
        assert agent.space.plans["alike"][0] * squares == pytest.approx(40)
        every = listed(agent, row, mask, 9000)
        for hands_of, weight in few.items():
            assert abs(weight - 40 * every.get(hands_of, 0.0) / 9000) < 1 + 1e-3
        for hands_of, weight in every.items():
            assert few.get(hands_of, 0.0) > 40 * weight / 9000 - 1 - 1e-3
        compared += 1
    assert compared > 5


def test_where_all_worlds_are_tried_the_best_card_is_played():
    """Without regard to standard errors or the net's prior."""
    rules, compared, overruled = RULES["cincinnati_v0"], 0, 0
    agent = searcher("inference", rules, worlds=60)
    for row, mask, _ in endings(9, decisions(rules, 60, seed=21, hands=2)):
        action, plan = agent.act(row, mask), agent.space.plans[0]
        if plan["all_worlds"] == 0.0:
            continue
        n = int(plan["n"])
        sums = dict(zip(plan["actions"][:n].tolist(), plan["sums"][:n], strict=True))
        assert plan["total"] == pytest.approx(agent.worlds)
        assert sums[action] == pytest.approx(max(sums.values()), abs=1e-9 * agent.worlds)
        compared += 1
        overruled += action != plan["expert_action"]
    assert compared > 20
    assert overruled > 0


def test_worlds_are_not_enumerated_where_exchanged_cards_are_hidden():
    """Cards given up, or passed to an opponent; nor with too many unseen cards."""
    rules, hidden, plain = RULES["barrie_v0"], 0, 0
    agent = searcher("inference", rules)
    for row, mask, state in lone_decisions(rules, "call-2", 6, seed=12):
        if state["phase"] != PLAY or mask.sum() < 2:
            continue
        begin(agent.space, row[np.newaxis], mask[np.newaxis], 0)
        ways, own = open_listing(agent.space), state["turn"] == state["declarer"]
        others = [seat for seat in range(4) if seat != int(state["turn"])]
        left = sum(int(state["hands"][seat]).bit_count() for seat in others)
        assert (ways < TOO_MANY) == (bool(own) and left <= MOST_UNKNOWN)
        hidden += not own
        plain += ways < TOO_MANY
    assert hidden > 5
    assert plain > 0


@pytest.mark.parametrize("n", [0, 1, 2, 12, 999, 10_000])
def test_the_stride_through_worlds_is_coprime_to_their_number(n):
    stride = coprime(n)
    assert len({i * stride % n for i in range(n)}) == n


def test_worlds_are_sampled_where_none_explains_the_play():
    """The play of cautious players, with a model in which the expert makes no errors."""
    rules, seen, nothing = RULES["cincinnati_v0"], [], 0
    agent = searcher("inference", rules, worlds=10)
    agent.space.choice_models["follow"] = agent.space.choice_models["lead"] = 1e-200
    cautious = [agents.make("cautious", rules, seed=seed) for seed in (1, 2)]
    play_on(rules, start(rules, 30), cautious, watch=lambda *seats: seen.append(seats))
    for rows, masks, _ in seen:
        for row, mask in zip(rows, masks, strict=True):
            if not mask[-rules.kinds :].any() or mask.sum() < 2:
                continue
            begin(agent.space, row[np.newaxis], mask[np.newaxis], 0)
            if open_listing(agent.space) > LISTED:
                continue
            weights = np.zeros(10)
            if not list_worlds(agent.space, 10, weights):
                assert not weights.any()
                assert mask[agent.act(row, mask)]
                assert np.isfinite(agent.space.plans["sums"]).all()
                nothing += 1
    assert nothing > 0
