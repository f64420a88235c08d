"""Inputs of networks: 0/1 features of a decision, from an observation and its mask.

Numbers are one-hot, cards are planes of a bit per kind, and some derived facts are separate
inputs: which cards are boss (no unseen card of the suit beats them), which beat the trick, how many
cards of a suit are unseen. Suits are renamed, so that experience with one trump suit holds for all
four. In the part "cards", the trump suit becomes suit 0. Among the renamings that remain (all
preserve the colour pairs), the one is used that makes the hand the smallest as an integer (see
`suits`), and then the strains of the calls and the other cards: two decisions that differ only by
such a renaming have the same inputs. The order of play is not an input.

Outputs are numbered after the same renaming. In the part "auction" they are the calls, then the
strains if the strain is named after the auction. In the part "cards" they are the card kinds,
to give, to pass or to play. The score is not an input: networks learn to take points.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from bideuchre_env._checks import brief, check_array, check_flag
from bideuchre_env.core.blocks import Blocks, offsets_dtype
from bideuchre_env.core.observation.layout import layout_of
from bideuchre_env.core.state import new_states
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.core.view import new_view
from bideuchre_env.errors import OptionError
from bideuchre_env.learning.feature_rows import COUNTED, FeatureWorkspace, Written, pack_rows
from bideuchre_env.learning.suits import SUIT_MAPS
from bideuchre_env.rules import actions
from bideuchre_env.rules.cards import N_SEATS, N_SUITS
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
    pair, strained = rules.copies == 2, rules.strain_named != "after_auction"
    exchange, auction, cards = rules.exchange > 0, ("auction",), ("cards",)
    n, sides = tricks + 1, len(rules.strains) * (1 + N_SUITS)
    strains = N_SEATS * len(rules.strains)
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
        FeatureBlock("low", 1, "at low no trump", cards, rules.no_trump == "both"),
        FeatureBlock("declarer", 4, "seat", cards),
        FeatureBlock("ours", n, "tricks our side has won", cards),
        FeatureBlock("theirs", n, "tricks the other side has won", cards),
        FeatureBlock("missing", n, "tricks the declarer's side lacks for its bid", cards),
        FeatureBlock("spare", n + 1, "tricks it may still lose, from -1 (it is set)", cards),
    )
    # fmt: on


PLACES = offsets_dtype(*(block.name for block in every_block(Rules(target=1))), "cards")
"""The start of each block, for kernels, or -1 if it is absent; "cards" is 1 for that part."""


@lru_cache(maxsize=256)
def action_maps(rules: Rules) -> tuple[Array, Array]:
    """Return the tables `renamed` and `originals` of a `FeatureWorkspace`, int64 (8, A)."""
    acts = actions.of(rules)
    renamed = np.tile(np.arange(acts.n), (len(SUIT_MAPS), 1))
    calls = acts.names[: acts.card_offset]
    strained = [at for at, name in enumerate(calls) if name.endswith(" C")]  # no trump stays
    for first in (*strained, *range(acts.card_offset, acts.n, N_SUITS)):
        renamed[:, first : first + N_SUITS] = first + SUIT_MAPS
    originals = np.argsort(renamed, axis=1)
    renamed.flags.writeable = originals.flags.writeable = False
    return renamed, originals


def feature_workspace(rules: Rules, places: Array, size: int, rows: int) -> FeatureWorkspace:
    """Return a new workspace for lists of at most `size` inputs, with `rows` rows of scratch."""
    return FeatureWorkspace(
        compile_tables(rules),
        layout_of(rules).offsets,
        places,
        *action_maps(rules),
        known=new_states(rows),
        views=np.repeat(new_view(), rows),
        active=np.zeros((rows, size + 1), np.int64),
    )


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
        self._first = 0 if part == "auction" else acts.card_offset
        self.places = self.offsets_as(PLACES, cards=part == "cards")

    def workspace(self, rows: int = 1) -> FeatureWorkspace:
        """Return a new workspace for the kernels of `feature_rows`; a thread needs a row of it."""
        return feature_workspace(self.rules, self.places, self.size, rows)

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
        packed = self.pack(observations, masks, rename=rename)
        n = len(packed.inputs)
        check_array("inputs", inputs, np.float32, (n, self.size), written=True)
        check_array("legal", legal, np.int8, (n, self.outputs), written=True)
        check_array("symmetries", symmetries, np.int64, (n,), written=True)
        inputs[:] = np.unpackbits(packed.inputs, axis=1, count=self.size)
        legal[:], symmetries[:] = packed.legal, packed.symmetries

    def pack(self, observations: Array, masks: Array, *, rename: bool = True) -> Written:
        """Return the results of `write` in new arrays, with eight inputs packed in each byte."""
        n = self.check_rows(observations, masks)
        check_flag("rename", rename)
        written = Written(
            np.zeros((n, (self.size + 7) // 8), np.uint8),
            np.zeros((n, self.outputs), np.int8),
            np.zeros(n, np.int64),
        )
        pack_rows(observations, masks, rename, written, self.workspace())
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
        self._check("outputs", outputs, symmetries, 0)
        chosen: Array = action_maps(self.rules)[1][symmetries, outputs + self._first]
        return chosen

    def outputs_of(self, actions: Array, symmetries: Array) -> Array:
        """Convert actions of the part to indices of outputs: the inverse of `actions`."""
        self._check("actions", actions, symmetries, self._first)
        outputs: Array = action_maps(self.rules)[0][symmetries, actions] - self._first
        return outputs

    def _check(self, name: str, choices: Array, symmetries: Array, low: int) -> None:
        where = f" for the part {self.part!r}"
        check_choices(name, choices, symmetries, low, low + self.outputs, where)

    def check_rows(self, observations: Array, masks: Array) -> int:
        """Return the number of rows; `OptionError` unless dtypes and shapes fit the game.

        The content of the observations and masks is not checked.
        """
        check_array("observations", observations, np.int8, (-1, self._width))
        n = len(observations)
        check_array("masks", masks, np.int8, (n, self._n_actions))
        return n

    def __repr__(self) -> str:
        return f"Features(part={self.part!r}, size={self.size}, outputs={self.outputs})"


def check_choices(
    name: str, choices: Array, symmetries: Array, low: int, stop: int, where: str = ""
) -> None:
    """Raise `OptionError` unless `choices` are from `low` to `stop` - 1, `symmetries` to 7."""
    check_array(name, choices, np.int64, (-1,))
    check_array("symmetries", symmetries, np.int64, (len(choices),))
    bounds = {name: (choices, low, stop), "symmetries": (symmetries, 0, len(SUIT_MAPS))}
    for title, (values, least, end) in bounds.items():
        if len(values) and not (least <= values.min() and values.max() < end):
            raise OptionError(f"{title}: expected numbers from {least} to {end - 1}{where}")
        where = ""


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
