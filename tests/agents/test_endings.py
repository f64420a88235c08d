"""The worlds of an ending are all there, each as likely as when they are weighed one by one."""

import numpy as np
import pytest
from support.agent_games import decisions, lone_decisions, play_on, searcher, start
from support.exact_worlds import exact_worlds, put_in
from support.kernels import callable_from_python

from bideuchre_env import agents
from bideuchre_env.agents.search.candidates import begin
from bideuchre_env.agents.search.endings import (
    TOO_MANY,
    coprime,
    list_worlds,
    open_listing,
)
from bideuchre_env.agents.search.sampler import LISTED
from bideuchre_env.agents.search.workspace import MOST_UNKNOWN
from bideuchre_env.core import one_row
from bideuchre_env.core.state import PLAY
from bideuchre_env.core.validity import checked_states
from bideuchre_env.rules.variants import RULES

coprime = callable_from_python(coprime)


def listed(agent, row, mask, wanted):
    """The worlds kept where all are listed, by their hands, and their weights; None elsewhere."""
    begin(agent.space, row[np.newaxis], mask[np.newaxis], 0)
    if agent.space.plans["n"][0] < 2 or open_listing(agent.space) > LISTED:
        return None
    weights = np.zeros(wanted)
    list_worlds(agent.space, wanted, weights)
    kept = np.flatnonzero(weights)
    hands = [tuple(map(int, world["hands"][1:])) for world in agent.space.kept[kept]]
    assert len(set(hands)) == len(hands)  # each world is listed once
    return dict(zip(hands, weights[kept], strict=True))


def endings(variant, unknown, found):
    """Of decisions, those in the play with so many cards that are not known, or fewer."""
    for row, mask, state in found:
        others = [seat for seat in range(4) if seat != int(state["turn"])]
        left = sum(int(state["hands"][seat]).bit_count() for seat in others)
        if state["phase"] == PLAY and mask.sum() > 1 and left <= unknown:
            yield row, mask, state


@pytest.mark.parametrize(
    ("variant", "hands"), [("cincinnati_v0", 12), ("simplified_v0", 10), ("double_deck_v0", 6)]
)
def test_worlds_weigh_what_they_are_likely(variant, hands):
    """Beside every deal of the cards, one copy told from the other, weighed by itself."""
    rules, compared, several = RULES[variant], 0, 0
    agent = searcher("inference", rules)
    for row, mask, _ in endings(variant, 8, decisions(rules, hands, seed=11, hands=2)):
        kept = listed(agent, row, mask, 5000)
        if kept is None:
            continue
        exact = exact_worlds(agent.space, rules)
        for hands_of in exact.keys() | kept.keys():
            share = kept.get(hands_of, 0.0) / 5000
            assert share == pytest.approx(exact[hands_of], rel=1e-6, abs=1.01e-4)
        compared += 1
        several += max(exact.values()) < 0.5
    assert compared > 12
    assert several > 4


@pytest.mark.parametrize("variant", ["cincinnati_v0", "barrie_v0"])
def test_of_many_worlds_each_is_kept_as_often_as_it_is_likely(variant):
    """Marks lie evenly over all, so a world has as many as it is worth, or one more or less."""
    rules, compared = RULES[variant], 0
    agent = searcher("inference", rules)
    for row, mask, _ in endings(variant, 9, decisions(rules, 12, seed=14, hands=2, every=2)):
        few, all_ = listed(agent, row, mask, 40), None
        if few is None or agent.space.listings["n_worlds"][0] <= 40:
            continue
        all_ = listed(agent, row, mask, 9000)
        assert sum(few.values()) == 40
        squares = sum(weight**2 for weight in listed(agent, row, mask, 40).values())
        assert agent.space.plans["alike"][0] * squares == pytest.approx(40)  # of 40 worlds drawn
        for hands_of, weight in few.items():
            assert abs(weight - 40 * all_.get(hands_of, 0.0) / 9000) < 1 + 1e-3
        for hands_of, weight in all_.items():
            assert few.get(hands_of, 0.0) > 40 * weight / 9000 - 1 - 1e-3
        compared += 1
    assert compared > 5


def test_where_all_worlds_are_tried_the_best_card_is_played():
    """However few they are, one of them mostly: no error is left, and the net's word is nothing."""
    rules, compared, overruled = RULES["cincinnati_v0"], 0, 0
    agent = searcher("inference", rules, worlds=60)
    for row, mask, _ in endings("cincinnati_v0", 9, decisions(rules, 60, seed=21, hands=2)):
        action, space = agent.act(row, mask), agent.space
        plan = space.plans[0]
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


def test_every_world_listed_is_one_that_the_seat_may_be_in():
    """It gives the same observation, and is a sound position of one deck."""
    checked = 0
    for variant in ("barrie_v0", "six_card_v0"):
        rules = RULES[variant]
        agent = searcher("inference", rules)
        for row, mask, _ in endings(variant, 12, decisions(rules, 4, seed=3, hands=1, every=3)):
            space, again = agent.space, np.zeros_like(row)
            space.kept["hands"] = 0
            if listed(agent, row, mask, 30) is None:
                continue
            for world in space.kept[space.kept["hands"].any(axis=1)]:
                put_in(space, world)
                tables, offsets = space.expert.tables, space.expert.offsets
                one_row.observe_row(space.worlds, tables, offsets, 0, again)
                assert np.array_equal(again, row)
                checked_states(space.worlds, 1, tables)
                checked += 1
    assert checked > 200


def test_no_list_where_more_than_hands_is_unknown():
    """Cards put aside, or passed to a declarer who is not the partner; and too many cards."""
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


@pytest.mark.parametrize("n", [0, 1, 2, 3, 12, 200, 999, 10_000])
def test_places_of_kept_worlds_are_all_used(n):
    """Each once: the stride between them has no divisor in common with their number."""
    stride = coprime(n)
    assert len({i * stride % n for i in range(n)}) == n


def test_where_no_world_explains_what_was_played_others_are_looked_for():
    """By players who choose at random, if the expert were never to be wrong: worlds are drawn."""
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
