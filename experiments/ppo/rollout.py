"""Experience: whole hands played in lock step by the networks, and the decisions made in them.

Every batch begins with deals of its own, drawn from the run's seed and the batch's number alone,
and is played until all its hands are over. Nothing but weights passes from one batch to the next.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from bideuchre_env.core.observation.layout import layout_of
from bideuchre_env.core.rows import apply_rows, deal_rows, seed_rows, start_rows
from bideuchre_env.core.state import new_states
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.learning.features import PARTS, Features, features_of
from bideuchre_env.learning.returns import lambda_returns
from bideuchre_env.learning.sampling import sample
from bideuchre_env.rules import actions
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.jit import Array
from ppo.networks import CRITIC, NEVER, WIDTH, Networks, Weights, forward
from ppo.rollout_kernels import HIDDEN, Outcomes, Room, Seen, outcome_rows, play_on

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
    """`n` tables in main memory, each of which plays a hand; torch's tensors share its arrays."""

    device = "cpu"  # torch's name

    def __init__(self, rules: Rules, n: int) -> None:
        self.rules, self.n = rules, n
        self.tables = compile_tables(rules)
        self.states = new_states(n)
        self._counts, self._live = np.zeros(3, np.int64), np.arange(n)
        self._rooms: list[Room] = []

    def zeros(self, shape: Any, dtype: torch.dtype) -> Tensor:
        """A tensor of zeros on the tables' device."""
        return torch.zeros(shape, dtype=dtype, device=self.device)

    def add_room(self, features: Features, n: int, all_hands: bool) -> Seen:
        """Allocate room for n decisions of a part, which `play_on` enters; the auction's first."""
        seen = Seen(
            self.zeros((n, WIDTH), torch.int16),
            self.zeros((n, features.outputs), torch.int8),
            self.zeros(n, torch.int64),
            self.zeros(n, torch.int64),
            self.zeros((n if all_hands else 1, HIDDEN), torch.int16),
        )
        self._rooms.append(self._room(features, seen, all_hands))
        return seen

    def _room(self, features: Features, seen: Seen, all_hands: bool) -> Room:
        return Room(
            seen=Seen(*(tensor.numpy() for tensor in seen)),
            with_hidden=all_hands,
            observation=np.zeros((1, layout_of(self.rules).size), np.int8),
            mask=np.zeros((1, actions.of(self.rules).n), np.int8),
            features=features.workspace(),
        )

    def begin(self, low: np.uint64, high: np.uint64) -> None:
        """Deal a hand at each table i, by the seed `high:low` + i."""
        seed_rows(self.states, low, high)
        start_rows(self.states, self.tables, np.full(self.n, -1))
        deal_rows(self.states, self.tables)
        self._counts[:] = self.n, 0, 0
        self._live[:] = np.arange(self.n)

    def play_on(self) -> tuple[int, int] | None:
        """Play forced moves and enter the decisions that are due: how many of each part so far.

        None when all hands are over.
        """
        play_on(self.states, self._live, *self._rooms, self._counts)
        live, calls, cards = self._counts.tolist()
        check_fits(live >= 0)
        return (calls, cards) if live else None

    def apply(self, rows: Tensor, chosen: Tensor) -> None:
        """Carry out these actions in these rows, both int64 (m,)."""
        apply_rows(self.states, self.tables, rows.numpy(), chosen.numpy())

    def sample(
        self, logits: Tensor, legal: Tensor, seed: int, outputs: Tensor, log_probs: Tensor
    ) -> None:
        """See `learning.sampling.sample`."""
        arrays = (logits.numpy(), legal.numpy(), seed, outputs.numpy(), log_probs.numpy())
        sample(*arrays)

    def actions(self, features: Features, outputs: Tensor, symmetries: Tensor) -> Tensor:
        """The actions of these outputs, int64 (m,)."""
        return torch.from_numpy(features.actions(outputs.numpy(), symmetries.numpy()))

    def returns(
        self, seats: Tensor, rewards: Tensor, ended: Tensor, values: Tensor, lambda_: float
    ) -> Tensor:
        """See `lambda_returns`; float32 (T, n)."""
        arrays = (tensor.cpu().numpy() for tensor in (seats, rewards, ended, values))
        returns = lambda_returns(*arrays, lambda_=lambda_).returns
        return torch.from_numpy(returns).to(self.device)

    def outcomes(self) -> Outcomes:
        """The results of the hands, all of which are over."""
        outcomes = Outcomes(*(np.zeros(self.n, kind) for kind in (np.int64, np.bool_, np.bool_)))
        outcome_rows(self.states, self.tables, outcomes)
        return outcomes


