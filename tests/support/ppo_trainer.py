"""Small runs, networks and batches of the trainer of agent `ppo`."""

import csv
import signal
import sys
from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np
import pytest
from support.commands import ROOT, load_scripts

import bideuchre_env

RULES = bideuchre_env.make("cincinnati_v0").rules
NETS = ["--hidden", "16", "--hidden-auction", "8", "--minibatch", "256"]
TINY = [*NETS, "--hands", "32", "--millions", "0.006", "--boards", "2", "--final-boards", "2"]
TINY += ["--measure", "0.0025", "--opponents", "cautious"]
TIMES = ("seconds", "processor")
NAMES = ("rollout", "learner", "networks")


@contextmanager
def trainer():
    """Context manager: yield the trainer's modules `script`, `NAMES` and `torch`, if installed."""
    pytest.importorskip("torch")
    pytest.importorskip("tensorboard")
    with load_scripts("experiments", "train_ppo", *(f"ppo.{name}" for name in NAMES)) as modules:
        parts = dict(zip(("script", *NAMES), modules, strict=True))
        parts["torch"] = sys.modules["torch"]
        with pytest.MonkeyPatch.context() as patch:
            patch.syspath_prepend(ROOT / "experiments")  # worker processes import from there
            yield SimpleNamespace(**parts)


def run(ppo, folder, *options):
    """Run the trainer in this folder with small settings, and return its exit code."""
    script = ppo.script
    return script.main(script.Args.parse([*TINY, "--out", str(folder), *options]))


def saved_run(ppo, folder):
    """(checkpoint, rows of the curve, bytes of the weights) of a run, without times."""
    state = ppo.torch.load(folder / "checkpoint.pt", weights_only=True)
    state = {name: plain(value) for name, value in state.items() if name not in TIMES}
    with (folder / "curve.csv").open(newline="") as file:
        rows = [{k: v for k, v in row.items() if k not in TIMES} for row in csv.DictReader(file)]
    return state, rows, (folder / "weights.npz").read_bytes()


def plain(value):
    """Return a copy of a checkpoint's value with lists in place of tensors and tuples."""
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return value.tolist() if hasattr(value, "tolist") else value


def play_batch(dealer, *how):
    """Play a batch of a dealer, and return it with its columns copied to numpy arrays."""
    batch = dealer.play(*how)
    parts = {
        name: type(part)(*(column.numpy().copy() for column in part))
        for name, part in (("auction", batch.auction), ("cards", batch.cards))
    }
    return batch._replace(**parts)


def press():
    signal.raise_signal(signal.SIGINT)


def random_networks(ppo, seed=1, size=16):
    """Networks of both parts with random weights; outputs are large, so that policies differ."""
    rng, nets = np.random.default_rng(seed), {}
    for name, part in ppo.rollout.Dealer(RULES, 1).parts.items():
        sizes = (part.features.size, size, size, part.features.outputs + 1)
        nets[name] = ppo.networks.new_weights(sizes, rng)
        nets[name]["last"] = nets[name]["last"] * 300
    return nets


def terms(ppo, **changed):
    """The `Terms` of a small batch; keywords replace the usual values."""
    usual = {"number": 0, "seed": 5, "temperature": 0.3, "forced": 0.1, "alone": 0.3}
    usual |= {"lambda_": 0.9, "scale": 5.0}
    return ppo.rollout.Terms(**(usual | changed))
