"""Rollouts: whole hands played in lock step by the networks, and the decisions made in them.

A batch's deals depend only on the run's seed and the batch's number. All hands are played to the
end. Batches share no state except the weights.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from bideuchre_env.core.rows import deal_rows, seed_rows, start_rows
from bideuchre_env.core.state import new_states
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.errors import DivergedError
from bideuchre_env.learning.features import PARTS, features_of
from bideuchre_env.learning.returns import lambda_returns
from bideuchre_env.learning.sampling import random_words
from bideuchre_env.rules import actions
from bideuchre_env.rules.cards import N_SEATS
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.devices import memory_of
from bideuchre_env.runtime.jit import Array
from ppo.networks import CRITIC, NEVER, WIDTH, Networks, Weights, forward, torch_device
from ppo.rollout_kernels import (
    CALLS,
    CARDS,
    HIDDEN,
    Room,
    Scratch,
    act_rows,
    enter_rows,
    result_rows,
    wait_rows,
)

WIDE = 1.5
"""Softmax temperature, in points, of half of the forced calls: a call is then mostly explored in
hands that may suit it. The other half are uniform."""
BEST = 0.05
"""Fraction of the hands with a legal lone bid in which one may be forced: those with its largest
predicted advantage over the other calls. Lone bids are right in few hands."""


class Decisions(NamedTuple):
    """Training data of one part, auction or cards: n decisions in the order they were made.

    Columns are tensors on the device of the tables, or a worker's arrays.
    """

    inputs: Any  # int16 (n, WIDTH): lists of the active inputs
    legal: Any  # int8 (n, O)
    outputs: Any  # int64 (n,): the chosen outputs
    log_probs: Any  # float32 (n,): of the chosen outputs; not used in the auction
    values: Any  # float32 (n,): the critic's, when the output was chosen
    returns: Any  # float32 (n,): the target of the critic
    forced: Any  # bool (n,): whether the call was forced (auction only)
    hidden: Any  # int16 (n, HIDDEN) or (n, 0): lists of the other seats' cards


class Batch(NamedTuple):
    """The decisions and results of one batch of hands."""

    auction: Decisions
    cards: Decisions
    decisions: int  # with more than one legal action
    hands: int
    lone: int  # contracts played alone
    set_back: int  # contracts not made
    processor: float  # seconds of processor time


@dataclass(frozen=True)
class Terms:
    """The settings of a batch."""

    number: int  # of the batch
    seed: int  # of the run
    temperature: float  # of the softmax of calls, in points
    forced: float  # probability of a forced call
    alone: float  # probability of a forced lone bid in a candidate hand, see `BEST`
    lambda_: float  # of the returns
    scale: float  # points per unit of the networks' values


class Tables:
    """`n` tables, each of which plays a hand, in the memory of a device."""

    def __init__(self, rules: Rules, n: int, device: str) -> None:
        self.rules, self.n, self.memory = rules, n, memory_of(device)
        self.device = torch_device(device)  # torch's name
        self._dealt, self.states = new_states(n), None  # on the host, and on the device
        self.tables = self.memory.put(compile_tables(rules))
        self._waits = self.zeros(n, torch.int64)

    def zeros(self, shape: Any, dtype: torch.dtype) -> Tensor:
        """Return a tensor of zeros on the tables' device."""
        return torch.zeros(shape, dtype=dtype, device=self.device)

    def to_device(self, array: Array) -> Tensor:
        """Return numpy's array as a tensor on the tables' device."""
        return torch.from_numpy(array).to(self.device)

    def array_of(self, value: Any) -> Any:
        """Return a tensor as an array that kernels take, without a copy; other values as is."""
        if not isinstance(value, Tensor):
            return value
        return value.numpy() if self.device == "cpu" else self.memory.foreign(value)

    def run(self, kernel: Callable[..., Any], n: int, *arguments: Any) -> None:
        """Run a kernel on the states and these arguments, for n rows."""
        self.memory.run(kernel, n, self.states, *map(self.array_of, arguments))

    def deal(self, low: np.uint64, high: np.uint64) -> None:
        """Deal a hand at each table on the CPU; table i has the seed high * 2**64 + low + i."""
        seed_rows(self._dealt, low, high)
        start_rows(self._dealt, compile_tables(self.rules), np.full(self.n, -1))
        deal_rows(self._dealt, compile_tables(self.rules))
        self.states = self.memory.put(self._dealt)

    def advance(self) -> list[Tensor]:
        """Play forced moves; return the tables that wait for a call and those that wait for a card.

        Both are indices, int64 (m,).
        """
        self.run(wait_rows, self.n, self.tables, self._waits)
        return [torch.nonzero(self._waits == part)[:, 0] for part in (CALLS, CARDS)]

    def results(self, scale: float) -> tuple[Tensor, int, int]:
        """Return rewards, the number of contracts played alone, and that of contracts not made.

        All hands must be over. Rewards, float32 (n, 4), are the point difference for each seat's
        side, divided by `scale`.
        """
        rewards = np.zeros((self.n, N_SEATS), np.float32)
        states = self.memory.to_host(self.states)
        lone, set_back = result_rows(states, compile_tables(self.rules), scale, rewards)
        return self.to_device(rewards), lone, set_back