class Part:
    """The decisions of one part of a batch so far, tensors, and the choices in it."""

    def __init__(self, tables: Tables, name: str, all_hands: bool) -> None:
        rules = tables.rules
        self.features, self.tables = features_of(rules, name), tables
        exchanged = max(bid.exchange for bid in rules.ladder)
        per_hand = 4 * rules.tricks + 2 * exchanged if name == "cards" else AUCTION_DECISIONS
        n = tables.n * per_hand
        self.all_hands = all_hands
        self.room = tables.add_room(self.features, n, all_hands)
        self.outputs, self.steps = (tables.zeros(n, torch.int64) for _ in range(2))
        # steps: in which round of decisions of this part each was made
        self.log_probs, self.values = (tables.zeros(n, torch.float32) for _ in range(2))
        self.forced = tables.zeros(n, torch.bool)
        self.n = self.rounds = 0

    def clear(self) -> None:
        """Begin a batch without decisions."""
        self.n = self.rounds = 0
        self.forced[:] = False

    def evaluate(self, new: slice, weights: Weights, critic: Weights | None) -> Tensor:
        """The network's outputs for these decisions, (n, O); their values are stored."""
        lists = self.room.inputs[new]
        with torch.no_grad():
            outputs = forward(weights, lists)
            self.values[new] = outputs[:, -1]
            if critic is not None:
                self.values[new] = forward(critic, lists, self.room.hidden[new])[:, 0]
        return outputs[:, :-1].contiguous()

    def choose(self, new: slice, logits: Tensor, seed: int) -> Tensor:
        """Draw among the legal outputs by these logits; the actions, int64 (n,)."""
        drawn = self.outputs[new], self.log_probs[new]
        self.tables.sample(logits, self.room.legal[new], seed, *drawn)
        return self.tables.actions(self.features, self.outputs[new], self.room.symmetries[new])

    def decisions(self, returns: Tensor, rows: Any) -> Decisions:
        """The decisions of these rows, with the returns of all."""
        room = self.room
        columns = (room.inputs, room.legal, self.outputs, self.log_probs, self.values)
        hidden = room.hidden if self.all_hands else room.hidden.new_zeros((self.n, 0))
        return Decisions(*(column[rows] for column in (*columns, returns, self.forced, hidden)))


class Dealer:
    """Plays batches of `tables` hands of a game, on `device`.

    With `all_hands` the others' cards are listed, for a critic that sees them.
    """

    def __init__(
        self, rules: Rules, tables: int, device: str = "cpu", all_hands: bool = False
    ) -> None:
        self.n, self.tables = tables, Tables(rules, tables)
        if device != "cpu":
            from ppo.rollout_gpu import DeviceTables

            self.tables = DeviceTables(rules, tables)
        self.parts = {
            name: Part(self.tables, name, all_hands and name == "cards") for name in PARTS
        }
        acts = actions.of(rules)
        bids = [bid.alone for bid in rules.ladder for _ in range(acts.strains_per_bid)]
        alone = np.zeros(self.parts["auction"].features.outputs, bool)
        alone[1 : 1 + len(bids)] = bids
        self._alone = self._to_device(alone)

    def _to_device(self, array: Array) -> Tensor:
        return torch.from_numpy(array).to(self.tables.device)

    def play(self, terms: Terms, networks: Networks) -> Batch:
        """Play a batch by these networks."""
        began = time.process_time()
        rng = np.random.default_rng([terms.seed, terms.number])
        words = rng.integers(0, 2**64, 2, np.uint64)
        self.tables.begin(words[0], words[1])
        for part in self.parts.values():
            part.clear()
        while (counts := self.tables.play_on()) is not None:
            for (name, part), count in zip(self.parts.items(), counts, strict=True):
                new = slice(part.n, count)
                part.n = new.stop
                if new.start == new.stop:
                    continue
                part.steps[new] = part.rounds
                part.rounds += 1
                critic = networks.get(CRITIC) if name == "cards" else None
                logits = part.evaluate(new, networks[name], critic)
                if name == "auction":
                    logits = self._explore(terms, rng, new, logits)
                chosen = part.choose(new, logits, int(rng.integers(2**63)))
                self.tables.apply(part.room.keys[new] >> 2, chosen)
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
        draw, kind = self._to_device(rng.random((2, len(points))))
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
        outcomes = self.tables.outcomes()
        points = self._to_device(outcomes.points).double() / terms.scale
        rewards = torch.stack([points, -points, points, -points], dim=1).float()
        auction, cards = self.parts["auction"], self.parts["cards"]
        of_cards = self._returns(cards, rewards, terms.lambda_)
        of_calls = rewards.reshape(-1)[auction.room.keys[: auction.n]]
        return Batch(
            auction=auction.decisions(of_calls, self._learned_calls()),
            cards=cards.decisions(of_cards, slice(cards.n)),
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
        shape = (part.rounds + 1, self.n)
        acted, values = zeros(shape, torch.int8) - 1, zeros(shape, torch.float32)
        acted[at], values[at] = (keys & 3).to(torch.int8), part.values[: part.n]
        paid, ended = zeros((*shape, 4), torch.float32), zeros(shape, torch.bool)
        paid[-1], ended[-1] = rewards, True
        return self.tables.returns(acted, paid, ended, values, lambda_)[at]

    def _learned_calls(self) -> Tensor:
        """The calls that are learned from: none before the last forced call of its hand."""
        auction = self.parts["auction"]
        rows = auction.room.keys[: auction.n] >> 2
        forced = auction.forced[: auction.n]
        first, at = self.tables.zeros(self.n, torch.int64), torch.nonzero(forced)[:, 0]
        first.scatter_reduce_(0, rows[forced], at, "amax")
        return torch.nonzero(torch.arange(auction.n, device=rows.device) >= first[rows])[:, 0]


def check_fits(fits: bool) -> None:
    """Raise `RuntimeError` unless all lists of inputs have fitted."""
    if not fits:
        raise RuntimeError(f"more than {WIDTH - 1} inputs are 1: lists are too short")
