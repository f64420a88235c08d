"""Candidates that a searcher drops or chooses, by priors and by trials."""

from math import sqrt

import numpy as np
import pytest

from bideuchre_env.agents.search.candidates import HOPELESS, RELIABLE_SIZE, choose, drop_hopeless
from bideuchre_env.agents.search.workspace import PLAN
from bideuchre_env.runtime.jit import new_rows

FIRST, SECOND, THIRD = 11, 12, 13


def plan_of(priors, gains, *, prior_error=0.0, worlds=0, spread=0.0):
    """A search plan with candidates 11, 12, ..., of which the first is the expert's action.

    In half of the worlds a candidate gains its entry of `gains` plus `spread`, in the others its
    entry minus `spread`. `priors` and `prior_error` are the net's values and their error; `worlds`
    is the number of worlds tried. The result is an array of one plan.
    """
    plans = new_rows(PLAN, 1)
    plan, n = plans[0], len(priors)
    plan["expert_action"], plan["n"], plan["design_effect"], plan["prior_unit"] = FIRST, n, 1.0, 1.0
    plan["actions"][:n], plan["priors"][:n] = range(FIRST, FIRST + n), priors
    plan["prior_errors"][1:n], plan["has_priors"] = prior_error, prior_error > 0.0
    plan["total"], plan["total_squares"] = worlds, worlds
    plan["sums"][:n] = worlds * np.array(gains)
    plan["squares"][1:n] = worlds * (np.array(gains[1:]) ** 2 + spread**2)
    return plans


def left_of(plans):
    """The candidates that remain after the hopeless ones are dropped."""
    n = drop_hopeless(plans)
    assert n == plans["n"][0]
    return plans["actions"][0][:n].tolist()


FAR = HOPELESS * 0.5  # limit for a candidate behind by priors with an error of 0.5
BEHIND = HOPELESS * 0.1  # the same by trials with an error of 0.1
TRIED = {"worlds": 101, "spread": 1.0}  # a standard error of 0.1
ERROR = 0.1 * 0.2 / sqrt(0.1**2 + 0.2**2)  # of a trial and a prior together
WEIGHED = TRIED | {"prior_error": 0.2}


@pytest.mark.parametrize(
    ("plan", "left"),
    [
        (plan_of([0.0, -FAR - 0.01, -FAR + 0.01], [0] * 3, prior_error=0.5), [FIRST, THIRD]),
        (plan_of([0.0] * 3, [0] * 3), [FIRST, SECOND, THIRD]),  # nothing is known
        (plan_of([0.0, 5.0, 4.9], [0] * 3, prior_error=0.1), [FIRST, SECOND, THIRD]),
        (plan_of([0.0, 5.0, 1.0], [0] * 3, prior_error=0.1), [FIRST, SECOND]),
        (plan_of([0.0, 0.0], [0.0, -BEHIND - 0.001], **TRIED), [FIRST]),
        (plan_of([0.0, 0.0], [0.0, -BEHIND + 0.001], **TRIED), [FIRST, SECOND]),
        (plan_of([0.0] * 2, [0.0, -1.25 * (HOPELESS * ERROR + 0.001)], **WEIGHED), [FIRST]),
        (plan_of([0.0] * 2, [0.0, -1.25 * (HOPELESS * ERROR - 0.001)], **WEIGHED), [FIRST, SECOND]),
        (plan_of([0.0, 0.0], [0.0, 0.0], worlds=RELIABLE_SIZE), [FIRST, SECOND]),
        (plan_of([0.0, 0.0], [0.0, -3.0], worlds=RELIABLE_SIZE), [FIRST, SECOND]),
        (plan_of([0.0, 0.0], [0.0, 0.0], worlds=RELIABLE_SIZE + 1), [FIRST]),
        (plan_of([0.0, 0.0], [0.0, -3.0], worlds=RELIABLE_SIZE + 1), [FIRST]),
    ],
)
def test_candidates_behind_by_several_errors_are_dropped_but_the_experts_never(plan, left):
    assert left_of(plan.copy()) == left


def test_the_error_of_the_best_candidate_counts_too():
    """A candidate's constant gain of 0.9 is not hopeless against a noisy gain of 1."""
    plans = plan_of([0.0] * 3, [0.0, 1.0, 0.9], worlds=101, spread=1.0)
    plans["squares"][0, 2] = 101 * 0.81
    assert left_of(plans) == [FIRST, SECOND, THIRD]


@pytest.mark.parametrize("prior_error", [0.0, 0.5])
@pytest.mark.parametrize("gain", [0.0625, 0.3, 1.0])
def test_a_constant_gain_in_all_worlds_is_chosen(gain, prior_error):
    plans = plan_of([0.0] * 4, [0.0, gain, gain / 2, gain], worlds=80, prior_error=prior_error)
    assert left_of(plans)[:2] == [FIRST, SECOND]
    assert THIRD not in plans["actions"][0][: plans["n"][0]]
    assert choose(plans, 1.0) in (SECOND, SECOND + 2)


def test_dependent_worlds_count_less():
    plans = plan_of([0.0, 0.0], [0.0, 0.0], worlds=RELIABLE_SIZE + 1)
    plans["total_squares"] *= 2  # as with Markov chains
    assert left_of(plans) == [FIRST, SECOND]


@pytest.mark.parametrize(
    ("plan", "chosen"),
    [
        (plan_of([0.0, -0.3], [0.0, 0.1], **WEIGHED), SECOND),  # (4 * 0.1 - 0.3) / 5 > 0
        (plan_of([0.0, -0.5], [0.0, 0.1], **WEIGHED), FIRST),
        (plan_of([0.0, 0.0], [0.0, 0.11], **TRIED), SECOND),  # one error of 0.1
        (plan_of([0.0, 0.0], [0.0, 0.09], **TRIED), FIRST),
    ],
)
def test_priors_and_trials_are_weighed_by_their_errors(plan, chosen):
    assert choose(plan, 1.0) == chosen


@pytest.mark.parametrize(("all_worlds", "chosen"), [(0.0, FIRST), (11.0, FIRST), (10.0, SECOND)])
def test_once_all_worlds_are_tried_the_gain_alone_decides(all_worlds, chosen):
    plans = plan_of([0.0, -0.5], [0.0, 0.1], prior_error=0.5, worlds=10, spread=3.0)
    plans["all_worlds"] = all_worlds
    assert choose(plans, 1.0) == chosen