class Part:
    """The decisions of a batch in one part, the auction or the cards, and the kernels' buffers."""

    def __init__(self, tables: Tables, name: str, all_hands: bool) -> None:
        rules = tables.rules
        self.features, self.tables, self.all_hands = features_of(rules, name), tables, all_hands
        calls, cards = rules.most_calls + 1, rules.cards + 2 * rules.exchange  # and the strain
        n = tables.n * (cards if name == "cards" else calls)
        self.room = Room(
            inputs=tables.zeros((n, WIDTH), torch.int16),
            legal=tables.zeros((n, self.features.outputs), torch.int8),
            symmetries=tables.zeros(n, torch.int64),
            keys=tables.zeros(n, torch.int64),
            hidden=tables.zeros((n if all_hands else 1, HIDDEN), torch.int16),
            outputs=tables.zeros(n, torch.int64),
            log_probs=tables.zeros(n, torch.float32),
        )
        m = 1 if tables.memory.name == "cpu" else tables.n
        scratch = Scratch(
            all_hands=all_hands,
            masks=np.zeros((m, actions.of(rules).n), np.int8),
            features=self.features.workspace(m),
        )
        self._arrays = Room(*map(tables.array_of, self.room)), tables.memory.put(scratch)
        self._cells = tables.zeros(1, torch.int64)
        self.steps = tables.zeros(n, torch.int64)  # the round of each decision
        self.values = tables.zeros(n, torch.float32)
        self.forced = tables.zeros(n, torch.bool)
        self.n = self.rounds = 0

    def clear(self) -> None:
        """Drop all decisions, to begin a new batch."""
        self.n = self.rounds = 0
        self.forced[:] = False

    def enter(self, rows: Tensor) -> slice:
        """Write the inputs of a round of decisions, one for each table in `rows`, int64 (m,).

        Return their slice of the part's columns.
        """
        new = slice(self.n, self.n + len(rows))
        self._cells.fill_(len(rows))
        self.tables.run(enter_rows, len(rows), *self._arrays, rows, self.n, self._cells)
        self.steps[new] = self.rounds
        self.n, self.rounds = new.stop, self.rounds + 1
        return new

    def evaluate(self, new: slice, weights: Weights, critic: Weights | None) -> Tensor:
        """Return the network's outputs for these decisions, (m, O); store the critic's values.

        Without a separate `critic` the values are the network's own.
        """
        lists = self.room.inputs[new]
        with torch.no_grad():
            outputs = forward(weights, lists)
            self.values[new] = outputs[:, -1]
            if critic is not None:
                self.values[new] = forward(critic, lists, self.room.hidden[new])[:, 0]
        return outputs[:, :-1].contiguous()

    def act(self, new: slice, logits: Tensor, seed: int) -> None:
        """Sample a round's outputs, legal ones only, from logits (m, O), and apply their actions.

        Raises `DivergedError` if a logit is not finite, `RuntimeError` if a list overflowed.
        """
        m = len(logits)
        words = self.tables.memory.put(random_words(seed, 0, m))
        self.tables.run(act_rows, m, *self._arrays, logits, words, new.start, self._cells)
        row = int(self._cells)
        if row < 0:
            raise RuntimeError(f"more than {WIDTH - 1} inputs are 1: lists are too short")
        if row < m:
            raise DivergedError(f"row {row}: the network's logits are not finite")

    def decisions(self, returns: Tensor, rows: Any) -> Decisions:
        """Return the decisions of `rows`, a slice or indices.

        `returns`, (n,), are the returns of all decisions of the part.
        """
        room = self.room
        hidden = room.hidden if self.all_hands else room.hidden.new_zeros((self.n, 0))
        columns = (room.inputs, room.legal, room.outputs, room.log_probs, self.values)
        return Decisions(*(column[rows] for column in (*columns, returns, self.forced, hidden)))


