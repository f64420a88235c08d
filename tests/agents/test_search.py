"""Search agents: options, determinism, time limits, strength."""

import numpy as np
import pytest
from support.agent_games import SEARCH, decisions, per_hand, searcher

from bideuchre_env import agents
from bideuchre_env.agents.search.agent import LAST_CARDS
from bideuchre_env.core.state import AUCTION, NAMING, PLAY
from bideuchre_env.errors import OptionError
from bideuchre_env.rules.variants import RULES

COUNT, LIMIT = "a whole number from 1 to 10000", "above 0 and up to 3,600,000"
INVALID = [
    ("worlds", (0, -3, 2.5, "20", True, 10**6, None), COUNT),
    ("played_out", (0, 2.5, "20", True, 10**6, None), COUNT),
    ("milliseconds", (0, -1.0, "1", True, float("nan"), float("inf")), LIMIT),
    ("considered", (-1, 1001, 1.5, "9", False), "a whole number from 0 to 1000"),
    ("solved", (-1, 13, 2.0, "3", True, None), "a whole number from 0 to 12"),
]


@pytest.mark.parametrize("name", SEARCH)
@pytest.mark.parametrize(("option", "values", "allowed"), INVALID)
def test_invalid_options_are_refused(name, option, values, allowed):
    for value in values:
        with pytest.raises(OptionError, match=rf"{option}=.*{allowed}"):
            agents.make(name, RULES["cincinnati_v0"], **{option: value})


@pytest.mark.parametrize("name", SEARCH)
def test_a_decision_depends_on_seed_and_observation_alone(name):
    """Other rows, their order and earlier decisions do not change an agent's decision."""
    rules = RULES["club_v0"]
    cases = decisions(rules, 6, seed=2, every=3)
    rows, masks = np.stack([row for row, _, _ in cases]), np.stack([mask for _, mask, _ in cases])
    agent = searcher(name, rules, seed=11)
    together = agent.act_rows(rows, masks)
    order = np.random.default_rng(1).permutation(len(rows))
    assert np.array_equal(agent.act_rows(rows[order], masks[order]), together[order])
    again = searcher(name, rules, seed=11)
    assert [again.act(rows[i], masks[i]) for i in range(len(rows))] == together.tolist()
    other = searcher(name, rules, seed=12).act_rows(rows, masks)
    assert not np.array_equal(other, together)


@pytest.mark.parametrize("name", SEARCH)
def test_a_mask_of_another_position_is_answered_without_a_search(name):
    """The search never tries a card that the seat does not hold."""
    rules = RULES["barrie_v0"]
    agent, expert = searcher(name, rules), agents.make("expert", rules)
    cards = agents.make("net:search=true", rules) if name == "inference" else expert
    for row, mask, state in decisions(rules, 2, seed=3, every=3):
        wrong = np.ones_like(mask)
        calls = state["phase"] in (AUCTION, NAMING)
        assert agent.act(row, wrong) == (expert if calls else cards).act(row, wrong)
        assert agent.space.plans[0]["n"] == 0 or mask.all()


def test_option_solved_is_the_number_of_tricks_that_the_solver_plays():
    """With at most `solved` tricks left there are no playouts, so the choice is the same."""
    rules = RULES["cincinnati_v0"]
    positions = [d for d in decisions(rules, 16, seed=8, every=2) if d[2]["phase"] == PLAY]
    positions = [d for d in positions if d[2]["trick"] < rules.tricks - LAST_CARDS]
    choices = {}
    for solved in (0, 3, 12):
        agent = searcher("pimc", rules, worlds=30, solved=solved)
        agent.standard_errors = 0.0
        choices[solved] = [agent.act(row, mask) for row, mask, _ in positions]
        assert (agent.space.plans["solver_ready"][0] == 1) == (solved > 0)
    last = [i for i, d in enumerate(positions) if d[2]["trick"] >= 3]
    assert [choices[3][i] for i in last] == [choices[12][i] for i in last]
    assert choices[3] != choices[12]
    assert choices[3] != choices[0]


class FakeClock:
    """A clock that advances by `tick` seconds at each call."""

    def __init__(self, tick):
        self.now, self.tick = 0.0, tick

    def __call__(self):
        self.now += self.tick
        return self.now


@pytest.mark.parametrize("name", SEARCH)
def test_a_decision_ends_at_its_time_limit(name):
    """A search reads the clock after each batch of four worlds, and tries at least one batch.

    `inference` spends half of the time on weighing ten worlds for each world that it tries.
    """
    rules, some = RULES["cincinnati_v0"], 8 if name == "pimc" else 4
    played = [d for d in decisions(rules, 4, seed=5) if d[2]["phase"] == PLAY and d[1].sum() > 2]
    row, mask, _ = played[0]
    for tick, fewest, most in ((1.0, 4, 4), (0.002, some, 24), (0.0, 200, 200)):
        agent = agents.make(name, rules, seed=1, worlds=200, milliseconds=10, clock=FakeClock(tick))
        assert mask[agent.act(row, mask)]
        assert fewest <= agent.space.plans[0]["total"] <= most


def test_pimc_beats_rule():
    rules = RULES["cincinnati_v0"]
    pimc, rule = searcher("pimc", rules, worlds=20, played_out=40), agents.make("rule", rules)
    mean, half = per_hand(rules, pimc, rule, 240, seed=1)
    assert mean - half > 0.0
