"""Tests of `train_ppo.py --device cuda` in numba's simulator: results equal those of the CPU.

`tests/scripts/test_ppo_runs.py` runs them with `NUMBA_ENABLE_CUDASIM` set.
"""

import sys

import numpy as np
import pytest
from support.ppo_trainer import RULES, random_networks, run, saved_run, terms, trainer

from bideuchre_env.errors import DivergedError
from bideuchre_env.runtime import device

assert device.SIMULATED


@pytest.fixture(scope="module")
def ppo():
    with trainer() as modules:
        yield modules


def assert_same(batch, other):
    """Compare two batches except for their times."""
    parts = (*batch.auction, *batch.cards), (*other.auction, *other.cards)
    for ours, theirs in zip(*parts, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert batch[2:-1] == other[2:-1]


def test_batches_are_the_same(ppo):
    """Batches of both devices are equal bit for bit, with a critic that sees all hands."""
    dealers = [ppo.rollout.Dealer(RULES, 24, each, all_hands=True) for each in ("cpu", "cuda")]
    nets = random_networks(ppo)
    sizes = (len(nets["cards"]["first"]), 16, 16, 1)
    critic = ppo.networks.new_weights(sizes, np.random.default_rng(3), 6 * RULES.kinds)
    for number in range(2):
        how = terms(ppo, number=number)
        assert_same(*(each.play(how, nets | {"critic": critic}) for each in dealers))


def test_a_whole_run_is_the_same(ppo, tmp_path):
    """Checkpoint and curve of runs on both devices are equal, except for the option `device`."""
    short = ("--millions", "0.002", "--hands", "16")
    assert run(ppo, tmp_path / "cpu", *short) == 0
    assert run(ppo, tmp_path / "cuda", *short, "--device", "cuda") == 0
    ours, theirs = saved_run(ppo, tmp_path / "cpu"), saved_run(ppo, tmp_path / "cuda")
    assert ours[0].pop("settings") | {"device": "cuda"} == theirs[0].pop("settings")
    assert ours[:2] == theirs[:2]


@pytest.mark.parametrize("each", ["cpu", "cuda"])
@pytest.mark.parametrize("logits", [np.nan, np.inf])
def test_logits_that_are_not_finite_are_refused(ppo, each, logits):
    dealer = ppo.rollout.Dealer(RULES, 16, each)
    nets = random_networks(ppo)
    nets["auction"]["last_bias"][:] = logits
    with pytest.raises(DivergedError, match="row 0: the network's logits are not finite"):
        dealer.play(terms(ppo, forced=0.0, alone=0.0), nets)


def test_lists_that_are_too_long_are_refused(ppo, monkeypatch):
    """Kernels rebuilt with lists shorter than most hands need raise an error."""
    monkeypatch.setattr(sys.modules["ppo.rollout_kernels"], "WIDTH", 40)
    monkeypatch.setattr(device, "_FORMS", {})
    monkeypatch.setattr(device.DeviceMemory, "_programs", {})
    dealer = ppo.rollout.Dealer(RULES, 16, "cuda")
    with pytest.raises(RuntimeError, match="lists are too short"):
        dealer.play(terms(ppo), random_networks(ppo))
