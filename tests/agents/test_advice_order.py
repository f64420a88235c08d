"""The order of the options: the best by the figures first, and what the agent chooses told."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from support.agent_games import met

from bideuchre_env import agents
from bideuchre_env._intervals import t_quantile
from bideuchre_env.agents.advice import Advisor, advise_row
from bideuchre_env.agents.advice.position import known_position
from bideuchre_env.agents.advice.reasons import because
from bideuchre_env.rules import actions
from bideuchre_env.rules.variants import RULES


class Passes:
    """Passes as long as it may."""

    def act(self, observation, action_mask):
        return int(action_mask.argmax())


def test_a_choice_that_is_clearly_behind_is_named_with_its_loss():
    """The table has a row of the choice, and the sentence says how far it is behind."""
    rules = RULES["cincinnati_v0"]
    row = known_position(rules, ["JH", "JD", "AH", "KH", "QH", "TH"], calls=["pass"])
    advice = advise_row(row, rules, Passes())
    assert (advice.choice.name, advice.best.name[:3]) == ("pass", "bid")
    behind = advice.choice.behind
    assert behind.low > 0.0
    lost, off = 100 * behind.mean, 100 * behind.half
    assert f"the agent chooses pass all the same, which is {lost:.1f} % ±{off:.1f}" in advice.why
    assert f"Passes chooses pass, but {advice.best.name} is better." in advice.headline
    assert "\npass " in advice.text()
    assert 1 <= advice.effective <= advice.worlds <= advice.drawn
    assert advice.to_dict()["choice"] == "pass"


@pytest.mark.parametrize("goal", ["game", "points"])
def test_options_are_ordered_by_the_goal_and_close_ones_are_within_the_error(goal):
    """By averages, paired differences and Student's t worked out again."""
    rules, kinds = RULES["cincinnati_v0"], set()
    figure = "points" if goal == "points" else "wins"
    for agent in (f"expert:goal={goal}", f"inference:goal={goal}"):
        advisor = Advisor(rules, agent, worlds=40 if agent[0] == "e" else 200)
        for _, _, state in met(rules, 8, seed=17):
            trial = advisor.try_row(state)
            advice, counted = advisor.advice([trial]), trial.counted
            shares = counted.weights / counted.weights.sum()
            several = 1 / (shares**2).sum() / counted.alike - 1 if counted.alike else np.inf
            means = [shares @ counted.column(each.action)[figure] for each in advice.options]
            assert means == pytest.approx(sorted(means, reverse=True))
            first = counted.column(advice.best.action)[figure].astype(float)
            for option in advice.options[1:]:
                gaps = first - counted.column(option.action)[figure]
                centre = shares @ gaps
                variance = shares @ (gaps - centre) ** 2
                unseen = (2 * np.abs(gaps).max()) ** 2 / (several + 2)
                error = np.sqrt((variance + unseen) / several) if several else np.inf
                least = 0.05 if goal == "points" else 0.0005
                t = 1.96 if several == np.inf else t_quantile(max(1, round(several)))
                sure = centre >= least and centre > t * error
                assert option.behind.mean == pytest.approx(centre)
                assert (option in advice.close) != sure
            kinds.add((bool(advice.close), advice.choice is advice.best))
    assert len(kinds) >= 3


def test_what_the_agent_has_learned_is_told_where_the_choice_is_not_first():
    """In the auction the agent also goes by what it has learned of calls."""
    rules = RULES["cincinnati_v0"]
    seen, mask, row = met(rules, 30, seed=5)[21]
    advice = advise_row(row, rules)
    plan = agents.make("inference", rules, seed=0)
    assert plan.act(seen, mask) == advice.chosen == 0
    bid = advice.option(actions.of(rules).index["bid 4"])
    assert advice.best is bid
    assert advice.close == (advice.choice,)
    own, other = (100 * plan.space.plans[0]["priors"][i] for i in (0, 1))
    assert plan.space.plans[0]["actions"][:2].tolist() == [0, bid.action]
    said = f"of calls pass wins {own:.0f} games of 100, bid 4 {other:.0f}."
    assert "Too close to call: bid 4 or pass" in advice.headline
    assert said in advice.why


@pytest.mark.parametrize(
    ("points", "said"),
    [
        ((0.4, -0.3), "; by what the agent has learned of cards AH brings 0.7 points more than 9C"),
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
    seen = replace(trial, chosen=own, learned=learned)
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


def test_trials_of_several_seeds_compare_the_actions_that_all_have_tried():
    """An agent may choose another action from other deals."""
    rules = RULES["barrie_v0"]
    row = known_position(rules, ["JH", "JH", "JD", "AH", "KH", "QS", "AC", "AC"])
    advisor, odd = Advisor(rules, worlds=10), actions.of(rules).index["bid 8 S"]
    with_odd, without = advisor.try_row(row, [odd]), advisor.try_row(row)
    assert odd not in without.counted.actions
    for trials in ([with_odd, without], [without, with_odd]):
        advice = advisor.advice(trials)
        assert {option.action for option in advice.options} == set(without.counted.actions)
        assert advice.drawn == 20
