"""What a seat sees: blocks declared once, from which offsets, bounds, table and decoder follow.

An observation is one int8 vector: the seat's private blocks, then the public blocks, with every
seat relative to the observer (0 self, 1 left, 2 partner, 3 right). It remembers the whole hand
and nothing hidden is in it. The global state is the private blocks of all four seats, then the
public blocks seen from seat 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from bideuchre_env._jit import Array, Row, inline_kernel, kernel, records
from bideuchre_env.cards import MAX_TRICKS, N_SEATS
from bideuchre_env.rules import Rules
from bideuchre_env.spread import clear, spread_bits, spread_hand
from bideuchre_env.state import DEAL, PLAY, Phase
from bideuchre_env.tables import ROUNDS

CLIP = 127
SEEN_PHASES = int(Phase.DEAL)  # the five phases somebody acts in
PRIVATE = ("hand", "discarded", "passed")
PUBLIC = (
    "phase",
    "to_act",
    "dealer",
    "calls",
    "call_strains",
    "bid",
    "strain",
    "declarer",
    "sitting_out",
    "trick",
    "led",
    "winning",
    "played",
    "voids",
    "tricks_won",
    "score",
    "to_go",
    "target",
    "hands_left",
)
OFFSETS = np.dtype([(name, np.int32) for name in (*PRIVATE, *PUBLIC, "private", "entries")])


@dataclass(frozen=True)
class Block:
    """A named run of an observation: its shape (row-major), bounds and meaning."""

    name: str
    shape: tuple[int, ...]
    low: int
    high: int
    meaning: str

    @property
    def size(self) -> int:
        """Entries in the block."""
        return prod(self.shape)


def declare_blocks(rules: Rules) -> tuple[Block, ...]:
    """The blocks of these rules, in order; a block for what the game does not have is left out."""
    kinds, copies, tricks, bids = rules.kinds, rules.copies, rules.tricks, len(rules.ladder)
    aimed = rules.win_rule != "rounds"
    in_bid, exchange = rules.strain_named == "in_bid", rules.exchange > 0
    most_hands = rules.max_hands if aimed else min(rules.max_hands, 4 * (rules.rounds or 0))
    declared: dict[str, tuple[Any, ...]] = {
        "hand": ((kinds,), 0, copies, "copies of each card kind held"),
        "discarded": ((kinds,), 0, copies, "cards given up as declarer", exchange),
        "passed": ((kinds,), 0, copies, "cards passed from partner to declarer", exchange),
        "phase": ((SEEN_PHASES,), 0, 1, "auction, naming, giving, passing, play; none when over"),
        "to_act": ((4,), 0, 1, "seat to act; none when over"),
        "dealer": ((4,), 0, 1, "seat"),
        "calls": ((4, 1 + bids), 0, 1, "by seat: pass, or the bid by level; none yet"),
        "call_strains": ((4, 5), 0, 1, "by seat: strain of its bid, C D H S NT", in_bid),
        "bid": ((bids,), 0, 1, "the contract's bid by level; none while the auction runs"),
        "strain": ((5,), 0, 1, "the contract's strain, C D H S NT; none while unnamed"),
        "declarer": ((4,), 0, 1, "seat; none while the auction runs"),
        "sitting_out": ((4,), 0, 1, "seat of a lone declarer's partner", bool(rules.lone)),
        "trick": ((3, kinds), 0, 1, "card of left, partner, right in the current trick"),
        "led": ((4,), 0, 1, "suit led to the current trick, C D H S, bowers by strain"),
        "winning": ((4,), 0, 1, "seat now winning the current trick"),
        "played": ((4, copies, kinds), 0, tricks, "by seat: trick a card was played to, from 1"),
        "voids": ((4, 4), 0, 1, "by seat: suits, C D H S, it has failed to follow"),
        "tricks_won": ((2,), 0, tricks, "tricks of our side, of theirs"),
        "score": ((2,), -CLIP, CLIP, "points of our side, of theirs, clipped"),
        "to_go": ((2,), -CLIP, CLIP, "target minus points: ours, theirs, clipped", aimed),
        "target": ((1,), 0, CLIP, "points that end the game, clipped", aimed),
        "hands_left": ((1,), 0, min(CLIP, most_hands), "deals left, this one included, clipped"),
    }
    return tuple(
        Block(name, *facts[:4]) for name, facts in declared.items() if facts[4:] != (False,)
    )


class Layout:
    """Where everything is in an observation of one game; `str(layout)` is a table.

    `blocks` are the declared blocks, `slices[name]` where each stands, `low` and `high` int8
    bounds of shape (size,). `decode` gives words back.
    """

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.blocks = declare_blocks(rules)
        self.slices: dict[str, slice] = {}
        start = 0
        for block in self.blocks:
            self.slices[block.name] = slice(start, start + block.size)
            start += block.size
        self.size = start
        self.private_size = sum(b.size for b in self.blocks if b.name in PRIVATE)
        self.low, self.high = self._bounds(1)
        self.offsets = self._offsets()

    @property
    def state_size(self) -> int:
        """Entries in the global state: four seats' private blocks and one public part."""
        return self.size + 3 * self.private_size

    def state_bounds(self) -> tuple[Array, Array]:
        """int8 bounds of the global state, each of shape (state_size,)."""
        return self._bounds(N_SEATS)

    def _bounds(self, seats: int) -> tuple[Array, Array]:
        private = [b for b in self.blocks if b.name in PRIVATE]
        order = private * seats + [b for b in self.blocks if b.name not in PRIVATE]
        low = np.concatenate([np.full(b.size, b.low, np.int8) for b in order])
        high = np.concatenate([np.full(b.size, b.high, np.int8) for b in order])
        low.flags.writeable = high.flags.writeable = False
        return low, high

    def _offsets(self) -> Array:
        """The offsets as a record for kernels: public ones count from the public part."""
        table = records(OFFSETS, 1)
        for name in (*PRIVATE, *PUBLIC):
            table[name] = self.slices[name].start if name in self.slices else -1
            if name in PUBLIC and name in self.slices:
                table[name] -= self.private_size
        table["private"], table["entries"] = self.private_size, self.size
        table.flags.writeable = False
        return table

    def decode(self, observation: Array) -> dict[str, object]:
        """An observation of shape (size,) in words, seats relative to the observer."""
        from bideuchre_env.decode import decode

        return decode(self, observation)

    def __repr__(self) -> str:
        return f"Layout(size={self.size}, blocks={[block.name for block in self.blocks]})"

    def __str__(self) -> str:
        rows = [("block", "at", "shape", "bounds", "meaning")]
        for block in self.blocks:
            at = self.slices[block.name]
            shape = " x ".join(map(str, block.shape))
            bounds = f"{block.low}..{block.high}"
            rows.append((block.name, f"{at.start}:{at.stop}", shape, bounds, block.meaning))
        widths = [max(len(row[i]) for row in rows) for i in range(4)]
        lines = [
            "  ".join([*(cell.ljust(w) for cell, w in zip(row[:4], widths, strict=True)), row[4]])
            for row in rows
        ]
        return "\n".join(lines)


