"""Runs of the PPO trainer: resumption, files and refused options."""

import re
import shlex
import sys

import numpy as np
import pytest
from support.kernels import compile_only, in_simulator, simulated
from support.ppo_trainer import RULES, press, random_networks, run, saved_run, terms, trainer

from bideuchre_env.agents.learned.ppo import PpoAgent
from bideuchre_env.errors import DivergedError, OptionError, WeightsError
from bideuchre_env.learning.weights import read_weights
from bideuchre_env.runtime import devices


@pytest.fixture(scope="module")
def ppo():
    with trainer() as modules:
        yield modules


@pytest.mark.parametrize(
    "options", [("--all-hands",), pytest.param(("--workers", "2"), marks=pytest.mark.slow)]
)
def test_a_run_resumed_after_ctrl_c_equals_an_uninterrupted_one(
    ppo, tmp_path, monkeypatch, options
):
    """A run stopped after some batches and in an evaluation ends with the same files."""
    whole, stopped = tmp_path / "whole", tmp_path / "stopped"
    assert run(ppo, whole, *options) == 0
    update, measure, calls = ppo.script.Run.update, ppo.script.measure, []

    def interrupted(training):
        statistics = update(training)
        if training.batch in (1, 9):
            press()
        return statistics

    def measured(*arguments):
        calls.append(arguments)
        if len(calls) == 1:
            press()
        return measure(*arguments)

    monkeypatch.setattr(ppo.script.Run, "update", interrupted)
    monkeypatch.setattr(ppo.script, "measure", measured)
    codes = []
    while not codes or codes[-1] == 130:
        codes.append(run(ppo, stopped, *options))
    assert codes == [130] * 3 + [0]
    state, rows, weights = saved_run(ppo, whole)
    assert (state, rows, weights) == saved_run(ppo, stopped)
    assert state["batch"] > 9
    assert len(rows) > 2
    assert run(ppo, stopped, *options) == 0  # repeats the final evaluation only
    assert (state, rows, weights) == saved_run(ppo, stopped)


def test_the_command_in_the_weights_reproduces_them(ppo, tmp_path):
    assert run(ppo, tmp_path / "run", "--variant", "cincinnati") == 0
    made = read_weights(tmp_path / "run" / "weights.npz").metadata
    assert made["variant"] == "cincinnati_v0"
    assert made["steps"] == made["decisions"]
    python, script, *options = shlex.split(made["command"])
    assert (python, script) == ("python", "experiments/train_ppo.py")
    assert run(ppo, tmp_path / "again", *options) == 0
    one, two = ((tmp_path / name / "weights.npz").read_bytes() for name in ("run", "again"))
    assert one == two


def test_on_a_device_a_run_is_the_same():
    pytest.importorskip("torch")
    assert re.match(r"\d+ passed", simulated(__file__))


def assert_same(batch, other):
    """Compare two batches except for their times."""
    parts = (*batch.auction, *batch.cards), (*other.auction, *other.cards)
    for ours, theirs in zip(*parts, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert batch[2:-1] == other[2:-1]


@in_simulator
def test_simulated_batches_are_the_same(ppo):
    """Batches of both devices are equal bit for bit, with a critic that sees all hands."""
    dealers = [ppo.rollout.Dealer(RULES, 24, each, all_hands=True) for each in ("cpu", "cuda")]
    nets = random_networks(ppo)
    sizes = (len(nets["cards"]["first"]), 16, 16, 1)
    critic = ppo.networks.new_weights(sizes, np.random.default_rng(3), 6 * RULES.kinds)
    for number in range(2):
        how = terms(ppo, number=number)
        assert_same(*(each.play(how, nets | {"critic": critic}) for each in dealers))


@in_simulator
def test_simulated_a_whole_run_is_the_same(ppo, tmp_path):
    """Checkpoint and curve of runs on both devices are equal, except for the option `device`."""
    short = ("--millions", "0.002", "--hands", "16")
    assert run(ppo, tmp_path / "cpu", *short) == 0
    assert run(ppo, tmp_path / "cuda", *short, "--device", "cuda") == 0
    ours, theirs = saved_run(ppo, tmp_path / "cpu"), saved_run(ppo, tmp_path / "cuda")
    assert ours[0].pop("settings") | {"device": "cuda"} == theirs[0].pop("settings")
    assert ours[:2] == theirs[:2]


@in_simulator
@pytest.mark.parametrize("each", ["cpu", "cuda"])
@pytest.mark.parametrize("logits", [np.nan, np.inf])
def test_simulated_logits_that_are_not_finite_are_refused(ppo, each, logits):
    dealer = ppo.rollout.Dealer(RULES, 16, each)
    nets = random_networks(ppo)
    nets["auction"]["last_bias"][:] = logits
    with pytest.raises(DivergedError, match="row 0: the network's logits are not finite"):
        dealer.play(terms(ppo, forced=0.0, alone=0.0), nets)


@in_simulator
def test_simulated_lists_that_are_too_long_are_refused(ppo, monkeypatch):
    """Kernels rebuilt with lists shorter than most hands need raise an error."""
    monkeypatch.setattr(sys.modules["ppo.rollout_kernels"], "WIDTH", 40)
    monkeypatch.setattr("bideuchre_env.runtime.device._FORMS", {})
    monkeypatch.setattr("bideuchre_env.runtime.device.DeviceMemory._programs", {})
    dealer = ppo.rollout.Dealer(RULES, 16, "cuda")
    with pytest.raises(RuntimeError, match="lists are too short"):
        dealer.play(terms(ppo), random_networks(ppo))


@pytest.mark.slow
def test_every_kernel_compiles_for_the_gpu(ppo, monkeypatch):
    """The kernels of a batch compile for two GPUs, without a local stack."""
    with compile_only(monkeypatch) as compiled:
        monkeypatch.setattr(ppo.rollout, "torch_device", lambda device: "cpu")
        dealer = ppo.rollout.Dealer(RULES, 4, "cuda", all_hands=True)
        dealer.tables.deal(np.uint64(1), np.uint64(2))
        assert not any(map(len, dealer.tables.advance()))  # no kernel runs
        part = dealer.parts["cards"]
        new = part.enter(ppo.torch.arange(4))
        part.act(new, dealer.tables.zeros((4, part.features.outputs), ppo.torch.float), 1)
        dealer._batch(terms(ppo), 0.0)
    assert len(compiled) == 2 * 3


def test_a_checkpoint_that_is_damaged_or_of_another_run_is_refused(ppo, tmp_path):
    assert run(ppo, tmp_path) == 0
    path = tmp_path / "checkpoint.pt"
    good = path.read_bytes()
    with pytest.raises(OptionError, match=r"--seed 2: the run in .* has 1; continue with that"):
        run(ppo, tmp_path, "--seed", "2")
    assert path.read_bytes() == good
    path.write_bytes(good[:-7])
    with pytest.raises(WeightsError, match="is damaged"):
        run(ppo, tmp_path)
    assert path.read_bytes() == good[:-7]


@pytest.mark.slow
@pytest.mark.parametrize(
    "options", [("--threads", "2"), ("--device", "cuda"), ("--device", "cuda", "--workers", "1")]
)
def test_a_run_with_threads_or_a_gpu_makes_usable_weights(ppo, tmp_path, options):
    if "cuda" in options and (devices._missing() or not ppo.torch.cuda.is_available()):
        pytest.skip("there is no GPU here")
    assert run(ppo, tmp_path, *options) == 0
    agent = PpoAgent(RULES, weights=tmp_path / "weights.npz")
    assert set(options) <= set(shlex.split(agent.made["command"]))
