"""Scripts of `experiments/trainers/` that are run twice with the same seed."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")


def same_policy_twice(script, *options, policy=lambda learned: learned):
    """Two small runs with one seed end with the same weights, and another seed with others."""
    torch.set_num_threads(1)
    weights = []
    for seed in (5, 5, 6):
        small = ["--seed", str(seed), "--hidden", "16", "--minibatch", "256", *options]
        learned, _ = script.learned(script.Args.parse(small))
        parts = policy(learned).state_dict().values()
        weights.append(torch.cat([part.detach().flatten().double() for part in parts]))
    assert torch.equal(weights[0], weights[1])
    assert not torch.equal(weights[0], weights[2])


def save_as_on_a_gpu(monkeypatch, weights, file):
    """Save weights as they are saved where they lie on a GPU."""
    with monkeypatch.context() as changed:
        changed.setattr(torch.serialization, "location_tag", lambda storage: "cuda:0")
        torch.save(weights, file)