@lru_cache(maxsize=256)
def layout_of(rules: Rules) -> Layout:
    """The layout of these rules, one per `Rules`."""
    return Layout(rules)


@inline_kernel
def clip(value: int) -> int:
    """A running total as far as an int8 can tell it."""
    return min(max(value, -CLIP), CLIP)


@inline_kernel
def encode_private(s: Row, t: Row, o: Row, seat: int, out: Array, at: int) -> None:
    """Write what only this seat knows to `out[at:]`, which holds zeros."""
    spread_hand(out, at + int(o.hand), int(s.hands[seat]), int(t.kinds))
    declarer = int(s.declarer)
    if s.given[0] < 0 or (seat ^ declarer) & 1:
        return
    passes_known = seat != declarer or int(s.phase) >= PLAY
    for i in range(len(s.given)):
        if seat == declarer and s.given[i] >= 0:
            out[at + int(o.discarded) + int(s.given[i])] += 1
        if passes_known and s.passed[i] >= 0:
            out[at + int(o.passed) + int(s.passed[i])] += 1


@inline_kernel
def encode_public(s: Row, t: Row, o: Row, seat: int, out: Array, at: int) -> None:
    """Write what every seat knows, as seen from this one, to `out[at:]`, which holds zeros."""
    phase, declarer, voids = int(s.phase), int(s.declarer), 0
    calls, width = at + int(o.calls), 1 + int(t.n_levels)
    for rel in range(N_SEATS):
        who = (seat + rel) & 3
        call = int(s.calls[who])
        if call >= 0:
            out[calls + call] = 1
        calls += width
        voids |= int(s.voids[who]) << 4 * rel
    spread_bits(out, at + int(o.voids), np.uint64(voids), 16)
    if phase < DEAL:
        out[at + int(o.phase) + phase] = 1
        out[at + int(o.to_act) + ((int(s.turn) - seat) & 3)] = 1
    out[at + int(o.dealer) + ((int(s.dealer) - seat) & 3)] = 1
    if int(t.strains_per_bid) > 1:
        for rel in range(N_SEATS):
            strain = int(s.call_strains[(seat + rel) & 3])
            if strain >= 0:
                out[at + int(o.call_strains) + rel * 5 + strain] = 1
    if int(s.calls_made) == 4 and declarer >= 0:
        out[at + int(o.bid) + int(s.level)] = 1
        out[at + int(o.declarer) + ((declarer - seat) & 3)] = 1
        if s.strain >= 0:
            out[at + int(o.strain) + int(s.strain)] = 1
        if s.sitting_out >= 0:
            out[at + int(o.sitting_out) + ((int(s.sitting_out) - seat) & 3)] = 1
        encode_play(s, t, o, seat, out, at)
    encode_game(s, t, o, seat, out, at)


