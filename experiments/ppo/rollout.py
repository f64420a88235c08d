"""Experience: whole hands played in lock step by the networks, and the decisions made in them.

Every batch begins with deals of its own, drawn from the run's seed and the batch's number alone,
and is played until all its hands are over. Nothing but weights passes from one batch to the next.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from bideuchre_env.core.observation.layout import layout_of
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

AUCTION_DECISIONS = 5  # a hand's calls, and the strain where it is named after them
WIDE = 1.5
"""Points: the temperature of half of the forced calls, so that those that look much worse are
seldom drawn, and a call is learned from hands it may be right for. The other half are uniform."""
BEST = 0.05
"""Share of the hands that may go alone in which a lone bid looks best beside the other calls. Lone
bids are right in few hands, so only there they are tried more often."""


class Decisions(NamedTuple):
    """The decisions of one part that are learned from; n of them, in the order they were made.

    Tensors on the device of the tables, or arrays of a worker.
    """

    inputs: Any  # int16 (n, WIDTH): lists of the active inputs
    legal: Any  # int8 (n, O)
    outputs: Any  # int64 (n,): the chosen outputs
    log_probs: Any  # float32 (n,): of the chosen outputs; not used in the auction
    values: Any  # float32 (n,): the critic's, when the output was chosen
    returns: Any  # float32 (n,): the target of the critic
    forced: Any  # bool (n,): forced upon the player, in the auction
    hidden: Any  # int16 (n, HIDDEN) or (n, 0): lists of the cards that the others hold


class Batch(NamedTuple):
    """The decisions and results of one batch of hands."""

    auction: Decisions
    cards: Decisions
    decisions: int  # all that had a choice
    hands: int
    lone: int  # contracts played alone
    set_back: int  # contracts not made
    processor: float  # seconds of processor time


@dataclass(frozen=True)
class Terms:
    """The settings that a batch is played by."""

    number: int  # of the batch
    seed: int
    temperature: float  # of the softmax of calls, in points
    forced: float  # share of calls that are forced
    alone: float  # share of calls forced to be alone in the hands that suit it best
    lambda_: float  # of the returns
    scale: float  # points that are 1 to the networks


class Tables:
    """`n` tables, each of which plays a hand, in the memory of a device."""

    def __init__(self, rules: Rules, n: int, device: str) -> None:
        self.rules, self.n, self.memory = rules, n, memory_of(device)
        self.device = torch_device(device)  # torch's name
        self._dealt, self.states = new_states(n), None  # in main memory, and in the device's
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
        """Deal a hand at each table i, by the seed `high:low` + i; on the CPU."""
        seed_rows(self._dealt, low, high)
        start_rows(self._dealt, compile_tables(self.rules), np.full(self.n, -1))
        deal_rows(self._dealt, compile_tables(self.rules))
        self.states = self.memory.put(self._dealt)

    def advance(self) -> list[Tensor]:
        """Play forced moves; return the tables that then wait for each part, int64 (m,)."""
        self.run(wait_rows, self.n, self.tables, self._waits)
        return [torch.nonzero(self._waits == part)[:, 0] for part in (CALLS, CARDS)]

    def results(self, scale: float) -> tuple[Tensor, int, int]:
        """Return the results of the hands, all of which are over.

        Points by seat, float32 (n, 4), divided by `scale`; the numbers of contracts that were
        played alone, and that were not made.
        """
        rewards = np.zeros((self.n, N_SEATS), np.float32)
        states = self.memory.to_host(self.states)
        lone, set_back = result_rows(states, compile_tables(self.rules), scale, rewards)
        return self.to_device(rewards), lone, set_back


class Part:
    """The decisions of one part of a batch so far."""

    def __init__(self, tables: Tables, name: str, all_hands: bool) -> None:
        rules = tables.rules
        self.features, self.tables, self.all_hands = features_of(rules, name), tables, all_hands
        exchanged = max(bid.exchange for bid in rules.ladder)
        per_hand = 4 * rules.tricks + 2 * exchanged if name == "cards" else AUCTION_DECISIONS
        n = tables.n * per_hand
        self.room = Room(
            inputs=tables.zeros((n, WIDTH), torch.int16),
            legal=tables.zeros((n, self.features.outputs), torch.int8),
            symmetries=tables.zeros(n, torch.int64),
            keys=tables.zeros(n, torch.int64),
            hidden=tables.zeros((n if all_hands else 1, HIDDEN), torch.int16),
            outputs=tables.zeros(n, torch.int64),
            log_probs=tables.zeros(n, torch.float32),
        )
        work, m = self.features.workspace(), 1 if tables.memory.name == "cpu" else tables.n
        scratch = Scratch(
            all_hands=all_hands,
            observations=np.zeros((m, layout_of(rules).size), np.int8),
            masks=np.zeros((m, actions.of(rules).n), np.int8),
            features=work._replace(
                views=np.repeat(work.views, m), active=np.repeat(work.active, m, 0)
            ),
        )
        self._arrays = Room(*map(tables.array_of, self.room)), tables.memory.put(scratch)
        self._cells = tables.zeros(1, torch.int64)
        self.steps = tables.zeros(n, torch.int64)  # the round of the part's decisions
        self.values = tables.zeros(n, torch.float32)
        self.forced = tables.zeros(n, torch.bool)
        self.n = self.rounds = 0

    def clear(self) -> None:
        """Begin a batch without decisions."""
        self.n = self.rounds = 0
        self.forced[:] = False

    def enter(self, rows: Tensor) -> slice:
        """Enter a round: the decisions that these tables wait for, int64 (m,); return where."""
        new = slice(self.n, self.n + len(rows))
        self._cells.fill_(len(rows))
        self.tables.run(enter_rows, len(rows), *self._arrays, rows, self.n, self._cells)
        self.steps[new] = self.rounds
        self.n, self.rounds = new.stop, self.rounds + 1
        return new

    def evaluate(self, new: slice, weights: Weights, critic: Weights | None) -> Tensor:
        """Return the network's outputs for these decisions, (m, O); their values are stored."""
        lists = self.room.inputs[new]
        with torch.no_grad():
            outputs = forward(weights, lists)
            self.values[new] = outputs[:, -1]
            if critic is not None:
                self.values[new] = forward(critic, lists, self.room.hidden[new])[:, 0]
        return outputs[:, :-1].contiguous()

    def act(self, new: slice, logits: Tensor, seed: int) -> None:
        """Draw among the legal outputs of a round by these logits, (m, O), and carry them out.

        Raises `DivergedError` if a logit is not finite, `RuntimeError` if a list was too long.
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
        """Return the decisions of these rows; `returns` are those of all."""
        room = self.room
        hidden = room.hidden if self.all_hands else room.hidden.new_zeros((self.n, 0))
        columns = (room.inputs, room.legal, room.outputs, room.log_probs, self.values)
        return Decisions(*(column[rows] for column in (*columns, returns, self.forced, hidden)))


class Dealer:
    """Plays batches of `tables` hands of a game, on `device`.

    With `all_hands` the others' cards are listed, for a critic that sees them.
    """

    def __init__(
        self, rules: Rules, tables: int, device: str = "cpu", all_hands: bool = False
    ) -> None:
        self.n, self.tables = tables, Tables(rules, tables, device)
        self.parts = {
            name: Part(self.tables, name, all_hands and name == "cards") for name in PARTS
        }
        acts = actions.of(rules)
        bids = [bid.alone for bid in rules.ladder for _ in range(acts.strains_per_bid)]
        alone = np.zeros(self.parts["auction"].features.outputs, bool)
        alone[1 : 1 + len(bids)] = bids
        self._alone = self.tables.to_device(alone)

    def play(self, terms: Terms, networks: Networks) -> Batch:
        """Play a batch by these networks."""
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
        """The logits of calls, (n, O), from the auction network's points; enters forced calls.

        A forced call is uniform or, half of the time, by `WIDE`.
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
        """The decisions of the hands, all of which are over."""
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
        """The lambda-returns of a part's decisions, each seat's own; the hands end after them."""
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
        """The calls that are learned from: none before the last forced call of its hand."""
        auction = self.parts["auction"]
        rows = auction.room.keys[: auction.n] >> 2
        forced = auction.forced[: auction.n]
        first, at = self.tables.zeros(self.n, torch.int64), torch.nonzero(forced)[:, 0]
        first.scatter_reduce_(0, rows[forced], at, "amax")
        return torch.nonzero(torch.arange(auction.n, device=rows.device) >= first[rows])[:, 0]
