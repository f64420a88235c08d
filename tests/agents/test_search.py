"""The players that search: options, determinism, time, strength."""

import numpy as np
import pytest
from support.agent_games import (
    SEARCH,
    decisions,
    per_hand,
    searcher,
)

import bideuchre_env.agents.search.agent as agent_module
from bideuchre_env import agents
from bideuchre_env.agents.expert import tables
from bideuchre_env.agents.search.agent import LAST_CARDS
from bideuchre_env.core.state import AUCTION, NAMING, PLAY
from bideuchre_env.errors import OptionError
from bideuchre_env.rules.bids import Bid
from bideuchre_env.rules.rules import Rules
from bideuchre_env.rules.variants import RULES

MANY_TRICKS = "double_deck_v0"  # twelve: played by fewer worlds here


@pytest.mark.parametrize("name", SEARCH)
def test_options_that_make_no_sense_are_refused(name):
    rules = RULES["cincinnati_v0"]
    for worlds in (0, -3, 2.5, "20", True, 10**6, None):
        with pytest.raises(OptionError, match=r"worlds=.*a whole number from 1 to 10000"):
            agents.make(name, rules, worlds=worlds)
        with pytest.raises(OptionError, match=r"played_out=.*a whole number from 1 to 10000"):
            agents.make(name, rules, played_out=worlds)
    for milliseconds in (0, -1.0, "1", True, float("nan"), float("inf")):
        with pytest.raises(OptionError, match=r"milliseconds=.*above 0 and up to 3,600,000"):
            agents.make(name, rules, milliseconds=milliseconds)
    for seed in (-1, 2**128, 1.5, "a"):
        with pytest.raises(OptionError):
            agents.make(name, rules, seed=seed)
    with pytest.raises(OptionError, match="expected a Rules value"):
        agents.make(name, "barrie_v0")
    with pytest.raises(OptionError, match=r"depth=3: no option of '.*': it takes worlds, "):
        agents.make(name, rules, depth=3)


@pytest.mark.parametrize("name", SEARCH)
def test_options_of_the_worlds_that_make_no_sense_are_refused(name):
    rules = RULES["cincinnati_v0"]
    for considered in (-1, 1001, 1.5, "9", False):
        with pytest.raises(OptionError, match=r"considered=.*a whole number from 0 to 1000"):
            agents.make(name, rules, considered=considered)
    for solved in (-1, 13, 2.0, "3", True, None):
        with pytest.raises(OptionError, match=r"solved=.*a whole number from 0 to 12"):
            agents.make(name, rules, solved=solved)
    with pytest.raises(OptionError, match="no option of 'random': it takes none"):
        agents.make("random", rules, worlds=3)


@pytest.mark.parametrize("name", SEARCH)
def test_a_decision_depends_on_seed_and_observation_alone(name):
    """Not on the rows beside it, on their order, or on what was asked before."""
    rules = RULES["club_v0"]
    found = decisions(rules, 6, seed=2, every=3)
    rows, masks = np.stack([row for row, _, _ in found]), np.stack([mask for _, mask, _ in found])
    agent = searcher(name, rules, seed=11)
    together = agent.act_rows(rows, masks)
    order = np.random.default_rng(1).permutation(len(rows))
    assert np.array_equal(agent.act_rows(rows[order], masks[order]), together[order])
    again = searcher(name, rules, seed=11)
    assert [again.act(rows[i], masks[i]) for i in range(len(rows))] == together.tolist()
    other = searcher(name, rules, seed=12).act_rows(rows, masks)
    assert not np.array_equal(other, together)


@pytest.mark.parametrize("name", SEARCH)
def test_a_mask_that_is_not_the_position_s_is_answered_untried(name):
    """No card is tried that the seat does not hold, whatever the caller says is legal."""
    rules = RULES["barrie_v0"]
    agent, expert = searcher(name, rules), agents.make("expert", rules)
    cards = agents.make("net:search=true", rules) if name == "inference" else expert
    for row, mask, state in decisions(rules, 2, seed=3, every=3):
        wrong = np.ones_like(mask)
        calls = state["phase"] in (AUCTION, NAMING)
        assert agent.act(row, wrong) == (expert if calls else cards).act(row, wrong)
        assert agent.space.plans[0]["n"] == 0 or mask.all()


def test_calls_without_a_network_are_compared_by_trying_alone():
    """A game of an unusual lone bid has none."""
    learned, strange = RULES["barrie_v0"], Rules(
        ranks="J", copies=2, partnered=(1, 8), lone=(Bid("moon", value=100),), target=300
    )  # fmt: skip
    for rules, reckoned in ((learned, True), (strange, False)):
        agent = searcher("pimc", rules)
        row, mask, _ = next(d for d in decisions(rules, 2, seed=5) if d[1].sum() > 4)
        assert mask[agent.act(row, mask)]
        assert (agent.space.plans[0]["has_priors"] == 1) == reckoned


def test_one_world_tells_nothing_of_the_error():
    """With a single world tried the expert's card is played."""
    rules = RULES["cincinnati_v0"]
    agent, expert, others = searcher("pimc", rules, worlds=1), agents.make("expert", rules), 0
    wide = searcher("pimc", rules, worlds=60)
    for row, mask, state in decisions(rules, 12, seed=6, every=2):
        if state["phase"] == PLAY:
            own = expert.act(row, mask)
            assert agent.act(row, mask) == own
            others += wide.act(row, mask) != own
    assert others > 0


