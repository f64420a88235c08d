"""Runs of the PPO trainer: resumption, files and refused options."""

from __future__ import annotations

import errno
import os
import re
import shlex
import sys

import numpy as np
import pytest
from support.device_code import compiled_by, simulated
from support.ppo_trainer import RULES, kept, press, run, terms, trainer
from support.ray_clusters import cluster_of, settings_for_ray
from support.script_modules import ROOT, loaded

from bideuchre_env.agents.learned.ppo import PpoAgent
from bideuchre_env.errors import OptionError, OutputError, WeightsError
from bideuchre_env.learning.weights import read_weights
from bideuchre_env.runtime import devices


@pytest.fixture(scope="module")
def ppo():
    """The trainer and its parts."""
    with trainer() as found:
        yield found


@pytest.mark.parametrize(
    "options",
    [("--all-hands",), pytest.param(("--workers", "2"), marks=pytest.mark.slow)],
)
def test_a_run_resumed_after_ctrl_c_equals_an_uninterrupted_one(
    ppo, tmp_path, monkeypatch, options
):
    """Stopped after some batches and in a measurement, the files are equal bit for bit."""
    whole, stopped = tmp_path / "whole", tmp_path / "stopped"
    assert run(ppo, whole, *options) == 0
    update, measure, calls = ppo.script.Run.update, ppo.script.measure, []

    def interrupted(training):
        statistics = update(training)
        if training.batch in (1, 9):
            press()
        return statistics

    def measured(*given):
        calls.append(given)
        if len(calls) == 1:
            press()
        return measure(*given)

    monkeypatch.setattr(ppo.script.Run, "update", interrupted)
    monkeypatch.setattr(ppo.script, "measure", measured)
    codes = []
    while not codes or codes[-1] == 130:
        codes.append(run(ppo, stopped, *options))
    assert codes == [130] * 3 + [0]
    state, rows, weights = kept(ppo, whole)
    assert (state, rows, weights) == kept(ppo, stopped)
    assert state["batch"] > 9
    assert len(rows) > 2
    assert run(ppo, stopped, *options) == 0  # measures its end again, and changes nothing
    assert (state, rows, weights) == kept(ppo, stopped)


def test_the_command_in_the_weights_makes_them_again(ppo, tmp_path):
    assert run(ppo, tmp_path / "run", "--variant", "cincinnati") == 0
    made = read_weights(tmp_path / "run" / "weights.npz").metadata
    assert made["variant"] == "cincinnati_v0"
    assert made["steps"] == made["decisions"]
    python, script, *options = shlex.split(made["command"])
    assert (python, script) == ("python", "experiments/train_ppo.py")
    assert run(ppo, tmp_path / "again", *options) == 0
    one, two = ((tmp_path / name / "weights.npz").read_bytes() for name in ("run", "again"))
    assert one == two
    file = tmp_path / "my rules.toml"
    file.write_text('name = "ours"\n' + RULES.to_toml())
    assert run(ppo, tmp_path / "own", "--variant", str(file)) == 0
    made = read_weights(tmp_path / "own" / "weights.npz").metadata
    assert made["variant"] == "ours"
    assert str(file) in shlex.split(made["command"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--hands", "15"], "--hands 15: 16 to 65536"),
        (["--millions", "0"], "--millions 0.0: 1e-06 or more"),
        (["--seed", "-1"], "--seed -1: 0 to"),
        (["--lambda", "1.5"], "--lambda 1.5: 0 to 1"),
        (["--rate", "nan"], "--rate nan: 1e-06 or more"),
        (["--variant", "nothing_v0"], "nothing_v0"),
        (["--opponents", "nobody"], "no agent 'nobody'"),
        (["--workers", "3"], "--workers 3: a number that divides --hands 32"),
        (["--ray"], "--workers, 1 or more"),
        (["--ray-address", "auto"], "--workers, 1 or more"),
    ],
)
def test_unusable_options_are_refused_before_training(ppo, tmp_path, options, message):
    with pytest.raises(OptionError, match=re.escape(message)):
        run(ppo, tmp_path / "run", *options)
    assert not (tmp_path / "run").exists()