class Dealer:
    """Plays batches of `tables` hands of a game, on `device`.

    With `all_hands`, the other seats' cards are recorded for a critic that sees them.
    """

    def __init__(
        self, rules: Rules, tables: int, device: str = "cpu", all_hands: bool = False
    ) -> None:
        self.n, self.tables = tables, Tables(rules, tables, device)
        self.parts = {
            name: Part(self.tables, name, all_hands and name == "cards") for name in PARTS
        }
        t, calls = compile_tables(rules)[0], actions.of(rules).trump_offset
        alone = np.zeros(self.parts["auction"].features.outputs, bool)
        alone[1:calls] = t["alone"][t["call_levels"][1:calls]]
        self._alone = self.tables.to_device(alone)

    def play(self, terms: Terms, networks: Networks) -> Batch:
        """Deal and play a batch of hands with these networks."""
        began = time.process_time()
        rng = np.random.default_rng([terms.seed, terms.number])
        words = rng.integers(0, 2**64, 2, np.uint64)
        self.tables.deal(words[0], words[1])
        for part in self.parts.values():
            part.clear()
        while any(map(len, waiting := self.tables.advance())):
            for (name, part), rows in zip(self.parts.items(), waiting, strict=True):
                if not len(rows):
                    continue
                new = part.enter(rows)
                critic = networks.get(CRITIC) if name == "cards" else None
                logits = part.evaluate(new, networks[name], critic)
                if name == "auction":
                    logits = self._explore(terms, rng, new, logits)
                part.act(new, logits, int(rng.integers(2**63)))
        return self._batch(terms, began)

    def _explore(
        self, terms: Terms, rng: np.random.Generator, new: slice, points: Tensor
    ) -> Tensor:
        """Return logits of calls, (m, O), from the auction network's outputs; mark forced calls.

        A call is forced with the probability `terms.forced`: half of these are uniform, half have
        the temperature `WIDE`. In the hands that suit a lone bid best (`BEST`), one is forced with
        the probability `terms.alone`.
        """
        auction = self.parts["auction"]
        points = points * terms.scale
        legal = auction.room.legal[new] != 0
        draw, kind = self.tables.to_device(rng.random((2, len(points))))
        forced = draw < terms.forced
        logits = points / terms.temperature
        logits[forced] = points[forced] / WIDE
        logits[forced & (kind < 0.5)] = 0.0
        alone = torch.where(legal & self._alone, points, NEVER)
        ahead = alone.amax(1) - torch.where(legal & ~self._alone, points, NEVER).amax(1)
        near = (legal & self._alone).any(1)
        able = ahead[near].sort().values
        if len(able):
            near &= ahead > able[int((len(able) - 1) * (1 - BEST))]
        near &= (draw >= terms.forced) & (draw < terms.forced + terms.alone)
        logits[near] = alone[near] / WIDE
        auction.forced[new] = forced | near
        return logits

    def _batch(self, terms: Terms, began: float) -> Batch:
        """Return the batch, after all hands have ended; it began at processor time `began`."""
        rewards, lone, set_back = self.tables.results(terms.scale)
        auction, cards = self.parts["auction"], self.parts["cards"]
        of_cards = self._returns(cards, rewards, terms.lambda_)
        of_calls = rewards.reshape(-1)[auction.room.keys[: auction.n]]
        return Batch(
            auction=auction.decisions(of_calls, self._learned_calls()),
            cards=cards.decisions(of_cards, slice(cards.n)),
            decisions=auction.n + cards.n,
            hands=self.n,
            lone=lone,
            set_back=set_back,
            processor=time.process_time() - began,
        )

    def _returns(self, part: Part, rewards: Tensor, lambda_: float) -> Tensor:
        """Return the per-seat lambda-returns of a part's decisions, float32 (n,).

        All hands count as ending after the last round.
        """
        zeros, keys = self.tables.zeros, part.room.keys[: part.n]
        at = part.steps[: part.n], keys >> 2
        shape = (part.rounds + 1, self.n)
        acted, values = zeros(shape, torch.int8) - 1, zeros(shape, torch.float32)
        acted[at], values[at] = (keys & 3).to(torch.int8), part.values[: part.n]
        paid, ended = zeros((*shape, 4), torch.float32), zeros(shape, torch.bool)
        paid[-1], ended[-1] = rewards, True
        arrays = (tensor.cpu().numpy() for tensor in (acted, paid, ended, values))
        return self.tables.to_device(lambda_returns(*arrays, lambda_=lambda_).returns)[at]

    def _learned_calls(self) -> Tensor:
        """Return the indices of calls to learn from: those of a hand from its last forced one on.

        Earlier calls led to a hand that the forced call changed. Without a forced call they are all
        calls of the hand.
        """
        auction = self.parts["auction"]
        rows = auction.room.keys[: auction.n] >> 2
        forced = auction.forced[: auction.n]
        first, at = self.tables.zeros(self.n, torch.int64), torch.nonzero(forced)[:, 0]
        first.scatter_reduce_(0, rows[forced], at, "amax")
        return torch.nonzero(torch.arange(auction.n, device=rows.device) >= first[rows])[:, 0]