@inline_kernel
def encode_play(s: Row, t: Row, o: Row, seat: int, out: Array, at: int) -> None:
    """Write the public blocks of the play."""
    kinds, trick, led = int(t.kinds), int(s.trick), int(s.led)
    stride, first = kinds * int(t.copies), at + int(o.played)
    for rel in range(N_SEATS):
        who, seen = (seat + rel) & 3, 0
        if who != int(s.sitting_out):
            plays = MAX_TRICKS * who
            for n in range(trick):
                kind = int(s.plays[plays + n])
                # the second copy that a seat plays has a plane of its own
                out[first + kind + kinds * (seen >> kind & 1)] = 1 + n
                seen |= 1 << kind
            kind = int(s.plays[plays + trick]) if led >= 0 else -1
            if kind >= 0:
                out[first + kind + kinds * (seen >> kind & 1)] = 1 + trick
                if rel > 0:
                    out[at + int(o.trick) + (rel - 1) * kinds + kind] = 1
        first += stride
    if led >= 0:
        out[at + int(o.led) + led] = 1
        out[at + int(o.winning) + ((int(s.winning) - seat) & 3)] = 1
    side = seat & 1
    out[at + int(o.tricks_won)] = s.tricks_won[side]
    out[at + int(o.tricks_won) + 1] = s.tricks_won[1 - side]


@inline_kernel
def encode_game(s: Row, t: Row, o: Row, seat: int, out: Array, at: int) -> None:
    """Write the public blocks of the game: scores, target, hands left."""
    side = seat & 1
    for i in range(2):
        score = int(s.score[side ^ i])
        out[at + int(o.score) + i] = clip(score)
        if int(o.to_go) >= 0:
            out[at + int(o.to_go) + i] = clip(int(t.target) - score)
    if int(o.target) >= 0:
        out[at + int(o.target)] = clip(int(t.target))
    left = int(t.max_hands) - int(s.hands_dealt) + 1
    if int(t.win_rule) == ROUNDS:
        this_one = 1 if int(s.phase) >= DEAL and int(s.level) >= 0 else 0
        left = min(left, int(t.hands_to_play) - int(s.hands_played) + this_one)
    out[at + int(o.hands_left)] = clip(left)


@kernel
def encode(s: Row, t: Row, o: Row, seat: int, out: Array) -> None:
    """Write the observation of a seat to `out`, int8 of shape (size,)."""
    clear(out, 0, int(o.entries))
    encode_private(s, t, o, seat, out, 0)
    encode_public(s, t, o, seat, out, int(o.private))


@kernel
def encode_state(s: Row, t: Row, o: Row, out: Array) -> None:
    """Write the global state to `out`, int8 of shape (state_size,)."""
    clear(out, 0, int(o.entries) + (N_SEATS - 1) * int(o.private))
    for seat in range(N_SEATS):
        encode_private(s, t, o, seat, out, seat * int(o.private))
    encode_public(s, t, o, 0, out, N_SEATS * int(o.private))
