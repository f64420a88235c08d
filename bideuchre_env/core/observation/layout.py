"""The blocks of an observation, each declared once in `every_block`.

Offsets, bounds and the printed table follow from the declarations; the kernels that write the
blocks are in `encode.py`, those that read them in `decode.py` and `words.py`.

An observation is one int8 vector: the seat's private blocks, then the public blocks, with every
seat relative to the observer (0 self, 1 left, 2 partner, 3 right). It has the history of the
whole hand and nothing hidden. The global state is the private blocks of all four seats, then the
public blocks seen from seat 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from math import prod
from typing import Any

import numpy as np

from bideuchre_env._checks import to_array
from bideuchre_env.core.blocks import Blocks, offsets_dtype
from bideuchre_env.core.observation.scaling import scale_rows
from bideuchre_env.core.observation.words import Decoder
from bideuchre_env.core.state import Phase
from bideuchre_env.errors import OptionError
from bideuchre_env.rules.cards import CARD_NAMES, N_SEATS, STRAINS, SUITS
from bideuchre_env.rules.rules import Rules, check_rules
from bideuchre_env.runtime.jit import Array

CLIP = 127
SEATS = ("self", "left", "partner", "right")
"""Seats relative to the observer."""
SIDES = ("ours", "theirs")
ACTED_PHASES = tuple(phase.name.lower() for phase in Phase if phase < Phase.DEAL)


@dataclass(frozen=True)
class Block:
    """A named slice of an observation: its axes (row-major), bounds and meaning.

    `axes` has the labels along each axis, "" for none. Only the seat itself sees `private` blocks.
    A block that is not `present` has no entries in this game. `decode.py` and `words.py` read the
    blocks.
    """

    name: str
    axes: tuple[tuple[str, ...], ...]
    low: int
    high: int
    meaning: str
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


def every_block(rules: Rules) -> tuple[Block, ...]:
    """Return all blocks in order, the private ones first, also those that these rules lack."""
    copies, tricks = rules.copies, rules.tricks
    kinds, twins = CARD_NAMES[: rules.kinds], ("first", "second") if copies == 2 else ("",)
    bids = tuple(bid.name for bid in rules.ladder)
    calls = ("pass", *(f"bid {bid}" for bid in bids))
    exchange, lone = rules.exchange > 0, bool(rules.lone)
    in_bid, to_target = rules.strain_named == "in_bid", rules.win_rule != "rounds"
    most_hands = rules.hands_to_play or rules.max_hands
    suits = tuple(SUITS)
    # fmt: off
    return (
        Block("hand", (kinds,), 0, copies, "copies of each card kind held", private=True),
        Block("discarded", (kinds,), 0, copies, "cards given up as declarer",
              private=True, present=exchange),
        Block("passed", (kinds,), 0, copies, "cards passed from partner to declarer",
              private=True, present=exchange),
        Block("phase", (ACTED_PHASES,), 0, 1,
              "auction, naming, giving, passing, play; none when over"),
        Block("to_act", (SEATS,), 0, 1, "seat to act; none when over"),
        Block("dealer", (SEATS,), 0, 1, "seat"),
        Block("calls", (SEATS, calls), 0, 1, "by seat: pass, or the bid by level; none yet"),
        Block("call_strains", (SEATS, STRAINS), 0, 1, "by seat: strain of its bid, C D H S NT",
              present=in_bid),
        Block("bid", (bids,), 0, 1, "the contract's bid by level; none while the auction runs"),
        Block("strain", (STRAINS,), 0, 1, "the contract's strain, C D H S NT; none while unnamed"),
        Block("declarer", (SEATS,), 0, 1, "seat; none while the auction runs"),
        Block("sitting_out", (SEATS,), 0, 1, "seat of a lone declarer's partner", present=lone),
        Block("trick", (SEATS[1:], kinds), 0, 1,
              "card of left, partner, right in the current trick"),
        Block("led", (suits,), 0, 1, "suit led to the current trick, C D H S, bowers by strain"),
        Block("winning", (SEATS,), 0, 1, "seat now winning the current trick"),
        Block("played", (SEATS, twins, kinds), 0, tricks,
              "by seat: trick a card was played to, from 1"),
        Block("voids", (SEATS, suits), 0, 1, "by seat: suits, C D H S, it has failed to follow"),
        Block("tricks_won", (SIDES,), 0, tricks, "tricks of our side, of theirs"),
        Block("score", (SIDES,), -CLIP, CLIP, "points of our side, of theirs, clipped"),
        Block("to_go", (SIDES,), -CLIP, CLIP, "target minus points: ours, theirs, clipped",
              present=to_target),
        Block("target", (("",),), 0, CLIP, "points that end the game, clipped", present=to_target),
        Block("hands_left", (("",),), 0, min(CLIP, most_hands),
              "deals left, this one included, clipped"),
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
        super().__init__({block.name: block for block in every_block(rules) if block.present})
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
        self._decoder = Decoder(rules, self.low, self.high, self.offsets)

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
        no "call_strains". A block that the game does not have is None or an empty list.

        "tricks" has a dict for each trick begun: "leader", a seat; "cards", in the order of play;
        "winner", a seat, None for the current trick.

        Args:
            observation: whole numbers (D,), unscaled.

        Raises:
            OptionError: for another shape, or numbers outside the bounds.
        """
        return self._decoder.words(observation)

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
