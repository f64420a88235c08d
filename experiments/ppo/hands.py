"""Experience: whole hands played in lock step, and the decisions of each part that come of them.

Every batch begins with deals of its own, drawn from the run's seed and the batch's number alone,
and is played until all its hands are over. So nothing but weights goes from one to the next.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bideuchre_env.core.observation.encode import encode
from bideuchre_env.core.observation.layout import layout_of
from bideuchre_env.core.rows import apply_rows, deal_rows, seed_rows, start_rows
from bideuchre_env.core.state import DEAL, NAMING, new_states
from bideuchre_env.core.step import apply, legal_bits, only_one, pick_legal, write_mask
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.learning.feature_rows import FeatureWorkspace, active_inputs, list_legal
from bideuchre_env.learning.features import PARTS, features_of
from bideuchre_env.learning.returns import lambda_returns
from bideuchre_env.learning.sampling import sample
from bideuchre_env.learning.suits import SUIT_MAPS
from bideuchre_env.rules import actions
from bideuchre_env.rules.cards import COPY_SHIFT, MAX_TRICKS, N_SEATS
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.intrinsics import lowest_bit, row_of
from bideuchre_env.runtime.jit import Array, Row, entry_kernel, kernel
from ppo.nets import NEVER, Weights, outputs_of
from ppo.sparse import WIDTH

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
HIDDEN = 1 + 3 * MAX_TRICKS  # of a list of the others' cards


class Decisions(NamedTuple):
    """The decisions of one part that are learned from; n of them, in the order they were made."""

    inputs: Array  # int16 (n, WIDTH): lists of those that are 1
    legal: Array  # int8 (n, O)
    outputs: Array  # int64 (n,): what was chosen
    log_probs: Array  # float32 (n,): of it; nothing is learned from those of calls
    values: Array  # float32 (n,): the critic's, when it was chosen
    returns: Array  # float32 (n,): what the critic is to say
    forced: Array  # bool (n,): forced upon the player, in the auction
    hidden: Array  # int16 (n, HIDDEN) or (n, 0): lists of the cards that the others hold


class Batch(NamedTuple):
    """What one batch of hands gave; `decisions` counts all that had a choice."""

    auction: Decisions
    cards: Decisions
    decisions: int
    hands: int
    lone: int  # contracts played alone
    set_back: int  # contracts not made
    processor: float  # seconds that it took


class Room(NamedTuple):
    """Room for a part's decisions as they are seen, and what they are seen with."""

    inputs: Array  # int16 (n, WIDTH)
    legal: Array  # int8 (n, O)
    symmetries: Array  # int64 (n,)
    keys: Array  # int64 (n,): table * 4 + seat
    observation: Array  # int8 (1, D)
    mask: Array  # int8 (1, A)
    features: FeatureWorkspace
    hidden: Array  # int16 (n, HIDDEN), or (0, HIDDEN) where nobody asks for it


@entry_kernel
def go_on(states: Array, live: Array, auction: Room, cards: Room, counts: Array) -> None:
    """Play what is forced in the rows `live[:counts[0]]`, and show what waits for a choice.

    `counts` (3,): the rows still live, which move to the front of `live`, and how many decisions
    of each part there are in its room so far; those that wait are entered after these. A count
    of -1 says that a list was too long.
    """
    t, o = cards.features.tables[0], cards.features.offsets[0]
    n = 0
    for j in range(counts[0]):
        i = live[j]
        s = states[i]
        bits = legal_bits(s, t)
        while s.phase < DEAL and only_one(t, s.phase, bits):
            apply(s, t, pick_legal(t, s.phase, bits, np.uint64(0)))
            bits = legal_bits(s, t)
        if s.phase >= DEAL:
            continue
        live[n] = i
        n += 1
        if s.phase <= NAMING:
            fits = enter(s, t, o, bits, i, auction, counts[1])
            counts[1] += 1
        else:
            fits = enter(s, t, o, bits, i, cards, counts[2])
            counts[2] += 1
        if not fits:
            counts[0] = -1
            return
    counts[0] = n


@kernel
def enter(s: Row, t: Row, o: Row, bits: int, i: int, room: Room, at: int) -> bool:
    """Enter the decision of table i at a place of the room; False if its list is too long."""
    observation, mask = row_of(room.observation, 0), row_of(room.mask, 0)
    encode(s, t, o, s.turn, observation)
    write_mask(t, s.phase, bits, mask)
    n, symmetry = active_inputs(observation, True, room.features)
    if n >= WIDTH:
        return False
    room.inputs[at, 0] = n
    for j in range(n):
        room.inputs[at, 1 + j] = room.features.active[0, j]
    list_legal(mask, t, room.features.places[0].cards, symmetry, room.legal, at)
    room.symmetries[at] = symmetry
    room.keys[at] = 4 * i + s.turn
    if len(room.hidden):
        enter_hidden(s, t, symmetry, room.hidden, at)
    return True


