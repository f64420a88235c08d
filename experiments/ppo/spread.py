"""A batch of hands in blocks, played here or by workers, processes or on Ray: the same batch.

A block follows from the terms, the nets and its number alone, whoever plays it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import torch

from bideuchre_env.errors import OptionError
from bideuchre_env.learning.pairs import Pool
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.jit import Array
from ppo.hands import Batch, Dealer, Decisions, Terms
from ppo.nets import Weights

Nets = dict[str, Weights]
Arrays = dict[str, dict[str, Array]]


class Played(NamedTuple):
    """What a worker plays a block by; tensors are sent as arrays."""

    rules: Rules
    tables: int
    blocks: int
    all_hands: bool
    terms: Terms
    nets: Arrays
    past: Arrays | None


class Blocks:
    """Plays batches of `hands` hands, cut into `blocks` of them, by the workers of a pool if any.

    Raises `OptionError` unless the blocks are of the same size.
    """

    def __init__(
        self,
        rules: Rules,
        hands: int,
        blocks: int,
        device: str = "cpu",
        pool: Pool | None = None,
        all_hands: bool = False,
    ) -> None:
        if not 1 <= blocks <= hands or hands % blocks:
            raise OptionError(f"--workers {blocks}: a number that divides --hands {hands}")
        self.rules, self.blocks, self.pool, self.all_hands = rules, blocks, pool, all_hands
        self.tables = hands // blocks
        self.dealer = Dealer(rules, self.tables, device, all_hands) if pool is None else None

    def play(self, terms: Terms, nets: Nets, past: Nets | None = None) -> Batch:
        """A batch by these nets; with `past` one side of a share of the hands by those."""
        if self.dealer is None:
            assert self.pool is not None
            arrays, of_past = arrays_of(nets), arrays_of(past) if past else None
            how = Played(
                self.rules, self.tables, self.blocks, self.all_hands, terms, arrays, of_past
            )
            return joined(self.pool.in_order(played, how, range(self.blocks)))
        own = (numbered(terms, self.blocks, k) for k in range(self.blocks))
        if self.blocks == 1:
            return self.dealer.play(next(own), nets, past)
        return joined(copied(self.dealer.play(each, nets, past)) for each in own)


def played(how: Played, block: int) -> Batch:
    """A block, on a worker."""
    torch.set_num_threads(1)  # more of them add up in another order
    nets, past = tensors_of(how.nets), tensors_of(how.past) if how.past else None
    dealer = dealer_of(how.rules, how.tables, how.all_hands)
    return copied(dealer.play(numbered(how.terms, how.blocks, block), nets, past))


@lru_cache(maxsize=1)
def dealer_of(rules: Rules, tables: int, all_hands: bool) -> Dealer:
    """The dealer of a worker, which keeps nothing from one block to the next."""
    return Dealer(rules, tables, all_hands=all_hands)


def numbered(terms: Terms, blocks: int, block: int) -> Terms:
    """The terms of a block: deals and draws of its own."""
    return replace(terms, number=terms.number * blocks + block)


def copied(batch: Batch) -> Batch:
    """A batch in arrays of its own: the dealer's are written to again.

    Behind its lists of inputs are others of earlier batches, which are left out.
    """
    auction, cards = (Decisions(*map(np.array, part)) for part in (batch.auction, batch.cards))
    for inputs in (auction.inputs, cards.inputs, auction.hidden, cards.hidden):
        inputs[np.arange(inputs.shape[1]) > inputs[:, :1]] = 0
    return batch._replace(auction=auction, cards=cards)


def joined(batches: Iterable[Batch]) -> Batch:
    """One batch of several."""
    auction, cards, *counts = zip(*batches, strict=True)
    auction, cards = (
        Decisions(*map(np.concatenate, zip(*parts, strict=True))) for parts in (auction, cards)
    )
    return Batch(auction, cards, *map(sum, counts))


def arrays_of(nets: Nets) -> Arrays:
    """The nets' weights in numpy."""
    return {
        part: {name: weight.cpu().numpy() for name, weight in weights.items()}
        for part, weights in nets.items()
    }


def tensors_of(nets: Arrays) -> Nets:
    """The same in torch."""
    return {
        part: {name: torch.from_numpy(array) for name, array in weights.items()}
        for part, weights in nets.items()
    }
