"""The order of the options: the best by the figures first, and what the agent chooses told."""

from __future__ import annotations

import numpy as np
import pytest
from support.agent_games import look, met

from bideuchre_env import agents
from bideuchre_env.agents.advice import Advisor, advise_row
from bideuchre_env.agents.advice.position import known_position
from bideuchre_env.agents.advice.reasons import Situation, because
from bideuchre_env.rules import actions
from bideuchre_env.rules.variants import RULES


class Passes:
    """Passes as long as it may."""

    def act(self, observation, action_mask):
        return int(action_mask.argmax())


def test_the_best_by_the_figures_comes_first_and_the_choice_is_named():
    """An agent may choose what the deals surely speak against: it is told how far, not hidden."""
    rules = RULES["cincinnati_v0"]
    row = known_position(rules, ["JH", "JD", "AH", "KH", "QH", "TH"], calls=["pass"])
    advice = advise_row(row, rules, Passes())
    assert (advice.choice.name, advice.best.name[:3]) == ("pass", "bid")
    assert advice.choice.wins_loss > 2 * advice.choice.wins_error
    lost, off = 100 * advice.choice.wins_loss, 200 * advice.choice.wins_error
    assert f"the agent chooses pass all the same, which wins {lost:.0f} ± {off:.0f} %" in advice.why
    text = " ".join(advice.text().split())
    assert "Passes chooses pass. The best first, by" in text
    assert "\npass " in advice.text()  # whatever its place
    assert 1 <= advice.effective <= advice.worlds <= advice.drawn
    assert advice.to_dict()["choice"] == "pass"


def test_the_order_is_that_of_the_figures_unless_they_are_not_sure():
    """By an average taken anew: what is first is ahead by two standard errors, or the choice."""
    rules, kinds = RULES["cincinnati_v0"], set()
    for agent in (Passes(), "inference"):
        advisor = Advisor(rules, agent, worlds=200 if agent == "inference" else 40)
        for _, _, state in met(rules, 8, seed=17):
            trial = advisor.try_row(state)
            advice, counted = advisor.advice([trial]), trial.counted
            worth = {a: np.average(counted.column(a)["worth"], weights=counted.weights)
                     for a in counted.actions}  # fmt: skip
            most = max(worth, key=worth.get)
            gains = counted.column(most)["worth"] - counted.column(advice.chosen)["worth"]
            shares = counted.weights / counted.weights.sum()
            centre = (shares * gains).sum()
            several = 1 / (shares**2).sum() / counted.alike - 1 if counted.alike else np.inf
            spread = np.sqrt((shares * (gains - centre) ** 2).sum() / several) if several else 9
            sure = centre > 1e-9 and centre >= 2 * spread
            assert advice.best.action == (most if sure else advice.chosen)
            behind = [worth[option.action] for option in advice.options[1:]]
            assert behind == sorted(behind, reverse=True)
            kinds.add((sure, most == advice.chosen))
    assert {(True, False), (False, True), (False, False)} <= kinds


def test_why_the_agent_does_otherwise_is_said_where_it_is_known():
    """In the auction it also goes by what it has learned of calls."""
    rules = RULES["cincinnati_v0"]
    hand, calls = ["JH", "JD", "AH", "KH", "QS", "9C"], ["pass", "bid 4", "pass"]
    row = known_position(rules, hand, seat=3, calls=calls, score=(28, 30))
    advice = advise_row(row, rules)
    plan = agents.make("inference", rules, seed=0)
    seen, mask = look(rules, row, np.arange(1))
    assert plan.act(seen[0], mask[0]) == advice.chosen == 0
    bid = advice.option(actions.of(rules).index["bid 5"])
    assert bid.points.mean > advice.best.points.mean + 2 * bid.error
    assert bid.wins.mean > advice.best.wins.mean
    own, other = (100 * plan.space.plans[0]["priors"][i] for i in (0, 1))
    assert plan.space.plans[0]["actions"][:2].tolist() == [0, bid.action]
    said = f"of calls pass wins {own:.0f} games of 100, bid 5 {other:.0f}."
    assert "too little to be sure; by what the agent has learned" in advice.why
    assert said in advice.why


@pytest.mark.parametrize(
    ("points", "said"),
    [
        ((0.4, -0.3), "; by what the agent has learned of cards AH brings 0.7 points more"),
        ((-0.3, 0.4), ""),
        ((0.4, 0.4), ""),
        (None, ""),
    ],
)
def test_what_was_learned_of_cards_is_told_where_it_favours_the_choice(points, said):
    """In points, of the card chosen over the one that these deals favour."""
    rules = RULES["cincinnati_v0"]
    advisor, numbers = Advisor(rules, "rule", worlds=8), actions.of(rules).index
    hand, calls = ["JH", "JD", "AH", "KH", "QS", "9C"], ["4", "pass", "pass", "pass"]
    own, other = (numbers[name] for name in ("AH", "9C"))
    row = known_position(rules, hand, dealer=3, calls=calls, strain="H")
    trial = advisor.try_row(row, (own, other))
    learned = {} if points is None else dict(zip((own, other), points, strict=True))
    seen = Situation(rules, trial.view, trial.mask, (), trial.counted, own, learned)
    favoured = advisor.advice([trial]).option(other)
    assert because(seen, favoured) == said


@pytest.mark.parametrize("worlds", [30, 320])
def test_as_many_deals_are_tried_as_are_asked_for(worlds):
    """To the last, though only one call is left in question before; and it is told how far."""
    rules, told = RULES["cincinnati_v0"], []
    row = known_position(rules, ["9H", "TS", "QC", "9D", "KD", "TC"], calls=["pass", "5"])
    advice = advise_row(row, rules, worlds=worlds, how_far=lambda *how: told.append(how))
    assert advice.drawn == worlds >= advice.worlds
    assert advice.choice.name == "pass"
    assert told[-1] == ("played out", advice.worlds, advice.worlds)
    assert ("weighed", 6 * worlds, 6 * worlds) in told


def test_as_many_deals_as_the_time_allows():
    """Not the 200 that are tried where nothing is said."""
    rules = RULES["cincinnati_v0"]
    row = known_position(rules, ["JH", "JD", "AH", "KH", "QS", "9C"])
    advisor, ticks = Advisor(rules, milliseconds=1000.0), iter(range(10**6))
    advisor.searcher.clock = lambda: next(ticks) / 100  # a hundred looks
    assert 300 < advisor.of_row(row).drawn < 500