@kernel
def enter_hidden(s: Row, t: Row, symmetry: int, hidden: Array, at: int) -> None:
    """List the cards that the three others hold, by seat and copy, their suits renamed."""
    n = 0
    for rel in range(1, N_SEATS):
        hand = s.hands[(s.turn + rel) & 3]
        for copy in range(2):
            kinds = (hand >> (copy * COPY_SHIFT)) & ((1 << COPY_SHIFT) - 1)
            while kinds:
                kind = lowest_bit(kinds)
                kinds &= kinds - 1
                n += 1
                first = (2 * (rel - 1) + copy) * t.kinds
                hidden[at, n] = first + (kind & ~3) + SUIT_MAPS[symmetry, kind & 3]
    hidden[at, 0] = n


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
    """The decisions of one part of a batch so far, and what chooses in it."""

    def __init__(self, rules: Rules, name: str, tables: int, device: str, all_hands: bool) -> None:
        self.features, self.device = features_of(rules, name), device
        layout, n_actions = layout_of(rules), actions.of(rules).n
        exchanged = max(bid.exchange for bid in rules.ladder)
        per_hand = 4 * rules.tricks + 2 * exchanged if name == "cards" else AUCTION_DECISIONS
        n = tables * per_hand
        self.room = Room(
            inputs=np.zeros((n, WIDTH), np.int16),
            legal=np.zeros((n, self.features.outputs), np.int8),
            symmetries=np.zeros(n, np.int64),
            keys=np.zeros(n, np.int64),
            observation=np.zeros((1, layout.size), np.int8),
            mask=np.zeros((1, n_actions), np.int8),
            features=self.features.workspace(),
            hidden=np.zeros((n if all_hands else 0, HIDDEN), np.int16),
        )
        self.outputs, self.players = np.zeros(n, np.int64), np.zeros(n, np.int8)
        self.log_probs, self.values = np.zeros(n, np.float32), np.zeros(n, np.float32)
        self.forced = np.zeros(n, bool)
        self.steps = np.zeros(n, np.int64)  # how often the part was asked before
        self.n = self.asked = 0

    def consult(
        self, new: slice, weights: Weights, past: Weights | None, critic: Weights | None
    ) -> Array:
        """What the nets of their players say of these decisions, (n, O); values are kept."""
        found = outputs_of(weights, self.room.inputs[new], self.device)
        if past is not None:
            at = np.flatnonzero(self.players[new] == PAST)
            found[at] = outputs_of(past, self.room.inputs[new][at], self.device)
        self.values[new] = found[:, -1]
        if critic is not None:
            lists, hidden = self.room.inputs[new], self.room.hidden[new]
            self.values[new] = outputs_of(critic, lists, self.device, hidden)[:, 0]
        return np.ascontiguousarray(found[:, :-1])

    def choose(self, new: slice, logits: Array, seed: int) -> Array:
        """Draw from the legal ones by these logits; the actions, int64 (n,)."""
        sample(logits, self.room.legal[new], seed, self.outputs[new], self.log_probs[new])
        return self.features.actions(self.outputs[new], self.room.symmetries[new])

    def kept(self, learned: Array, returns: Array) -> Decisions:
        """The decisions that are learned from."""
        at = np.flatnonzero(learned)
        whole = len(at) == self.n
        columns = self.room.inputs, self.room.legal, self.outputs, self.log_probs, self.values
        first = [column[: self.n] if whole else column[at] for column in columns]
        hidden = self.room.hidden[at] if len(self.room.hidden) else np.zeros((len(at), 0), np.int16)
        return Decisions(*first, returns[at], self.forced[at], hidden)  # type: ignore[arg-type]


