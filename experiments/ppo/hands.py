"""Experience: whole hands played in lock step, and the decisions of each part that come of them.

Every batch begins with deals of its own, drawn from the run's seed and the batch's number alone,
and is played until all its hands are over. So nothing but weights goes from one to the next.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from bideuchre_env.learning.features import PARTS, features_of
from bideuchre_env.rules import actions
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.jit import Array
from ppo.nets import NEVER, Weights, said
from ppo.tables import HostTables

AUCTION_DECISIONS = 5  # a hand's calls, and the strain where it is named after them
WIDE = 1.5
"""Points: the temperature of half of the forced calls, so that those that look much worse are
seldom drawn, and a call is learned from hands it may be right for. The other half are uniform."""
BEST = 0.05
"""Share of the hands that may go alone, those in which that looks best beside all else: a bid alone
is right in few hands, so only there it is tried more often."""
PAST, PRESENT = 1, 0
CRITIC = "critic"
"""The net, beside those of the parts, that values cards with all hands in view."""


class Decisions(NamedTuple):
    """The decisions of one part that are learned from; n of them, in the order they were made.

    Arrays, or tensors where the batch was played on a GPU.
    """

    inputs: Any  # int16 (n, WIDTH): lists of those that are 1
    legal: Any  # int8 (n, O)
    outputs: Any  # int64 (n,): what was chosen
    log_probs: Any  # float32 (n,): of it; nothing is learned from those of calls
    values: Any  # float32 (n,): the critic's, when it was chosen
    returns: Any  # float32 (n,): what the critic is to say
    forced: Any  # bool (n,): forced upon the player, in the auction
    hidden: Any  # int16 (n, HIDDEN) or (n, 0): lists of the cards that the others hold


class Batch(NamedTuple):
    """What one batch of hands gave; `decisions` counts all that had a choice."""

    auction: Decisions
    cards: Decisions
    decisions: int
    hands: int
    lone: int  # contracts played alone
    set_back: int  # contracts not made
    processor: float  # seconds that it took


@dataclass(frozen=True)
class Terms:
    """How a batch is played: what of the settings, and of the run's progress, concerns it."""

    number: int  # of the batch
    seed: int
    temperature: float  # points: how far behind a call may look
    forced: float  # share of calls that are forced
    alone: float  # share of calls forced to be alone in the hands that suit it best
    lambda_: float  # of the returns
    scale: float  # points that are 1 to the nets
    past: float  # share of hands in which one side is a past self


class Part:
    """The decisions of one part of a batch so far, tensors, and what chooses in it."""

    def __init__(self, tables: HostTables, name: str, all_hands: bool) -> None:
        rules = tables.rules
        self.features, self.tables = features_of(rules, name), tables
        exchanged = max(bid.exchange for bid in rules.ladder)
        per_hand = 4 * rules.tricks + 2 * exchanged if name == "cards" else AUCTION_DECISIONS
        n = tables.n * per_hand
        self.all_hands = all_hands
        self.room = tables.seen(self.features, n, all_hands)
        self.outputs, self.steps = (tables.zeros(n, torch.int64) for _ in range(2))
        # steps: how often the part was asked before
        self.players = tables.zeros(n, torch.int8)
        self.log_probs, self.values = (tables.zeros(n, torch.float32) for _ in range(2))
        self.forced = tables.zeros(n, torch.bool)
        self.n = self.asked = 0

    def consult(
        self, new: slice, weights: Weights, past: Weights | None, critic: Weights | None
    ) -> Tensor:
        """What the nets of their players say of these decisions, (n, O); values are kept."""
        lists = self.room.inputs[new]
        found = said(weights, lists)
        if past is not None:
            at = torch.nonzero(self.players[new] == PAST)[:, 0]
            found[at] = said(past, lists[at])
        self.values[new] = found[:, -1]
        if critic is not None:
            self.values[new] = said(critic, lists, self.room.hidden[new])[:, 0]
        return found[:, :-1].contiguous()

    def choose(self, new: slice, logits: Tensor, seed: int) -> Tensor:
        """Draw from the legal ones by these logits; the actions, int64 (n,)."""
        drawn = self.outputs[new], self.log_probs[new]
        self.tables.sample(logits, self.room.legal[new], seed, *drawn)
        return self.tables.actions(self.features, self.outputs[new], self.room.symmetries[new])

    def kept(self, learned: Tensor, returns: Tensor) -> Decisions:
        """The decisions that are learned from; on the CPU in numpy."""
        at = torch.nonzero(learned)[:, 0]
        whole = len(at) == self.n
        columns = (self.room.inputs, self.room.legal, self.outputs, self.log_probs, self.values)
        first = [column[: self.n] if whole else column[at] for column in columns]
        hidden = (
            self.room.hidden[at] if self.all_hands else self.room.hidden[:0].new_zeros((len(at), 0))
        )
        tensors = [*first, returns[at], self.forced[at], hidden]
        if self.tables.on_host:
            return Decisions(*(tensor.numpy() for tensor in tensors))
        return Decisions(*tensors)