def test_a_gpu_is_refused_where_there_is_none(ppo, tmp_path, monkeypatch):
    monkeypatch.setattr(devices, "_missing", lambda: "no GPU is found on this machine")
    with pytest.raises(OptionError, match="cannot be used: no GPU is found on this machine"):
        run(ppo, tmp_path / "run", "--device", "cuda")
    monkeypatch.setattr(devices, "_missing", lambda: "")
    monkeypatch.setattr(ppo.torch.cuda, "is_available", lambda: False)
    with pytest.raises(OptionError, match="--device cuda: torch finds no GPU"):
        run(ppo, tmp_path / "run", "--device", "cuda")
    assert not (tmp_path / "run").exists()


def test_on_a_device_a_run_is_the_same():
    """In numba's simulator: `support/simulated_ppo.py`."""
    pytest.importorskip("torch")
    assert re.match(r"\d+ passed", simulated("support/simulated_ppo.py"))


@pytest.mark.slow
def test_every_kernel_becomes_machine_code(ppo, monkeypatch):
    """For two GPUs, as a batch starts it; none needs a stack."""
    with compiled_by(monkeypatch) as compiled:
        monkeypatch.setattr(ppo.rollout, "torch_device", lambda device: "cpu")
        dealer = ppo.rollout.Dealer(RULES, 4, "cuda", all_hands=True)
        dealer.tables.deal(np.uint64(1), np.uint64(2))
        assert not any(map(len, dealer.tables.advance()))  # for nothing runs
        part = dealer.parts["cards"]
        new = part.enter(ppo.torch.arange(4))
        part.act(new, dealer.tables.zeros((4, part.features.outputs), ppo.torch.float), 1)
        dealer._batch(terms(ppo), 0.0)
    assert len(compiled) == 2 * 3


def test_a_checkpoint_of_another_run_is_refused(ppo, tmp_path):
    assert run(ppo, tmp_path) == 0
    path = tmp_path / "checkpoint.pt"
    good, state = path.read_bytes(), ppo.torch.load(path, weights_only=True)
    with pytest.raises(OptionError, match=r"--seed 2: the run in .* has 1; continue with that"):
        run(ppo, tmp_path, "--seed", "2")
    with pytest.raises(OptionError, match=r"--millions 0\.009: the run in .* has 0\.006; cont"):
        run(ppo, tmp_path, "--millions", "0.009")
    ppo.torch.save(state | {"game": state["game"] | {"features": "0"}}, path)
    with pytest.raises(OptionError, match="was begun with other rules: take another --out"):
        run(ppo, tmp_path)
    ppo.torch.save(state | {"settings": state["settings"] | {"pull": "0.0"}}, path)
    with pytest.raises(OptionError, match=r"--pull None: the run in .* has 0\.0"):
        run(ppo, tmp_path)
    incomplete = [{k: v for k, v in state.items() if k != name} for name in state]
    other = ppo.learner.Learner(dict.fromkeys(("auction", "cards"), (3, 3, 3, 3)), 1, "cpu")
    changed = [{"learner": other.state()}, {"batch": "x"}, {"request": [1]}]
    for damaged in (*incomplete, *(state | each for each in changed), [], None):
        ppo.torch.save(damaged, path)
        with pytest.raises(WeightsError, match="is damaged, or no checkpoint of this trainer"):
            run(ppo, tmp_path)
    path.write_bytes(good[:-7])
    with pytest.raises(WeightsError, match="is damaged"):
        run(ppo, tmp_path)
    assert path.read_bytes() == good[:-7]
    path.write_bytes(good)
    assert run(ppo, tmp_path) == 0