class Dealer:
    """Plays batches of `tables` hands of a game; with `all_hands`, others' cards are listed."""

    def __init__(
        self, rules: Rules, tables: int, device: str = "cpu", all_hands: bool = False
    ) -> None:
        self.rules, self.n = rules, tables
        self.tables = compile_tables(rules)
        self.states = new_states(tables)
        self.parts = {
            name: Part(rules, name, tables, device, all_hands and name == "cards") for name in PARTS
        }
        acts = actions.of(rules)
        bids = [bid.alone for bid in rules.ladder for _ in range(acts.strains_per_bid)]
        self._alone = np.zeros(self.parts["auction"].features.outputs, bool)
        self._alone[1 : 1 + len(bids)] = bids

    def play(
        self, terms: Terms, nets: dict[str, Weights], past: dict[str, Weights] | None = None
    ) -> Batch:
        """Play a batch by these nets; with `past` one side of a share of the hands by those."""
        began = time.process_time()
        rng = np.random.default_rng([terms.seed, terms.number])
        words = rng.integers(0, 2**64, 2, np.uint64)
        seed_rows(self.states, words[0], words[1])
        start_rows(self.states, self.tables, np.full(self.n, -1))
        deal_rows(self.states, self.tables)
        self._begin(terms, with_past=past is not None)
        counts, live = np.array([self.n, 0, 0]), np.arange(self.n)
        auction, cards = self.parts["auction"], self.parts["cards"]
        while True:
            go_on(self.states, live, auction.room, cards.room, counts)
            if counts[0] < 0:
                raise RuntimeError(f"more than {WIDTH - 1} inputs are 1: lists are too short")
            if not counts[0]:
                return self._batch(terms, began)
            for part, count in ((auction, counts[1]), (cards, counts[2])):
                new = slice(part.n, int(count))
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
                apply_rows(self.states, self.tables, keys >> 2, chosen)

    def _begin(self, terms: Terms, with_past: bool) -> None:
        """Begin with no decisions, and settle who plays which side."""
        players = np.zeros((self.n, 4), np.int8)
        if with_past:
            first = self.n - int(terms.past * self.n)
            side = np.arange(first, self.n) & 1
            players[np.arange(first, self.n), side] = PAST
            players[np.arange(first, self.n), side + 2] = PAST
        self._players = players.reshape(-1)
        for part in self.parts.values():
            part.n = part.asked = 0
            part.forced[:] = False

    def _explore(self, terms: Terms, rng: np.random.Generator, new: slice, points: Array) -> Array:
        """The logits of calls, (n, O), from the auction net's points; enters which are forced.

        A forced call is any one, or half of the time any that does not look far behind.
        """
        auction = self.parts["auction"]
        points = points * np.float32(terms.scale)
        legal = auction.room.legal[new] != 0
        present = auction.players[new] == PRESENT
        draw, kind = rng.random((2, len(points)))
        forced = present & (draw < terms.forced)
        logits = points / np.float32(terms.temperature)
        logits[forced] = points[forced] / np.float32(WIDE)
        logits[forced & (kind < 0.5)] = 0.0
        alone = np.where(legal & self._alone, points, NEVER)
        ahead = alone.max(1) - np.where(legal & ~self._alone, points, NEVER).max(1)
        may = (legal & self._alone).any(1)
        near = may & (ahead > np.quantile(ahead[may], 1 - BEST)) if may.any() else may
        near &= present & (draw >= terms.forced) & (draw < terms.forced + terms.alone)
        logits[near] = alone[near] / np.float32(WIDE)
        auction.forced[new] = forced | near
        return np.ascontiguousarray(logits, np.float32)

    def _batch(self, terms: Terms, began: float) -> Batch:
        """The decisions of the hands that are over."""
        states = self.states
        points = (states["points"][:, 0] - states["points"][:, 1]) / terms.scale
        rewards = np.stack([points, -points, points, -points], axis=1).astype(np.float32)
        auction, cards = self.parts["auction"], self.parts["cards"]
        back = self._returns(cards, rewards, terms.lambda_)
        level, side = states["level"].astype(np.int64), states["declarer"] & 1
        won = states["tricks_won"][np.arange(self.n), side]
        played = level >= 0
        return Batch(
            auction=auction.kept(
                self._learned_calls(), rewards.reshape(-1)[auction.room.keys[: auction.n]]
            ),
            cards=cards.kept(cards.players[: cards.n] == PRESENT, back),
            decisions=auction.n + cards.n,
            hands=self.n,
            lone=int((played & (states["sitting_out"] >= 0)).sum()),
            set_back=int((played & (won < self.tables["need"][0][level])).sum()),
            processor=time.process_time() - began,
        )

    def _returns(self, part: Part, rewards: Array, lambda_: float) -> Array:
        """The lambda-returns of a part's decisions, each seat's own; the hands end after them."""
        rows, seats = np.divmod(part.room.keys[: part.n], 4)
        at = part.steps[: part.n], rows
        shape = (int(part.steps[part.n - 1]) + 2 if part.n else 1, self.n)
        acted, values = np.full(shape, -1, np.int8), np.zeros(shape, np.float32)
        acted[at], values[at] = seats, part.values[: part.n]
        paid, ended = np.zeros((*shape, 4), np.float32), np.zeros(shape, bool)
        paid[-1], ended[-1] = rewards, True
        found: Array = lambda_returns(acted, paid, ended, values, lambda_=lambda_).returns[at]
        return found

    def _learned_calls(self) -> Array:
        """Which calls are learned from.

        The present self's, and none before the last forced one of its hand.
        """
        auction = self.parts["auction"]
        rows = auction.room.keys[: auction.n] >> 2
        forced = auction.forced[: auction.n]
        first = np.zeros(self.n, np.int64)
        first[rows[forced]] = np.flatnonzero(forced)
        learned: Array = np.arange(auction.n) >= first[rows]
        return learned & (auction.players[: auction.n] == PRESENT)
