"""Inputs of networks: 0/1 features of a decision, from an observation and its mask.

Numbers are one-hot, cards are planes of a bit per kind, and some derived facts are separate
inputs: which cards are boss (no unseen card of the suit beats them), which beat the trick, how many
cards of a suit are unseen. Suits are renamed, so that experience with one trump suit holds for all
four. In the part "cards", the trump suit becomes suit 0. Among the renamings that remain (all
preserve the colour pairs), the one is used that makes the hand the smallest as an integer (see
`suits`), and then the strains of the calls and the other cards: two decisions that differ only by
such a renaming have the same inputs. The order of play is not an input.

Outputs are numbered after the same renaming. In the part "auction" they are the calls, then the
five strains if the strain is named after the auction. In the part "cards" they are the card kinds,
to give, to pass or to play. The score is not an input: networks learn to take points.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from bideuchre_env._checks import brief, check_array, check_flag
from bideuchre_env.core.blocks import Blocks, offsets_dtype
from bideuchre_env.core.observation.layout import layout_of
from bideuchre_env.core.state import new_states
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.core.view import new_view
from bideuchre_env.errors import OptionError
from bideuchre_env.learning.feature_rows import (
    COUNTED,
    FeatureWorkspace,
    actions_rows,
    outputs_rows,
    pack_rows,
    write_rows,
)
from bideuchre_env.rules import actions
from bideuchre_env.rules.cards import N_SEATS, N_STRAINS, N_SUITS
from bideuchre_env.rules.rules import Rules, check_rules
from bideuchre_env.runtime.jit import Array

VERSION = 2
"""Version of the inputs' meaning; metadata of weights has the version they were fitted to.

