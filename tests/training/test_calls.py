"""Fitting the call network: training, and the calls that are tried."""

import numpy as np
import pytest

from bideuchre_env.agents.expert.agent import ExpertAgent
from bideuchre_env.agents.expert.call_features import N_INPUTS
from bideuchre_env.agents.expert.call_network import LAYERS
from bideuchre_env.errors import DivergedError
from bideuchre_env.rules.variants import RULES
from bideuchre_env.runtime.jit import new_rows
from bideuchre_env.training import calls


def test_training_fits_planted_points():
    """Training finds the planted points of calls, although both calls share larger noise."""
    rng = np.random.default_rng(2)
    trials = new_rows(calls.TRIAL, 20_000)
    x = rng.random((20_000, 2, N_INPUTS)) < 0.1
    trials["inputs"] = x
    truth = 3.0 * x[:, :, 0] - 4.0 * x[:, :, -1] + 2.0 * (x[:, :, 1] & x[:, :, 2])
    trials["points"] = truth + rng.normal(0, 6, (20_000, 1)) + rng.normal(0, 1, (20_000, 2))
    network = calls.drawn_network(rng)
    calls.train(network, 10 * [trials], rng)
    p = {name: network[name][0] for name in LAYERS}
    outputs = calls.SCALE * calls.forward(p, trials["inputs"].reshape(-1, N_INPUTS))[0]
    wrong = np.diff(outputs.reshape(-1, 2)) - np.diff(truth)
    assert float(np.mean(wrong**2)) < 0.25 * float(np.var(np.diff(truth)))


@pytest.mark.parametrize(
    ("points", "rate", "message"), [(np.nan, 2e-3, "not finite"), (1.0, 1e4, "error|finite")]
)
def test_diverged_training_is_an_error(monkeypatch, points, rate, message):
    """NaN points or a huge learning rate leave the weights unchanged."""
    rng = np.random.default_rng(3)
    monkeypatch.setattr(calls, "RATE", rate)
    trials = new_rows(calls.TRIAL, 3_000)
    trials["inputs"] = rng.random((3_000, 2, N_INPUTS)) < 0.1
    trials["points"] = rng.normal(0, 6, (3_000, 2)) * points
    network = calls.drawn_network(rng)
    before = network.copy()
    with np.errstate(all="ignore"), pytest.raises(DivergedError, match=message):
        calls.train(network, [trials], rng)
    for name in network.dtype.names:  # not all bytes: padding between fields is undefined
        np.testing.assert_array_equal(network[name], before[name])


def test_calls_outside_the_width_are_tried_at_times():
    """In about `ANY` of 100 turns, the other call may be worse than the best by any amount."""
    rules = RULES["barrie_v0"]
    agent = ExpertAgent(rules, wanted=(0,) * 13)
    tried = {
        width: calls.try_calls(
            agent.workspace(), agent, agent, 2000, 0, width, np.random.default_rng(3)
        )
        for width in (-1.0, 2.0, 1e6)  # the last allows any call
    }
    assert len(tried[1e6]) == 2000  # the first caller always has a choice
    assert 0.5 * calls.ANY < 100 * len(tried[-1.0]) / 2000 < 1.5 * calls.ANY
    lost = {width: -np.diff(trials["points"]).mean() for width, trials in tried.items()}
    assert lost[2.0] < lost[-1.0]
