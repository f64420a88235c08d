"""Play a batch in blocks, one for each worker: processes of this machine, or a cluster of Ray.

A block's result depends only on the terms, the networks and the block's number.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import torch

from bideuchre_env.evaluation.executors import Processes
from bideuchre_env.evaluation.ray_pool import RayPool
from bideuchre_env.learning.pairs import Pool
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.jit import Array
from ppo.networks import Networks
from ppo.rollout import Batch, Dealer, Decisions, Terms


def pool_of(workers: int, ray: bool, address: str | None) -> AbstractContextManager[Pool | None]:
    """Return the pool of `--workers`, `--ray` and `--ray-address`; it contains None for 0 workers.

    Ray takes precedence over processes; `OptionError` if it is missing or has no such cluster.
    """
    if ray or address is not None:
        return RayPool(address)
    return Processes(workers) if workers else nullcontext()


class Work(NamedTuple):
    """A batch, of `blocks` blocks of `tables` hands each; tensors are sent as arrays."""

    rules: Rules
    tables: int
    blocks: int
    all_hands: bool
    terms: Terms
    networks: Networks | dict[str, dict[str, Array]]


def play_blocks(pool: Pool, work: Work) -> Batch:
    """Play the blocks of a batch on the workers of `pool`, and return them as one batch."""
    arrays = {
        part: {name: weight.detach().cpu().numpy() for name, weight in weights.items()}
        for part, weights in work.networks.items()
    }
    blocks = pool.in_order(play_block, work._replace(networks=arrays), range(work.blocks))
    auction, cards, *counts = zip(*blocks, strict=True)
    return Batch(concatenated(auction), concatenated(cards), *map(sum, counts))


def play_block(work: Work, block: int) -> Batch:
    """Play a block, on a worker; its arrays are copies of the dealer's, which are reused."""
    torch.set_num_threads(1)  # more threads would sum in another order
    networks = {
        part: {name: torch.from_numpy(array) for name, array in weights.items()}
        for part, weights in work.networks.items()
    }
    terms = replace(work.terms, number=work.terms.number * work.blocks + block)
    batch = dealer_of(work.rules, work.tables, work.all_hands).play(terms, networks)
    return batch._replace(auction=copied(batch.auction), cards=copied(batch.cards))


@lru_cache(maxsize=1)
def dealer_of(rules: Rules, tables: int, all_hands: bool) -> Dealer:
    """Return the worker's cached dealer; its blocks share no state."""
    return Dealer(rules, tables, all_hands=all_hands)


def copied(decisions: Decisions) -> Decisions:
    """Copy decisions to numpy; unused list entries, left from earlier batches, become 0."""
    arrays = Decisions(*(column.numpy().copy() for column in decisions))
    for lists in (arrays.inputs, arrays.hidden):
        lists[np.arange(lists.shape[1]) > lists[:, :1]] = 0
    return arrays


def concatenated(parts: Iterable[Decisions]) -> Decisions:
    """Return the decisions of several blocks as one, block after block."""
    return Decisions(*map(np.concatenate, zip(*parts, strict=True)))
