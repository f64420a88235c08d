"""Features of both parts of a hand in one vector, with one numbering of renamed actions.

It is the observation of `observation="features"`, and for users of `vec` an encoder of whole rows,
so that a network needs neither the two parts of `features` nor its own renaming of suits.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from bideuchre_env.core.bits import clear, gather_bits
from bideuchre_env.core.blocks import Blocks
from bideuchre_env.core.observation.layout import layout_of
from bideuchre_env.core.records import View
from bideuchre_env.core.state import GIVING
from bideuchre_env.core.view import see_entries
from bideuchre_env.learning.feature_rows import FeatureWorkspace, list_inputs
from bideuchre_env.learning.features import (
    PARTS,
    PLACES,
    VERSION,
    FeatureBlock,
    action_maps,
    check_choices,
    feature_workspace,
    features_of,
)
from bideuchre_env.rules import actions
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.intrinsics import line_of, lowest_bit, row_of
from bideuchre_env.runtime.jit import Array, direct, entry_kernel, inline_kernel, new_rows

GAME = (
    FeatureBlock("score", 2, "points of our side and of theirs, over the target (127 without one)"),
    FeatureBlock("hands_left", 1, "deals left, scaled as in the flat observation"),
)
"""The inputs that neither part has: the state of the game."""


class EncoderWorkspace(NamedTuple):
    """Tables and scratch for encoding decisions.

    The scratch has one row, or a row for each decision: a thread uses that of its first decision.
    """

    features: FeatureWorkspace  # of both parts
    scale: Array  # float32 (2,): factors of points, of deals left


class Encoded(NamedTuple):
    """The result of `FeatureEncoder.encode` for n decisions."""

    inputs: Array
    """Float32 (n, F), in [-1, 1]."""
    legal: Array
    """Int8 (n, A): 1 for each legal action, in renamed numbers."""
    symmetries: Array
    """Int64 (n,): the number of the renaming of suits, 0 to 7."""


class FeatureEncoder(Blocks[FeatureBlock]):
    """The features of all decisions of a game: F inputs, and its A actions in renamed numbers.

    The inputs are those of the parts "auction" and "cards" (`Features`), and the state of the game.
    The inputs of a part that is not being played are 0. `str(encoder)` is a table of the `blocks`,
    and `slices["cards boss"]` the slice of a block. Suits, and the actions that name a suit, are
    renamed as in `Features`.

    Example:
        encoder = encoder_of(game.rules)
        network = new_network(encoder.size, encoder.n_actions)  # your own
        obs, info = vec.reset(seed=1)
        while True:
            encoded = encoder.encode(obs["observation"], obs["action_mask"])
            choices = sample(network(encoded.inputs), encoded.legal)
            obs, *results = vec.step(encoder.actions(choices, encoded.symmetries))
    """

    version = VERSION
    """Version of the inputs' meaning, on which the weights of networks depend."""

    def __init__(self, rules: Rules) -> None:
        auction, cards = (features_of(rules, part) for part in PARTS)
        blocks = {f"{part.part} {b.name}": b for part in (auction, cards) for b in part.blocks}
        super().__init__({**blocks, **{block.name: block for block in GAME}})
        self.rules, self.n_actions = rules, actions.of(rules).n
        self._features = auction, cards

    def workspace(self, rows: int = 1) -> EncoderWorkspace:
        """Return a new workspace for the kernels.

        `rows` is 1 for one thread, else the number of decisions.
        """
        auction, cards = self._features
        places = new_rows(PLACES, 2)
        places[0], places[1] = auction.places[0], cards.places[0]
        layout = layout_of(self.rules)
        points = self.rules.target or 1 / layout.scale[layout.slices["score"]][0]
        scale = np.array([1 / points, layout.scale[layout.slices["hands_left"]][0]], np.float32)
        most = max(auction.size, cards.size)
        return EncoderWorkspace(feature_workspace(self.rules, places, most, rows), scale)

    def encode(self, observations: Array, masks: Array) -> Encoded:
        """Return the features of n decisions, in new arrays.

        Args:
            observations: int8 (n, D), as the environments return them, of any phases.
            masks: int8 (n, A), the legal actions.

        Raises:
            OptionError: for arrays of another dtype or shape.
        """
        n = self._features[0].check_rows(observations, masks)
        encoded = Encoded(
            np.empty((n, self.size), np.float32),
            np.empty((n, self.n_actions), np.int8),
            np.empty(n, np.int64),
        )
        encode_rows(observations, masks, encoded, self.workspace(), 0, n)
        return encoded

    def actions(self, choices: Array, symmetries: Array) -> Array:
        """Convert renamed actions, int64 (n,), to the game's numbers, int64 (n,).

        Args:
            choices: renamed actions, 0 to A - 1.
            symmetries: int64 (n,), the result of `encode` for the same decisions.

        Raises:
            OptionError: for numbers out of range, and arrays of another dtype or shape.
        """
        return self._converted("choices", choices, symmetries, action_maps(self.rules)[1])

    def act_rows(
        self, choose: Callable[[Array, Array], Any], observations: Array, masks: Array
    ) -> Array:
        """Return the actions, int64 (n,), that a policy on features chooses: for agents.

        Args:
            choose: the policy; it returns a renamed action for each row of `inputs`, float32
                (n, F), and `legal`, int8 (n, A).
            observations, masks: those of `encode`.

        Raises:
            OptionError: as `encode` and `actions` do.
        """
        encoded = self.encode(observations, masks)
        choices = np.asarray(choose(encoded.inputs, encoded.legal), np.int64)
        return self.actions(choices, encoded.symmetries)

    def renamed(self, actions: Array, symmetries: Array) -> Array:
        """Convert the game's actions, int64 (n,), to renamed ones: the inverse of `actions`."""
        return self._converted("actions", actions, symmetries, action_maps(self.rules)[0])

    def _converted(self, name: str, numbers: Array, symmetries: Array, table: Array) -> Array:
        check_choices(name, numbers, symmetries, 0, self.n_actions)
        converted: Array = table[symmetries, numbers]
        return converted

    def __repr__(self) -> str:
        return f"FeatureEncoder(size={self.size}, n_actions={self.n_actions})"


