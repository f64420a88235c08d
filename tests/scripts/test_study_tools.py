"""Intervals of the studies, and errors of the agents that they play."""

from __future__ import annotations

import numpy as np
import pytest
from support.script_modules import loaded

import bideuchre_env
from bideuchre_env.errors import AgentError, IllegalActionError

RULES = bideuchre_env.make("cincinnati_v0").rules


@pytest.fixture(scope="module")
def regret():
    with loaded("experiments", "regret") as (module,):
        yield module


def test_an_interval_of_equal_losses_has_a_width(regret):
    """It shrinks with the number of hands; one hand has no interval, no hand has no mean."""
    small, large = (regret.mean(np.zeros(n), margin=regret.UNSEEN) for n in (5, 500))
    assert small["mean"] == large["mean"] == 0
    assert small["high"] > 0.3 > 0.01 > large["high"] > 0
    assert regret.mean(np.ones(1)) == {"mean": 1, "low": None, "high": None}
    assert regret.mean(np.zeros(0)) == {"mean": None, "low": None, "high": None}


class Fails:
    """An agent with this `act_rows`."""

    name = "fails"

    def __init__(self, act_rows):
        self.act_rows = act_rows


@pytest.mark.parametrize(
    ("answer", "error", "message"),
    [
        (lambda seen, masks: 1 / 0, AgentError, "ZeroDivisionError"),
        (lambda seen, masks: [0.5] * len(masks), IllegalActionError, "whole numbers"),
        (lambda seen, masks: masks.argmin(axis=1), IllegalActionError, r"hand \d.*; legal: "),
    ],
)
def test_an_agent_that_fails_is_named(regret, answer, error, message):
    caller = bideuchre_env.agents.make("rule", RULES)
    with pytest.raises(error, match=f"'fails'.*{message}"):
        regret.losses(regret.deal_hands(RULES, range(4), 0), RULES, caller, Fails(answer))
