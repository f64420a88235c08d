"""Experience in blocks: the same batch wherever its blocks are played, and whatever dies."""

from __future__ import annotations

import os
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from support.ray_blocks import in_order
from support.ray_clusters import cluster_of, kill, settings_for_ray
from support.script_modules import ROOT, loaded

import bideuchre_env
from bideuchre_env.errors import OptionError
from bideuchre_env.evaluation.ray_pool import RayPool

RULES = bideuchre_env.make("simplified_v0").rules


@pytest.fixture(scope="module")
def ppo():
    """The modules of the trainer."""
    torch = pytest.importorskip("torch")
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # as workers have: more of them add up in another order
    with loaded("experiments", "ppo.spread", "ppo.hands", "ppo.nets") as modules:
        yield SimpleNamespace(**{module.__name__.split(".")[1]: module for module in modules})
    torch.set_num_threads(threads)


def nets(ppo, seed):
    """Nets that say something."""
    rng = np.random.default_rng(seed)
    parts = ppo.hands.Dealer(RULES, 1).parts
    sizes = {
        name: (part.features.size, 16, 16, part.features.outputs + 1)
        for name, part in parts.items()
    }
    return {name: ppo.nets.new_weights(size, rng) for name, size in sizes.items()}


def batch(ppo, blocks, pool=None):
    """Three batches of sixty hands; the last one against past selves, too."""
    dealer = ppo.spread.Blocks(RULES, 60, blocks, pool=pool)
    for number in range(3):
        terms = ppo.hands.Terms(number, 7, 0.3, 0.1, 0.1, 0.9, 5.0, 0.5)
        past = nets(ppo, 2) if number == 2 else None
        yield dealer.play(terms, nets(ppo, 1), past)


def same(one, other):
    """Whether two batches are equal."""
    for a, b in zip((*one.auction, *one.cards), (*other.auction, *other.cards), strict=True):
        assert a.dtype == b.dtype
        assert (a == b).all()
    return one[2:-1] == other[2:-1]  # but for the time that they took


def test_a_batch_in_blocks_is_that_of_workers(ppo):
    """Each block has hands of its own; one block alone is a batch as it always was."""
    here = list(batch(ppo, 4))
    there = list(batch(ppo, 4, SimpleNamespace(in_order=in_order)))
    assert all(map(same, here, there))
    assert [each.hands for each in here] == [60] * 3
    whole = next(batch(ppo, 1))
    terms = ppo.hands.Terms(0, 7, 0.3, 0.1, 0.1, 0.9, 5.0, 0.5)
    later = replace(terms, number=1)
    numbers = [ppo.spread.numbered(each, 4, k).number for each in (terms, later) for k in range(4)]
    assert numbers == list(range(8))
    assert same(whole, ppo.hands.Dealer(RULES, 60).play(terms, nets(ppo, 1)))
    for blocks in (0, 7, 61):
        with pytest.raises(OptionError, match=f"--workers {blocks}: a number that divides"):
            ppo.spread.Blocks(RULES, 60, blocks)


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="Ray has no clusters there")
def test_experience_on_a_cluster_that_loses_a_node(ppo, monkeypatch):
    """The batches are those of one process."""
    pytest.importorskip("ray")
    here = list(batch(ppo, 6))
    with (
        settings_for_ray(monkeypatch, str(ROOT / "experiments")),
        cluster_of(2) as cluster,
        RayPool(cluster.address) as pool,
    ):

        def losing(function, shared, blocks):
            for block in pool.in_order(function, shared, blocks):
                kill(cluster)  # in the middle of the first batch
                yield block

        there = list(batch(ppo, 6, SimpleNamespace(in_order=losing)))
        assert not cluster.worker_nodes
    assert all(map(same, here, there))
