"""Experience in blocks: the same batch wherever its blocks are played, and whatever dies."""

from __future__ import annotations

import os
from types import SimpleNamespace

import numpy as np
import pytest
from support.ray_blocks import in_order
from support.ray_clusters import cluster_of, kill, settings_for_ray
from support.script_modules import ROOT, loaded

import bideuchre_env
from bideuchre_env.evaluation.ray_pool import RayPool

RULES = bideuchre_env.make("simplified_v0").rules


@pytest.fixture(scope="module")
def ppo():
    """The modules of the trainer."""
    torch = pytest.importorskip("torch")
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # as workers have: more of them add up in another order
    with loaded("experiments", "ppo.workers", "ppo.rollout", "ppo.networks") as modules:
        yield SimpleNamespace(**{module.__name__.split(".")[1]: module for module in modules})
    torch.set_num_threads(threads)


def nets(ppo):
    """Networks with random weights."""
    rng = np.random.default_rng(1)
    parts = ppo.rollout.Dealer(RULES, 1).parts
    sizes = {
        name: (part.features.size, 16, 16, part.features.outputs + 1)
        for name, part in parts.items()
    }
    return {name: ppo.networks.new_weights(size, rng) for name, size in sizes.items()}


def batches(ppo, blocks, pool):
    """Three batches of sixty hands."""
    for number in range(3):
        terms = ppo.rollout.Terms(number, 7, 0.3, 0.1, 0.1, 0.9, 5.0)
        yield ppo.workers.play_blocks(pool, RULES, 60 // blocks, blocks, False, terms, nets(ppo))


def same(one, other):
    """Whether two batches are equal."""
    for a, b in zip((*one.auction, *one.cards), (*other.auction, *other.cards), strict=True):
        assert a.dtype == b.dtype
        assert (a == b).all()
    return one[2:-1] == other[2:-1]  # but for the time that they took


def test_a_block_has_hands_of_its_own(ppo):
    """It is the batch of its number; its results do not change with the next block."""
    here = SimpleNamespace(in_order=in_order)
    first, second = list(batches(ppo, 1, here))[:2]
    both = next(batches(ppo, 2, here))
    terms = ppo.rollout.Terms(0, 7, 0.3, 0.1, 0.1, 0.9, 5.0)
    halves = [ppo.workers.Work(RULES, 30, 2, False, terms, arrays(nets(ppo)))] * 2
    halves = [ppo.workers.play_block(work, block) for block, work in enumerate(halves)]
    assert both.hands == first.hands == second.hands == 60
    assert not np.array_equal(first.cards.outputs, second.cards.outputs)
    outputs = np.concatenate([half.cards.outputs for half in halves])
    assert (both.cards.outputs == outputs).all()
    alone = ppo.rollout.Dealer(RULES, 60).play(terms, nets(ppo))
    assert (first.cards.outputs == alone.cards.outputs.numpy()).all()


def arrays(networks):
    """Weights in numpy."""
    return {part: {name: w.numpy() for name, w in net.items()} for part, net in networks.items()}


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="Ray has no clusters there")
def test_experience_on_a_cluster_that_loses_a_node(ppo, monkeypatch):
    """The batches are those of one process."""
    pytest.importorskip("ray")
    here = list(batches(ppo, 6, SimpleNamespace(in_order=in_order)))
    with (
        settings_for_ray(monkeypatch, str(ROOT / "experiments")),
        cluster_of(2) as cluster,
        RayPool(cluster.address) as pool,
    ):

        def losing(function, shared, blocks):
            for block in pool.in_order(function, shared, blocks):
                kill(cluster)  # in the middle of the first batch
                yield block

        there = list(batches(ppo, 6, SimpleNamespace(in_order=losing)))
        assert not cluster.worker_nodes
    assert all(map(same, here, there))