class Dealer:
    """Plays batches of `tables` hands of a game; with `all_hands`, others' cards are listed.

    With `device="cuda"` on a GPU, where the decisions are then: tensors, else numpy's arrays.
    """

    def __init__(
        self, rules: Rules, tables: int, device: str = "cpu", all_hands: bool = False
    ) -> None:
        self.rules, self.n = rules, tables
        self.tables = tables_on(device, rules, tables)
        self.parts = {
            name: Part(self.tables, name, all_hands and name == "cards") for name in PARTS
        }
        acts = actions.of(rules)
        bids = [bid.alone for bid in rules.ladder for _ in range(acts.strains_per_bid)]
        alone = np.zeros(self.parts["auction"].features.outputs, bool)
        alone[1 : 1 + len(bids)] = bids
        self._alone = self._there(alone)

    def _there(self, array: Array) -> Tensor:
        """An array as a tensor where the tables are."""
        return torch.from_numpy(array).to(self.tables.device)

    def play(
        self, terms: Terms, nets: dict[str, Weights], past: dict[str, Weights] | None = None
    ) -> Batch:
        """Play a batch by these nets; with `past` one side of a share of the hands by those."""
        began = time.process_time()
        rng = np.random.default_rng([terms.seed, terms.number])
        words = rng.integers(0, 2**64, 2, np.uint64)
        self.tables.begin(words[0], words[1])
        self._begin(terms, with_past=past is not None)
        auction, cards = self.parts["auction"], self.parts["cards"]
        while (counts := self.tables.go_on()) is not None:
            for part, count in zip((auction, cards), counts, strict=True):
                new = slice(part.n, count)
                part.n = new.stop
                if new.start == new.stop:
                    continue
                keys = part.room.keys[new]
                part.players[new] = self._players[keys]
                part.steps[new] = part.asked
                part.asked += 1
                name = part.features.part
                critic = nets.get(CRITIC) if part is cards else None
                logits = part.consult(new, nets[name], past[name] if past else None, critic)
                if part is auction:
                    logits = self._explore(terms, rng, new, logits)
                chosen = part.choose(new, logits, int(rng.integers(2**63)))
                self.tables.apply(keys >> 2, chosen)
        return self._batch(terms, began)

    def _begin(self, terms: Terms, with_past: bool) -> None:
        """Begin with no decisions, and settle who plays which side."""
        players = np.zeros((self.n, 4), np.int8)
        if with_past:
            first = self.n - int(terms.past * self.n)
            side = np.arange(first, self.n) & 1
            players[np.arange(first, self.n), side] = PAST
            players[np.arange(first, self.n), side + 2] = PAST
        self._players = self._there(players.reshape(-1))
        for part in self.parts.values():
            part.n = part.asked = 0
            part.forced[:] = False

    def _explore(
        self, terms: Terms, rng: np.random.Generator, new: slice, points: Tensor
    ) -> Tensor:
        """The logits of calls, (n, O), from the auction net's points; enters which are forced.

        A forced call is any one, or half of the time any that does not look far behind.
        """
        auction = self.parts["auction"]
        points = points * terms.scale
        legal = auction.room.legal[new] != 0
        present = auction.players[new] == PRESENT
        draw, kind = self._there(rng.random((2, len(points))))
        forced = present & (draw < terms.forced)
        logits = points / terms.temperature
        logits[forced] = points[forced] / WIDE
        logits[forced & (kind < 0.5)] = 0.0
        alone = torch.where(legal & self._alone, points, NEVER)
        ahead = alone.amax(1) - torch.where(legal & ~self._alone, points, NEVER).amax(1)
        near = (legal & self._alone).any(1)
        able = ahead[near].sort().values
        if len(able):
            near &= ahead > able[int((len(able) - 1) * (1 - BEST))]
        near &= present & (draw >= terms.forced) & (draw < terms.forced + terms.alone)
        logits[near] = alone[near] / WIDE
        auction.forced[new] = forced | near
        return logits

    def _batch(self, terms: Terms, began: float) -> Batch:
        """The decisions of the hands that are over."""
        outcomes = self.tables.outcomes()
        points = outcomes.points.double() / terms.scale
        rewards = torch.stack([points, -points, points, -points], dim=1).float()
        auction, cards = self.parts["auction"], self.parts["cards"]
        back = self._returns(cards, rewards, terms.lambda_)
        of_calls = rewards.reshape(-1)[auction.room.keys[: auction.n]]
        return Batch(
            auction=auction.kept(self._learned_calls(), of_calls),
            cards=cards.kept(cards.players[: cards.n] == PRESENT, back),
            decisions=auction.n + cards.n,
            hands=self.n,
            lone=int(outcomes.lone.sum()),
            set_back=int(outcomes.set_back.sum()),
            processor=time.process_time() - began,
        )

    def _returns(self, part: Part, rewards: Tensor, lambda_: float) -> Tensor:
        """The lambda-returns of a part's decisions, each seat's own; the hands end after them."""
        zeros, keys = self.tables.zeros, part.room.keys[: part.n]
        at = part.steps[: part.n], keys >> 2
        shape = (part.asked + 1, self.n)
        acted, values = zeros(shape, torch.int8) - 1, zeros(shape, torch.float32)
        acted[at], values[at] = (keys & 3).to(torch.int8), part.values[: part.n]
        paid, ended = zeros((*shape, 4), torch.float32), zeros(shape, torch.bool)
        paid[-1], ended[-1] = rewards, True
        return self.tables.returns(acted, paid, ended, values, lambda_)[at]

    def _learned_calls(self) -> Tensor:
        """Which calls are learned from.

        The present self's, and none before the last forced one of its hand.
        """
        auction = self.parts["auction"]
        rows = auction.room.keys[: auction.n] >> 2
        forced = auction.forced[: auction.n]
        first, at = self.tables.zeros(self.n, torch.int64), torch.nonzero(forced)[:, 0]
        first.scatter_reduce_(0, rows[forced], at, "amax")
        learned = torch.arange(auction.n, device=rows.device) >= first[rows]
        return learned & (auction.players[: auction.n] == PRESENT)


def tables_on(device: str, rules: Rules, n: int) -> HostTables:
    """Tables of a game, on the CPU or on a GPU."""
    if device == "cpu":
        return HostTables(rules, n)
    from ppo.on_device import DeviceTables

    return DeviceTables(rules, n)