def test_the_solver_finishes_as_many_tricks_as_it_is_told_to():
    """With no more tricks left nothing is played out first, and the choice is the same."""
    rules = RULES["cincinnati_v0"]
    found = [d for d in decisions(rules, 16, seed=8, every=2) if d[2]["phase"] == PLAY]
    found = [d for d in found if d[2]["trick"] < rules.tricks - LAST_CARDS]  # see below
    choices = {}
    for solved in (0, 3, 12):
        agent = searcher("pimc", rules, worlds=30, solved=solved)
        agent.standard_errors = 0.0
        choices[solved] = [agent.act(row, mask) for row, mask, _ in found]
        assert (agent.space.plans["solver_ready"][0] == 1) == (solved > 0)
    last = [i for i, d in enumerate(found) if d[2]["trick"] >= 3]
    assert [choices[3][i] for i in last] == [choices[12][i] for i in last]
    assert choices[3] != choices[12]
    assert choices[3] != choices[0]


@pytest.mark.parametrize("variant", RULES)
def test_worlds_drawn_alike_do_not_overrule_the_expert_in_the_last_two_cards(variant):
    """The expert's own sampled deals give a card to whoever likelier has it; `pimc`'s do not."""
    rules, last = RULES[variant], 0
    expert = agents.make("expert", rules)
    alike = [searcher("pimc", rules), searcher("inference", rules, considered=0, net_cards=False)]
    weighed = searcher("pimc", rules, considered=2)
    for row, mask, state in decisions(rules, 6, seed=9, every=1):
        if state["phase"] != PLAY or state["trick"] < rules.tricks - LAST_CARDS or mask.sum() < 2:
            continue
        last += 1
        assert {agent.act(row, mask) for agent in alike} == {expert.act(row, mask)}
        assert alike[0].space.plans[0]["total"] == 0.0
        weighed.act(row, mask)
        plan = weighed.space.plans[0]
        assert plan["n"] < 2 or plan["certain"] or plan["total"] > 0.0
    assert last > 10


@pytest.mark.parametrize("variant", ["cincinnati_v0", "barrie_v0"])
@pytest.mark.parametrize(("errors", "most"), [(tables.CALL_ERRORS, 1.0), (0.35, 0.7)])
def test_dropped_candidates_hardly_change_a_decision(variant, errors, most, monkeypatch):
    """With small prior errors of calls most calls are dropped before all worlds are tried."""
    monkeypatch.setattr(tables, "CALL_ERRORS", np.broadcast_to(errors, (3, 3)).copy())
    rules = RULES[variant]
    found = [d for d in decisions(rules, 8, seed=12, every=2) if d[1].sum() > 1]
    chosen, tried = [], []
    for keeps_all in (False, True):
        agent = agents.make("inference", rules, seed=3, worlds=120, played_out=120)
        if keeps_all:
            monkeypatch.setattr(agent_module, "drop_hopeless", lambda plans: int(plans["n"][0]) + 1)
        totals = []
        for row, mask, state in found:
            chosen.append(agent.act(row, mask))
            if state["phase"] == AUCTION:
                totals.append(agent.space.plans[0]["total"])
        tried.append(sum(totals))
    quick, at_last = np.split(np.array(chosen), 2)
    assert (quick != at_last).mean() < 0.03
    assert tried[0] <= most * tried[1]


class FakeClock:
    """A clock that goes on by `tick` seconds at each look."""

    def __init__(self, tick):
        self.now, self.tick = 0.0, tick

    def __call__(self):
        self.now += self.tick
        return self.now


@pytest.mark.parametrize("name", SEARCH)
def test_a_decision_ends_when_its_time_is_up(name):
    """Worlds are tried in fours between two looks at the clock, four of them at least.

    `inference` weighs ten for each of them, for half of the time, so it has fewer.
    """
    rules, some = RULES["cincinnati_v0"], 8 if name == "pimc" else 4
    played = [d for d in decisions(rules, 4, seed=5) if d[2]["phase"] == PLAY and d[1].sum() > 2]
    row, mask, _ = played[0]
    for tick, fewest, most in ((1.0, 4, 4), (0.002, some, 24), (0.0, 200, 200)):
        agent = agents.make(name, rules, seed=1, worlds=200, milliseconds=10, clock=FakeClock(tick))
        assert mask[agent.act(row, mask)]
        assert fewest <= agent.space.plans[0]["total"] <= most


def test_one_legal_action_is_played_at_once():
    rules = RULES["cincinnati_v0"]
    agent = agents.make("pimc", rules, seed=1)
    row, mask, _ = next(d for d in decisions(rules, 2, seed=5) if d[1].sum() == 1)
    before = agent.space.plans.copy()
    assert mask[agent.act(row, mask)]
    assert np.array_equal(agent.space.plans, before)


def test_pimc_is_ahead_of_rule():
    rules = RULES["cincinnati_v0"]
    pimc, rule = searcher("pimc", rules, worlds=20, played_out=40), agents.make("rule", rules)
    mean, half = per_hand(rules, pimc, rule, 240, seed=1)
    assert mean - half > 0.0


class CardPlayer:
    """Calls as the rule player does and plays its cards as another."""

    def __init__(self, agent):
        self.agent, self.name, self.rules = agent, agent.name, agent.rules
        self.rule, self.phase = agents.make("rule", agent.rules), agent.layout.slices["phase"]

    def act_rows(self, rows, masks):
        choices = self.rule.act_rows(rows, masks)
        playing = rows[:, self.phase].argmax(axis=1) == PLAY
        choices[playing] = self.agent.act_rows(rows[playing], masks[playing])
        return choices


@pytest.mark.slow
def test_inference_plays_its_cards_better_than_the_expert():
    """With the same bidding: trying a card in likely worlds is worth points."""
    rules = RULES["cincinnati_v0"]
    inference, expert = (
        CardPlayer(agents.make(name, rules, seed=1)) for name in ("inference", "expert")
    )
    mean, half = per_hand(rules, inference, expert, 600, seed=2)
    assert mean - half > 0.0
