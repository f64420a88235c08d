"""The blocks of an observation, each declared once in `every_block`.

Offsets, bounds, words and the printed table follow from the declarations; the kernels that write
the blocks are in `encode.py`, those that read them in `decode.py`. A reader turns the entries of a
block, or of each seat's part of it, into words.

An observation is one int8 vector: the seat's private blocks, then the public blocks, with every
seat relative to the observer (0 self, 1 left, 2 partner, 3 right). It has the history of the
whole hand and nothing hidden. The global state is the private blocks of all four seats, then the
public blocks seen from seat 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import compress, product
from math import prod
from typing import Any

import numpy as np

from bideuchre_env._checks import to_array
from bideuchre_env.core.blocks import Blocks, offsets_dtype
from bideuchre_env.core.observation.decode import CLIP, decode_row
from bideuchre_env.core.observation.scaling import scale_rows
from bideuchre_env.core.phases.auction import LEVEL_BITS, LEVEL_MASK
from bideuchre_env.core.state import Phase, new_states
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.errors import OptionError
from bideuchre_env.rules import actions
from bideuchre_env.rules.cards import CARD_NAMES, N_SEATS, SUITS
from bideuchre_env.rules.rules import Rules, check_rules
from bideuchre_env.runtime.jit import Array

SEATS = ("self", "left", "partner", "right")
"""Seats relative to the observer."""
SIDES = ("ours", "theirs")
ACTED_PHASES = tuple(phase.name.lower() for phase in Phase if phase < Phase.DEAL)


@dataclass(frozen=True)
class Block:
    """A named slice of an observation: its axes (row-major), bounds and meaning.

    `axes` has the labels along each axis, "" for none. Only the seat itself sees `private` blocks.
    A block that is not `present` has no entries in this game. `read` returns the words of
    consecutive entries, those of a seat if the block has several axes.
    """

    name: str
    axes: tuple[tuple[str, ...], ...]
    low: int
    high: int
    meaning: str
    read: Callable[[Block, bytes], Any] = field(repr=False)
    private: bool = False
    present: bool = True

    @property
    def shape(self) -> tuple[int, ...]:
        """Length of each axis."""
        return tuple(map(len, self.axes))

    @property
    def size(self) -> int:
        """Entries in the block."""
        return prod(self.shape)

    @property
    def entries(self) -> tuple[str, ...]:
        """Names of all entries in order: block and labels, such as "calls left bid 4"."""
        return tuple(" ".join(filter(None, (self.name, *at))) for at in product(*self.axes))

    def words(self, entries: bytes) -> Any:
        """Return the words of the block's entries: a list by seat if it has several axes.

        They are None or an empty list if the block is not `present`.
        """
        if not self.present:
            return [] if self.private else None
        if len(self.axes) == 1:
            return self.read(self, entries)
        width = len(entries) // len(self.axes[0])
        return [self.read(self, entries[at : at + width]) for at in range(0, len(entries), width)]


def seat(block: Block, entries: bytes) -> int | None:
    """Return the index of the first 1, a seat relative to the observer; None without one."""
    at = entries.find(1)
    return at if at >= 0 else None


def label(block: Block, entries: bytes) -> str | None:
    """Return the label of the first 1; None without one."""
    at = entries.find(1)
    return block.axes[-1][at] if at >= 0 else None


def labels(block: Block, entries: bytes) -> str:
    """Return the labels of all ones as one word."""
    return "".join(compress(block.axes[-1], entries)) if 1 in entries else ""


def cards(block: Block, entries: bytes) -> list[str]:
    """Return the cards counted by kind, sorted by name."""
    kinds = block.axes[-1]
    return sorted([kinds[at] for at, n in enumerate(entries) if n for _ in range(n)])


def cards_by_trick(block: Block, entries: bytes) -> list[str | None]:
    """Return the card of each trick, None if none; the entries are tricks from 1, by kind."""
    kinds = (*(block.axes[-1] * len(block.axes[-2])), None)  # -1 is not found
    return [kinds[entries.find(trick)] for trick in range(1, block.high + 1)]


def numbers(block: Block, entries: bytes) -> list[int]:
    """Return the entries, int8."""
    return [entry - 256 if entry > CLIP else entry for entry in entries]


def number(block: Block, entries: bytes) -> int:
    """Return the entry of a block of one, which is not negative."""
    return entries[0]


def every_block(rules: Rules) -> tuple[Block, ...]:
    """Return all blocks in order, the private ones first, also those that these rules lack."""
    copies, tricks = rules.copies, rules.tricks
    kinds, twins = CARD_NAMES[: rules.kinds], ("first", "second") if copies == 2 else ("",)
    bids = tuple(bid.name for bid in rules.ladder)
    calls = ("pass", *(f"bid {bid}" for bid in bids))
    exchange, strains = rules.exchange > 0, " ".join(rules.strains)
    in_bid, to_target = rules.strain_named != "after_auction", rules.win_rule != "rounds"
    in_rounds, kitty = rules.auction != "once", rules.kitty > 0
    each = (
        "each bid by level, and pass if that was its last call"
        if in_rounds
        else "pass, or the bid by level"
    )
    given = "cards given up as declarer"
    if rules.exchange_seen == "open":
        given += ", or by partner as declarer"
    most_hands = rules.hands_to_play or rules.max_hands
    suits = tuple(SUITS)
    # fmt: off
    return (
        Block("hand", (kinds,), 0, copies, "copies of each card kind held", cards, private=True),
        Block("kitty", (kinds,), 0, copies, "cards taken up from the kitty as declarer", cards,
              private=True, present=kitty),
        Block("laid_away", (kinds,), 0, copies, "cards laid away for the kitty as declarer", cards,
              private=True, present=kitty),
        Block("discarded", (kinds,), 0, copies, given, cards,
              private=True, present=exchange),
        Block("passed", (kinds,), 0, copies, "cards passed from partner to declarer", cards,
              private=True, present=exchange),
        Block("phase", (ACTED_PHASES,), 0, 1,
              "auction, naming, giving, passing, play; none when over", label),
        Block("to_act", (SEATS,), 0, 1, "seat to act; none when over", seat),
        Block("dealer", (SEATS,), 0, 1, "seat", seat),
        Block("calls", (SEATS, calls), 0, 1, f"by seat: {each}; none yet", label),
        Block("call_strains", (SEATS, rules.strains), 0, 1,
              f"by seat: strain of its {'last ' * in_rounds}bid, {strains}", label, present=in_bid),
        Block("bid_strains", (bids, rules.strains), 0, 1, f"by level: strain of the bid, {strains}",
              label, present=in_bid and in_rounds),
        Block("bid", (bids,), 0, 1, "the contract's bid by level; none while the auction runs",
              label),
        Block("strain", (rules.strains,), 0, 1,
              f"the contract's strain, {strains}; none while unnamed", label),
        Block("declarer", (SEATS,), 0, 1, "seat; none while the auction runs", seat),
        Block("sitting_out", (SEATS,), 0, 1, "seat of a lone declarer's partner", seat,
              present=rules.plays_alone),
        Block("trick", (SEATS[1:], kinds), 0, 1,
              "card of left, partner, right in the current trick", label),
        Block("led", (suits,), 0, 1, "suit led to the current trick, C D H S, bowers by strain",
              label),
        Block("winning", (SEATS,), 0, 1, "seat now winning the current trick", seat),
        Block("played", (SEATS, twins, kinds), 0, tricks,
              "by seat: trick a card was played to, from 1", cards_by_trick),
        Block("voids", (SEATS, suits), 0, 1, "by seat: suits, C D H S, it has failed to follow",
              labels),
        Block("tricks_won", (SIDES,), 0, tricks, "tricks of our side, of theirs", numbers),
        Block("score", (SIDES,), -CLIP, CLIP, "points of our side, of theirs, clipped", numbers),
        Block("to_go", (SIDES,), -CLIP, CLIP, "target minus points: ours, theirs, clipped",
              numbers, present=to_target),
        Block("target", (("",),), 0, CLIP, "points that end the game, clipped", number,
              present=to_target),
        Block("floor", (("",),), -CLIP, 0, "points at which a side loses the game, clipped",
              numbers, present=rules.floor is not None),
        Block("hands_left", (("",),), 0, min(CLIP, most_hands),
              "deals left, this one included, clipped", number),
    )
    # fmt: on


OFFSETS = offsets_dtype(*(block.name for block in every_block(Rules(target=1))), "private")
"""Start of each block, for kernels; -1 for a block that the game does not have.

