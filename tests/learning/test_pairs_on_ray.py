"""Pairs made by the workers of a pool are those made here, whatever dies meanwhile."""

from __future__ import annotations

import os
from types import SimpleNamespace

import pytest
from support.policies import ObservationPolicy
from support.ray_blocks import in_order
from support.ray_clusters import cluster_of, kill, settings_for_ray

import bideuchre_env
from bideuchre_env import agents
from bideuchre_env.evaluation.ray_pool import RayPool
from bideuchre_env.learning.pairs import pair_blocks

RULES = bideuchre_env.make("barrie_v0").rules


def same(here, there):
    """Whether blocks of pairs are equal, in values and types, and can be written to."""
    assert len(here) == len(there)
    for mine, theirs in zip(here, there, strict=True):
        for a, b in zip(mine, theirs, strict=True):
            assert a.dtype == b.dtype
            assert (a == b).all()
            assert b.flags.writeable
    return True


def test_blocks_that_are_sent_are_those_made_here():
    """With an opponent, too."""
    policy, opponent = agents.make("rule", RULES, seed=1), ObservationPolicy(4)
    how = {"opponent": opponent, "share": 0.5, "block": 20}
    here = list(pair_blocks(policy, RULES, 50, 3, **how))
    there = list(pair_blocks(policy, RULES, 50, 3, **how, pool=SimpleNamespace(in_order=in_order)))
    assert same(here, there)
    assert [sorted({*part.hand // 20}) for part in there] == [[0], [1], [2]]


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="Ray has no clusters there")
def test_pairs_on_a_cluster_that_loses_a_node(monkeypatch):
    """They come in the order of the hands, each once."""
    pytest.importorskip("ray")
    policy = agents.make("rule", RULES, seed=1)
    here = list(pair_blocks(policy, RULES, 6000, 9, block=200))
    there = []
    with (
        settings_for_ray(monkeypatch),
        cluster_of(2) as cluster,
        RayPool(cluster.address) as pool,
    ):
        for made in pair_blocks(policy, RULES, 6000, 9, block=200, pool=pool):
            there.append(made)
            if len(there) == 5:
                kill(cluster)
        assert not cluster.worker_nodes
    assert same(here, there)