@lru_cache(maxsize=256)
def encoder_of(rules: Rules) -> FeatureEncoder:
    """Return the cached `FeatureEncoder` of these rules."""
    return FeatureEncoder(rules)


class DecisionEncoder(threading.local):
    """Encode single decisions of a game, with little overhead and without checks of arguments.

    Each thread that uses it gets its own scratch.
    """

    def __init__(self, rules: Rules) -> None:
        encoder = encoder_of(rules)
        self._size, self._n_actions = encoder.size, encoder.n_actions
        self._work, self._originals = encoder.workspace(), action_maps(rules)[1].tolist()
        line, mask = np.zeros(1, np.int8), np.zeros(1, np.int8)
        self._encode = direct(
            encode_line, line, mask, np.zeros((1, 1), np.float32), mask, self._work
        )

    def encode(self, observation: Array, mask: Array) -> tuple[Array, Array, int]:
        """Return the inputs, float32 (F,), the renamed mask, int8 (A,), and the symmetry.

        `observation` int8 (D,) and `mask` int8 (A,) are writable arrays in C order.
        """
        inputs = np.empty((1, self._size), np.float32)
        legal = np.empty(self._n_actions, np.int8)
        symmetry = self._encode(observation, mask, inputs, legal, self._work)
        return inputs[0], legal, symmetry

    def action(self, choice: int, symmetry: int) -> int:
        """Return the game's number of a renamed action; a number out of range stays as it is."""
        exists = 0 <= choice < self._n_actions
        return self._originals[symmetry][choice] if exists else choice


decision_encoder_of = lru_cache(maxsize=256)(DecisionEncoder)


@entry_kernel
def encode_rows(
    observations: Array, masks: Array, out: Encoded, work: EncoderWorkspace, start: int, stop: int
) -> None:
    """Write the features of decisions `start` to `stop` - 1 to `out`, see `FeatureEncoder.encode`.

    The scratch used is that of row `start`, or the only one.
    """
    own = min(start, len(work.features.views) - 1)
    for i in range(start, stop):
        seen, mask, legal = row_of(observations, i), row_of(masks, i), row_of(out.legal, i)
        out.symmetries[i] = encode_decision(seen, mask, out.inputs, i, legal, work, own)


@entry_kernel
def encode_line(
    observation: Array, mask: Array, inputs: Array, legal: Array, work: EncoderWorkspace
) -> int:
    """Write the features of a decision to `inputs`, float32 (1, F), and `legal`, int8 (A,).

    Returns the symmetry. `observation` is int8 (D,), `mask` int8 (A,).
    """
    seen, choices = line_of(observation), line_of(mask)
    return encode_decision(seen, choices, inputs, 0, line_of(legal), work, 0)


@inline_kernel
def encode_decision(
    seen: Array, mask: Array, inputs: Array, i: int, legal: Array, work: EncoderWorkspace, own: int
) -> int:
    """Write the features of a decision to `inputs[i]` and `legal`; return its symmetry.

    `seen` is its observation, `own` the row of the scratch. The other parameters are those of
    `encode_rows`.
    """
    features = work.features
    t, known, view = features.tables[0], features.known[own], features.views[own]
    active = features.active[own : own + 1]
    see_entries(seen, t, features.offsets[0], known, view)
    for j in range(inputs.shape[1]):
        inputs[i, j] = 0.0
    n, symmetry, first = 0, 0, 0
    if view.phase >= 0:  # -1: the hand is over
        part = 1 if view.phase >= GIVING else 0
        first = part * features.places[0].entries
        n, symmetry = list_inputs(known, t, 0, features.places[part], view, True, active)
    for j in range(n):
        inputs[i, first + active[0, j]] = 1.0
    write_game(view, work, inputs, i)
    write_legal(features, mask, symmetry, legal)
    return symmetry


@inline_kernel
def write_legal(work: FeatureWorkspace, mask: Array, symmetry: int, legal: Array) -> None:
    """Write the mask, int8 (A,), of renamed actions to `legal`; `mask` is the game's."""
    n = work.tables[0].n_actions
    clear(legal, 0, n)
    for first in range(0, n, 32):
        bits = gather_bits(mask, first, min(32, n - first), 0)
        while bits:
            legal[work.renamed[symmetry, first + lowest_bit(bits)]] = 1
            bits &= bits - 1


@inline_kernel
def write_game(view: View, work: EncoderWorkspace, inputs: Array, i: int) -> None:
    """Write the blocks of `GAME` to the end of row i of `inputs`, float32 (n, F), in [-1, 1]."""
    places = work.features.places
    at = places[0].entries + places[1].entries
    for side in range(2):
        inputs[i, at + side] = min(max(view.score[side] * work.scale[0], -1.0), 1.0)
    inputs[i, at + 2] = view.hands_left * work.scale[1]


@entry_kernel
def convert_actions(
    numbers: Array, symmetries: Array, table: Array, out: Array, start: int, stop: int
) -> None:
    """Write actions `start` to `stop` - 1, converted by one of `action_maps`, to `out`, int64 (n,).

    A number out of range stays as it is.
    """
    for i in range(start, stop):
        number = int(numbers[i])
        exists = 0 <= number < table.shape[1]
        out[i] = table[symmetries[i], number] if exists else number