The start of a public block is relative to the public part.
"""


class Layout(Blocks[Block]):
    """Positions and bounds of all entries of an observation; `str(layout)` is a table.

    Args:
        rules: the rules of the game.

    Attributes:
        size: the number of entries D of an observation.
        blocks: the blocks of the game; `layout[name]` is the slice of a block, `slices` has all.
        names: the name of every entry; `cards` are the card kinds in order.
        low, high: bounds of the entries, int8 (D,).
        scale: the factor of `scaled`, float32 (D,): one over the larger absolute bound of each
            entry.
    """

    content = "observations"

    def __init__(self, rules: Rules) -> None:
        check_rules(rules)
        every = every_block(rules)
        super().__init__({block.name: block for block in every if block.present})
        self._every = [(block, self.slices.get(block.name, slice(0))) for block in every]
        self.rules = rules
        self.names = tuple(name for block in self.blocks for name in block.entries)
        self.cards = CARD_NAMES[: rules.kinds]
        self.private_size = sum(block.size for block in self.blocks if block.private)
        self.low, self.high = self._bounds(1)
        most = np.maximum(np.abs(self.low.astype(np.int64)), np.abs(self.high.astype(np.int64)))
        self.scale: Array = (1 / most).astype(np.float32)
        self.scale.flags.writeable = False
        public = (block.name for block in self.blocks if not block.private)
        starts = {name: self[name].start - self.private_size for name in public}  # in that part
        self.offsets = self.offsets_as(OFFSETS, private=self.private_size, **starts)

    @property
    def state_size(self) -> int:
        """Entries in the global state: four seats' private blocks and one public part."""
        return self.size + 3 * self.private_size

    def state_bounds(self) -> tuple[Array, Array]:
        """Return the lower and upper bounds of the global state, int8 (state_size,) each."""
        return self._bounds(N_SEATS)

    def _bounds(self, seats: int) -> tuple[Array, Array]:
        private = [block for block in self.blocks if block.private]
        order = private * seats + [block for block in self.blocks if not block.private]
        low = np.concatenate([np.full(block.size, block.low, np.int8) for block in order])
        high = np.concatenate([np.full(block.size, block.high, np.int8) for block in order])
        low.flags.writeable = high.flags.writeable = False
        return low, high

    def scaled(self, observations: Array) -> Array:
        """Return observations times `scale`, float32 in [-1, 1], in a new array.

        Args:
            observations: int8 (..., D).

        Raises:
            OptionError: for another dtype or shape.
        """
        values = to_array("observations", observations)
        if values.dtype != np.int8 or values.shape[-1:] != (self.size,):
            raise OptionError(
                f"observations of {values.dtype} of shape {values.shape}: expected int8 "
                f"(..., {self.size})"
            )
        values = np.require(values, requirements=["C", "W"])  # of one type, for the kernel
        out = np.empty(values.shape, np.float32)
        rows = values.reshape(-1, self.size)
        scale_rows(rows, self.scale, out.reshape(-1, self.size), 0, len(rows))
        return out

    def decode(self, observation: Array) -> dict[str, Any]:
        """Return an observation as a dict from the names of the blocks to words and numbers.

        Seats are relative to the observer; "to_act", "dealer", "declarer", "sitting_out" and
        "winning" are such a seat or None. "calls", "trick", "played" and "voids" are lists by seat;
        "played" has a list by trick for each seat. The strains of bids are in "calls", so there is
        no "call_strains". In an auction in rounds "calls" has the last call of each seat, and
        "bids" a pair of seat and bid for every bid, in order. A block that the game does not have
        is None or an empty list.

        "tricks" has a dict for each trick begun: "leader", a seat; "cards", in the order of play;
        "winner", a seat, None for the current trick.

        Args:
            observation: whole numbers (D,), unscaled.

        Raises:
            OptionError: for another shape, or numbers outside the bounds.
        """
        entries, known = self._checked(observation), new_states(1)
        decode_row(entries, compile_tables(self.rules), self.offsets, known)
        values, words = entries.tobytes(), dict[str, Any]()
        for block, at in self._every:
            words[block.name] = block.words(values[at])
            if block.name == "played":
                words["tricks"] = tricks = self._tricks(words, known[0])
        words["phase"] = words["phase"] or "over"
        strains, words["floor"] = words.pop("call_strains"), self.rules.floor
        del words["bid_strains"]
        words["bids"] = []
        if self.rules.auction != "once":
            words["calls"], words["bids"] = self._rounds(known[0])
        elif strains:
            calls = zip(words["calls"], strains, strict=True)
            words["calls"] = [f"{call} {strain}" if strain else call for call, strain in calls]
        running = bool(tricks) and tricks[-1]["winner"] is None
        words["trick"].insert(0, words["played"][0][len(tricks) - 1] if running else None)
        return words

    def _rounds(self, known: Any) -> tuple[list[str | None], list[tuple[int, str]]]:
        """Return the last call of each seat, and every bid with its seat, by the row `known`."""
        acts = actions.of(self.rules)

        def name(level: int, strain: int) -> str:
            return f"bid {acts.contract(level, strain)}" if level >= 0 else "pass"

        calls, strains = known["calls"].tolist(), known["call_strains"].tolist()
        last = [
            name(call - 1, strain) if call >= 0 else None
            for call, strain in zip(calls, strains, strict=True)
        ]
        bids = []
        for level in range(len(self.rules.ladder)):
            bidder, strain = (
                (int(known[word]) >> LEVEL_BITS * level & LEVEL_MASK) - 1
                for word in ("bidders", "bid_strains")
            )
            if bidder >= 0:
                bids.append((bidder, name(level, strain)))
        return last, bids

    def _checked(self, observation: Any) -> Array:
        """Return the entries, int8 (D,), in a new array; errors are those of `decode`."""
        values = to_array("observation", observation)
        if values.shape != (self.size,):
            raise OptionError(f"an observation of shape {values.shape}: expected ({self.size},)")
        entries: Array = values.astype(np.int8)
        same = values.dtype == np.int8 or (values.dtype.kind in "iu" and (entries == values).all())
        if not same or not ((self.low <= entries) & (entries <= self.high)).all():
            raise OptionError(
                f"an observation of {values.dtype} from {values.min()} to {values.max()}: expected "
                "whole numbers within layout.low and layout.high"
            )
        return entries

    def _tricks(self, words: Mapping[str, Any], known: Any) -> list[dict[str, Any]]:
        """Return the tricks begun, from the cards played by seat and the seat's row `known`."""
        done, leaders = int(known["trick"]), known["leaders"].tolist()
        winners = [*leaders[1 : self.rules.tricks], int(known["turn"])]
        tricks = []
        begun = min(done + (words["led"] is not None), self.rules.tricks)
        for trick, played in zip(range(begun), zip(*words["played"], strict=True), strict=False):
            leader = leaders[trick]
            cards = [card for card in played[leader:] + played[:leader] if card]
            winner = winners[trick] if trick < done else None
            tricks.append({"leader": leader, "cards": cards, "winner": winner})
        return tricks

    def __reduce__(self) -> tuple[Any, ...]:
        return layout_of, (self.rules,)

    def __repr__(self) -> str:
        return f"Layout(size={self.size}, blocks={[block.name for block in self.blocks]})"

    def cells(self, block: Block) -> dict[str, str]:
        """Return shape, bounds and meaning of a block, by title."""
        shape, bounds = " x ".join(map(str, block.shape)), f"{block.low}..{block.high}"
        return {"shape": shape, "bounds": bounds, **super().cells(block)}


@lru_cache(maxsize=256)
def layout_of(rules: Rules) -> Layout:
    """Return the `Layout` of these rules, from a cache."""
    return Layout(rules)