In version 1 the renaming depended on the names of suits if the hand did not distinguish them.
"""
PARTS = ("auction", "cards")


@dataclass(frozen=True)
class FeatureBlock:
    """A named block of `size` consecutive inputs.

    `parts` are the parts of a hand ("auction", "cards") that have the block. `present` is False if
    these rules do not have it.
    """

    name: str
    size: int
    meaning: str
    parts: tuple[str, ...] = PARTS
    present: bool = True


def every_block(rules: Rules) -> tuple[FeatureBlock, ...]:
    """Return all blocks in the order of the inputs, also blocks that these rules do not have.

    Seats are relative to the player (0 self, 1 left, 2 partner, 3 right), suits are renamed.
    """
    kinds, tricks, levels = rules.kinds, rules.tricks, len(rules.ladder)
    pair, strained = rules.copies == 2, rules.strain_named == "in_bid"
    exchange, auction, cards = rules.exchange > 0, ("auction",), ("cards",)
    n, sides = tricks + 1, N_STRAINS * (1 + N_SUITS)
    strains = N_SEATS * N_STRAINS
    # fmt: off
    return (
        FeatureBlock("held", kinds, "kinds in hand"),
        FeatureBlock("held_pair", kinds, "kinds in hand twice", present=pair),
        FeatureBlock("dealer", 4, "seat"),
        FeatureBlock("calls", N_SEATS * (1 + levels), "by seat: pass, or the bid by level"),
        FeatureBlock("call_strains", strains, "by seat: strain of its bid", present=strained),
        FeatureBlock("naming", 1, "the strain is to be named", auction),
        FeatureBlock("trumps", 4 * n, "by suit: cards of it in hand, were it trump", auction),
        FeatureBlock("bowers", 4 * 4, "by suit: neither, right, left, both bowers", auction),
        FeatureBlock("side_aces", sides, "by strain: kinds of ace held beside trump", auction),
        FeatureBlock("side_voids", sides, "by strain: suits beside trump not held", auction),
        FeatureBlock("phase", 3, "giving, passing, play", cards),
        FeatureBlock("given", kinds, "cards given up as declarer", cards, exchange),
        FeatureBlock("received", kinds, "cards passed from partner to declarer", cards, exchange),
        FeatureBlock("unseen", kinds, "kinds of which a copy is unseen", cards),
        FeatureBlock("unseen_pair", kinds, "kinds of which both are unseen", cards, pair),
        FeatureBlock("played", 3 * kinds, "by other seat: kinds it has played", cards),
        FeatureBlock("boss", kinds, "held, and none above it in its suit is unseen", cards),
        FeatureBlock("near_boss", kinds, "held, and one above it in its suit is unseen", cards),
        FeatureBlock("beating", kinds, "legal, and above the card that wins the trick", cards),
        FeatureBlock("winning_kind", kinds, "the card that wins the trick", cards),
        FeatureBlock("winning_seat", 3, "whose card that is: left, partner, right", cards),
        FeatureBlock("led", N_SUITS + 1, "suit led, or we lead", cards),
        FeatureBlock("after", 3, "seats still to play: left, partner, right", cards),
        FeatureBlock("voids", 3 * 4, "by other seat: suits it has failed to follow", cards),
        FeatureBlock("suit_held", 4 * COUNTED, "by suit: cards in hand, 7 for more", cards),
        FeatureBlock("suit_unseen", 4 * COUNTED, "by suit: cards unseen, 7 for more", cards),
        FeatureBlock("bid", levels, "the contract's bid by level", cards),
        FeatureBlock("no_trump", 1, "there is no trump suit", cards),
        FeatureBlock("declarer", 4, "seat", cards),
        FeatureBlock("ours", n, "tricks our side has won", cards),
        FeatureBlock("theirs", n, "tricks the other side has won", cards),
        FeatureBlock("missing", n, "tricks the declarer's side lacks for its bid", cards),
        FeatureBlock("spare", n + 1, "tricks it may still lose, from -1 (it is set)", cards),
    )
    # fmt: on


PLACES = offsets_dtype(*(block.name for block in every_block(Rules(target=1))), "cards")
"""The start of each block, for kernels, or -1 if it is absent; "cards" is 1 for that part."""


class Written(NamedTuple):
    """Packed features of n rows, from `Features.pack`: F inputs and O outputs a row.

    `Features.unpack` unpacks the inputs.
    """

    inputs: Array  # uint8 (n, (F + 7) // 8)
    legal: Array  # int8 (n, O)
    symmetries: Array  # int64 (n,): the number of the renaming of suits, 0 to 7


class Features(Blocks[FeatureBlock]):
    """The features of one part of a hand, "auction" or "cards", in a game of these rules.

    A network for the part has `size` inputs and `outputs` outputs. `str(features)` is a table of
    the `blocks` of inputs; `slices[name]` is the slice of a block. With `rename=False`, `write` and
    `pack` do not rename suits. That is for custom networks only: `network.evaluate` and the
    package's agents always rename.
    """

    version = VERSION

    def __init__(self, rules: Rules, part: str) -> None:
        check_rules(rules)
        check_part(part)
        blocks = (block for block in every_block(rules) if block.present and part in block.parts)
        super().__init__({block.name: block for block in blocks})
        self.rules, self.part = rules, part
        acts = actions.of(rules)
        self._n_actions, self._width = acts.n, layout_of(rules).size
        self.outputs: int = acts.card_offset if part == "auction" else rules.kinds
        self.places = self.offsets_as(PLACES, cards=part == "cards")

    def workspace(self) -> FeatureWorkspace:
        """Return a new workspace for the kernels of `feature_rows`, for one thread."""
        return FeatureWorkspace(
            tables=compile_tables(self.rules),
            offsets=layout_of(self.rules).offsets,
            places=self.places,
            known=new_states(1),
            views=new_view(),
            active=np.zeros((1, self.size + 1), np.int64),
        )

    def write(
        self,
        observations: Array,
        masks: Array,
        inputs: Array,
        legal: Array,
        symmetries: Array,
        *,
        rename: bool = True,
    ) -> None:
        """Overwrite `inputs`, `legal` and `symmetries` with the features of n decisions.

        `observations` int8 (n, D) and `masks` int8 (n, A) are as the environments return them.
        Their decisions must belong to this part of the hand, which is not checked. The results are
        `inputs` float32 (n, size), 0 or 1; `legal` int8 (n, outputs), 1 for a legal output; and
        `symmetries` int64 (n,), the numbers of the renamings of suits, 0 without `rename`. Raises
        `OptionError` for arrays of another dtype or shape.
        """
        n = self.check_rows(observations, masks)
        check_flag("rename", rename)
        check_array("inputs", inputs, np.float32, (n, self.size), written=True)
        check_array("legal", legal, np.int8, (n, self.outputs), written=True)
        check_array("symmetries", symmetries, np.int64, (n,), written=True)
        write_rows(observations, masks, rename, inputs, legal, symmetries, self.workspace())

    def pack(self, observations: Array, masks: Array, *, rename: bool = True) -> Written:
        """Return the results of `write` in new arrays, with eight inputs packed in each byte."""
        n = self.check_rows(observations, masks)
        check_flag("rename", rename)
        written = Written(
            np.zeros((n, (self.size + 7) // 8), np.uint8),
            np.zeros((n, self.outputs), np.int8),
            np.zeros(n, np.int64),
        )
        pack_rows(observations, masks, rename, *written, self.workspace())
        return written

    def unpack(self, packed: Array) -> Array:
        """Convert packed inputs, uint8 (n, (size + 7) // 8), to float32 (n, size), 0 or 1."""
        check_array("packed", packed, np.uint8, (-1, (self.size + 7) // 8))
        return np.unpackbits(packed, axis=1, count=self.size).astype(np.float32)

    def actions(self, outputs: Array, symmetries: Array) -> Array:
        """Convert chosen indices of outputs to numbers of actions; all arrays are int64 (n,).

        `symmetries` are the results of `write`, `pack` or `network.evaluate` for the same rows.
        Raises `OptionError` for numbers out of range.
        """
        n = self._checked_choices("outputs", outputs, symmetries, 0, self.outputs)
        chosen = np.empty(n, np.int64)
        actions_rows(outputs, symmetries, self.workspace(), chosen)
        return chosen

    def outputs_of(self, actions: Array, symmetries: Array) -> Array:
        """Convert actions of the part to indices of outputs: the inverse of `actions`."""
        low = 0 if self.part == "auction" else self._n_actions - self.outputs
        n = self._checked_choices("actions", actions, symmetries, low, low + self.outputs)
        outputs = np.empty(n, np.int64)
        outputs_rows(actions, symmetries, self.workspace(), outputs)
        return outputs

    def check_rows(self, observations: Array, masks: Array) -> int:
        """Return the number of rows; `OptionError` unless dtypes and shapes fit the game.

        The content of the observations and masks is not checked.
        """
        check_array("observations", observations, np.int8, (-1, self._width))
        n = len(observations)
        check_array("masks", masks, np.int8, (n, self._n_actions))
        return n

    def _checked_choices(
        self, name: str, choices: Array, symmetries: Array, low: int, stop: int
    ) -> int:
        """Return the number of `choices`; `OptionError` unless all are from `low` to `stop` - 1.

        Also validates `symmetries`, which must be from 0 to 7.
        """
        check_array(name, choices, np.int64, (-1,))
        n = len(choices)
        check_array("symmetries", symmetries, np.int64, (n,))
        if n and not (low <= choices.min() and choices.max() < stop):
            raise OptionError(
                f"{name}: expected numbers from {low} to {stop - 1} for the part {self.part!r}"
            )
        if n and not (symmetries.min() >= 0 and symmetries.max() < 2 * N_SEATS):
            raise OptionError("symmetries: expected numbers from 0 to 7")
        return n

    def __repr__(self) -> str:
        return f"Features(part={self.part!r}, size={self.size}, outputs={self.outputs})"


def features_of(rules: Rules, part: str) -> Features:
    """Return the cached `Features` of a part of a hand, "auction" or "cards"."""
    check_rules(rules)
    check_part(part)
    return _features_of(rules, part)


_features_of = lru_cache(maxsize=512)(Features)


def check_part(part: object) -> None:
    """Raise `OptionError` unless `part` is "auction" or "cards"."""
    if not isinstance(part, str) or part not in PARTS:
        raise OptionError(f"part={brief(part)}: expected one of {', '.join(map(repr, PARTS))}")
