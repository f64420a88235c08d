"""Which candidates a searcher drops, and which it chooses, by priors and by what was tried."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest

from bideuchre_env.agents.search.candidates import HOPELESS, TOLD, choose, drop_hopeless
from bideuchre_env.agents.search.workspace import PLAN
from bideuchre_env.runtime.jit import new_rows

FIRST, SECOND, THIRD = 11, 12, 13


def plan_of(priors, gains, *, prior_error=0.0, worlds=0, spread=0.0):
    """A plan with candidates 11, 12, ...; the first is the expert's.

    In each world a candidate gained its share of `gains` and half the time `spread` more, half the
    time as much less.
    """
    plans = new_rows(PLAN, 1)
    plan, n = plans[0], len(priors)
    plan["expert_action"], plan["n"], plan["alike"], plan["prior_unit"] = FIRST, n, 1.0, 1.0
    plan["actions"][:n], plan["priors"][:n] = range(FIRST, FIRST + n), priors
    plan["prior_errors"][1:n], plan["has_priors"] = prior_error, prior_error > 0.0
    plan["total"], plan["total_squares"] = worlds, worlds
    plan["sums"][:n] = worlds * np.array(gains)
    plan["squares"][1:n] = worlds * (np.array(gains[1:]) ** 2 + spread**2)
    return plans


def left_of(plans):
    """The candidates that are left once the hopeless ones are dropped."""
    n = drop_hopeless(plans)
    assert n == plans["n"][0]
    return plans["actions"][0][:n].tolist()


def test_before_anything_is_tried_the_priors_alone_tell():
    """An error of half a point: three times that behind the best is hopeless, less is not."""
    far = HOPELESS * 0.5
    assert left_of(plan_of([0.0, -far - 0.01, -far + 0.01], [0] * 3, prior_error=0.5)) == [
        FIRST,
        THIRD,
    ]


def test_nothing_is_dropped_where_nothing_is_known():
    assert left_of(plan_of([0.0] * 3, [0] * 3)) == [FIRST, SECOND, THIRD]


def test_the_expert_s_own_stays_however_far_behind():
    assert left_of(plan_of([0.0, 5.0, 4.9], [0] * 3, prior_error=0.1)) == [FIRST, SECOND, THIRD]
    assert left_of(plan_of([0.0, 5.0, 1.0], [0] * 3, prior_error=0.1)) == [FIRST, SECOND]


def test_what_was_tried_drops_by_standard_errors():
    """101 worlds with a spread of 1 point: an error of a tenth."""
    behind = HOPELESS * 0.1
    tried = {"worlds": 101, "spread": 1.0}
    assert left_of(plan_of([0.0, 0.0], [0.0, -behind - 0.001], **tried)) == [FIRST]
    assert left_of(plan_of([0.0, 0.0], [0.0, -behind + 0.001], **tried)) == [FIRST, SECOND]


def test_the_best_one_s_doubt_counts_too():
    """Two that gain 1 and 0.9, the second the same in all worlds: the first may be no better."""
    plans = plan_of([0.0] * 3, [0.0, 1.0, 0.9], worlds=101, spread=1.0)
    plans["squares"][0, 2] = 101 * 0.81
    assert left_of(plans) == [FIRST, SECOND, THIRD]


@pytest.mark.parametrize(("worlds", "left"), [(TOLD, [FIRST, SECOND]), (TOLD + 1, [FIRST])])
@pytest.mark.parametrize("gain", [0.0, -3.0])
def test_equals_and_worse_are_dropped_once_enough_worlds_say_so(worlds, left, gain):
    """An error that a few worlds tell may be far too small."""
    assert left_of(plan_of([0.0, 0.0], [0.0, gain], worlds=worlds)) == left


@pytest.mark.parametrize("prior_error", [0.0, 0.5])
@pytest.mark.parametrize("gain", [0.0625, 0.1, 0.3, 1.0])
def test_what_gains_the_same_in_all_worlds_is_the_best(gain, prior_error):
    """A trick more whoever holds what: without any doubt, but not without hope."""
    gains = [0.0, gain, gain / 2, gain]
    plans = plan_of([0.0] * 4, gains, worlds=80, prior_error=prior_error)
    assert left_of(plans)[:2] == [FIRST, SECOND]
    assert THIRD not in plans["actions"][0][: plans["n"][0]]
    assert choose(plans, 1.0) in (SECOND, SECOND + 2)


def test_worlds_that_are_alike_count_less_for_equals():
    plans = plan_of([0.0, 0.0], [0.0, 0.0], worlds=TOLD + 1)
    plans["total_squares"] *= 2  # as chains' worlds do
    assert left_of(plans) == [FIRST, SECOND]


def test_priors_and_trials_are_weighed_by_their_errors():
    """An error of 0.2 before and of 0.1 by trial: the trial counts four times as much."""
    tried = {"worlds": 101, "spread": 1.0, "prior_error": 0.2}
    gain = (4 * 0.1 + 1 * -0.3) / 5  # 0.02
    assert gain > 0.0
    assert choose(plan_of([0.0, -0.3], [0.0, 0.1], **tried), 1.0) == SECOND
    assert choose(plan_of([0.0, -0.5], [0.0, 0.1], **tried), 1.0) == FIRST
    error = 0.1 * 0.2 / sqrt(0.1**2 + 0.2**2)
    drop = plan_of([0.0, 0.0], [0.0, -1.25 * (HOPELESS * error + 0.001)], **tried)
    assert left_of(drop) == [FIRST]
    keep = plan_of([0.0, 0.0], [0.0, -1.25 * (HOPELESS * error - 0.001)], **tried)
    assert left_of(keep) == [FIRST, SECOND]


def test_without_priors_a_gain_must_exceed_its_error():
    tried = {"worlds": 101, "spread": 1.0}
    assert choose(plan_of([0.0, 0.0], [0.0, 0.11], **tried), 1.0) == SECOND
    assert choose(plan_of([0.0, 0.0], [0.0, 0.09], **tried), 1.0) == FIRST


def test_once_all_worlds_are_tried_nothing_is_left_to_chance():
    """Then a hair's gain counts for more than what was known; before, and in a sample, not."""
    plans = plan_of([0.0, -0.5], [0.0, 0.1], prior_error=0.5, worlds=10, spread=3.0)
    assert choose(plans, 1.0) == FIRST
    plans["all_worlds"] = 11.0
    assert choose(plans, 1.0) == FIRST
    plans["all_worlds"] = 10.0
    assert choose(plans, 1.0) == SECOND