@pytest.mark.parametrize("text", ["a,b\n1,2\n", None])
def test_a_damaged_curve_is_refused_and_left_as_it_is(ppo, tmp_path, text):
    """Also a curve or weights without a checkpoint."""
    run(ppo, tmp_path)
    path = tmp_path / "curve.csv"
    path.write_bytes(path.read_bytes()[:-20] if text is None else text.encode())
    before = path.read_bytes()
    with pytest.raises(OptionError, match=r"curve\.csv is no curve of this trainer"):
        run(ppo, tmp_path)
    assert path.read_bytes() == before
    (tmp_path / "checkpoint.pt").unlink()
    for name in ("curve.csv", "weights.npz"):
        with pytest.raises(OptionError, match=rf"{name} is of a run without a checkpoint"):
            run(ppo, tmp_path)
        (tmp_path / name).unlink()


def test_a_full_disk_leaves_the_last_checkpoint_to_resume_from(ppo, tmp_path, monkeypatch):
    whole, full = tmp_path / "whole", tmp_path / "full"
    assert run(ppo, whole) == 0
    monkeypatch.setattr(ppo.script, "CHECKPOINT_SECONDS", 0)
    update, write = ppo.script.Run.update, os.write

    def none_left(descriptor, data):
        raise OSError(errno.ENOSPC, "No space left on device")

    def filled(training):
        if training.batch == 5:
            monkeypatch.setattr(os, "write", none_left)
        return update(training)

    monkeypatch.setattr(ppo.script.Run, "update", filled)
    with pytest.raises(OutputError, match=r"checkpoint\.pt could not be written"):
        run(ppo, full)
    monkeypatch.setattr(os, "write", write)
    assert ppo.torch.load(full / "checkpoint.pt", weights_only=True)["batch"] == 5
    monkeypatch.setattr(ppo.script.Run, "update", update)
    assert run(ppo, full) == 0
    assert kept(ppo, full) == kept(ppo, whole)


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [("--threads", "2"), ("--device", "cuda"), ("--device", "cuda", "--workers", "1")],
)
def test_a_run_with_threads_or_a_gpu_makes_usable_weights(ppo, tmp_path, options):
    if "cuda" in options and (devices._missing() or not ppo.torch.cuda.is_available()):
        pytest.skip("there is no GPU here")
    assert run(ppo, tmp_path, *options) == 0
    agent = PpoAgent(RULES, weights=tmp_path / "weights.npz")
    assert set(options) <= set(shlex.split(agent.made["command"]))


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="Ray has no clusters there")
def test_a_run_resumed_on_a_ray_cluster_equals_one_of_processes(ppo, tmp_path, monkeypatch):
    pytest.importorskip("ray")
    assert run(ppo, tmp_path / "here", "--workers", "2") == 0
    update = ppo.script.Run.update

    def interrupted(training):
        statistics = update(training)
        if training.batch == 4:
            press()
        return statistics

    monkeypatch.setattr(ppo.script.Run, "update", interrupted)
    with settings_for_ray(monkeypatch, str(ROOT / "experiments")), cluster_of(2) as cluster:
        there = ["--workers", "2", "--ray-address", cluster.address]
        codes = [run(ppo, tmp_path / "there", *there) for _ in range(2)]
    assert codes == [130, 0]
    assert kept(ppo, tmp_path / "here") == kept(ppo, tmp_path / "there")


@pytest.mark.parametrize("missing", ["torch", "torch.utils.tensorboard"])
def test_a_missing_library_is_named(monkeypatch, capsys, missing):
    if missing != "torch":
        pytest.importorskip("torch")
    monkeypatch.setitem(sys.modules, missing, None)
    monkeypatch.delitem(sys.modules, "ppo.logging", raising=False)
    monkeypatch.delitem(sys.modules, "train_ppo", raising=False)
    with pytest.raises(SystemExit) as ended, loaded("experiments", "train_ppo"):
        pass
    assert ended.value.code == 2
    error = capsys.readouterr().err
    needs = f'training needs {missing}: pip install "bideuchre_env[train]"'
    assert error == f"train_ppo.py: error: {needs}\n"
