"""The rule player: what good players say, as kernels over observation rows."""

from __future__ import annotations

import numpy as np

from bideuchre_env._jit import Array, Row, kernel, lowest_bit, records
from bideuchre_env.agents.base import RowAgent
from bideuchre_env.agents.bidding import SCRATCH_SHAPE, choose_call, choose_strain
from bideuchre_env.agents.exchange_play import give_up, pass_over
from bideuchre_env.agents.following import follow
from bideuchre_env.agents.hand_weights import load_weights
from bideuchre_env.agents.leading import lead
from bideuchre_env.agents.view import VIEW, read_view
from bideuchre_env.deal import split_seed
from bideuchre_env.rules import Rules
from bideuchre_env.state import AUCTION, GIVING, NAMING, PASSING


class RuleAgent(RowAgent):
    """Bids and plays by the rules good players follow; deterministic, so `seed` changes nothing."""

    name = "rule"

    def __init__(self, rules: Rules, *, seed: int | None = None, weights: Array | None = None):
        super().__init__(rules)
        if seed is not None:
            split_seed(seed)  # refuses what is no seed
        self.weights = load_weights(rules.kinds, rules.copies) if weights is None else weights

    def choose(self, observations: Array, action_masks: Array) -> Array:
        """A legal action for every row; int64 (n,)."""
        choices = np.empty(len(observations), np.int64)
        offsets = self.layout.offsets
        view, scratch = records(VIEW, 1), np.zeros(SCRATCH_SHAPE)
        rule_rows(
            observations, action_masks, self.tables, offsets, self.weights, view, scratch, choices
        )
        return choices


@kernel
def rule_rows(
    observations: Array,
    masks: Array,
    tables: Array,
    offsets: Array,
    weights: Array,
    views: Array,
    scratch: Array,
    choices: Array,
) -> None:
    """Fill `choices` with the rule player's action for every row; views (1,) is scratch too."""
    for i in range(len(observations)):
        choice = rule_choice(
            observations[i], masks[i], tables[0], offsets[0], weights[0], views[0], scratch
        )
        # an observation that no game can give may mislead, but never past the mask
        if choice < 0 or choice >= masks.shape[1] or masks[i, choice] == 0:
            choice = 0
            while masks[i, choice] == 0:
                choice += 1
        choices[i] = choice


@kernel
def call_bits(mask: Array, t: Row) -> int:
    """The legal calls: bit 0 a pass, bit 1 + level that bid."""
    bits = 1 if mask[0] else 0
    for level in range(int(t.n_levels)):
        if mask[1 + level * int(t.strains_per_bid)]:
            bits |= 1 << 1 + level
    return bits


@kernel
def card_bits(mask: Array, t: Row) -> int:
    """The legal cards as kinds."""
    offset, bits = int(t.card_offset), 0
    for kind in range(int(t.kinds)):
        bits |= (1 if mask[offset + kind] else 0) << kind
    return bits


@kernel
def rule_choice(row: Array, mask: Array, t: Row, o: Row, w: Row, v: Row, scratch: Array) -> int:
    """The rule player's action for one observation; rewrites `v` and `scratch`."""
    read_view(row, t, o, v)
    phase = int(v.phase)
    if phase == AUCTION:
        return choose_call(v, t, w, call_bits(mask, t), scratch)
    if phase == NAMING:
        return int(t.trump_offset) + choose_strain(v, t, w, scratch)
    legal = card_bits(mask, t)
    if legal & (legal - 1) == 0:
        return int(t.card_offset) + lowest_bit(legal)
    if phase == GIVING:
        return int(t.card_offset) + give_up(v, t, legal)
    if phase == PASSING:
        return int(t.card_offset) + pass_over(v, t, legal)
    if int(v.led) < 0:
        return int(t.card_offset) + lead(v, t, legal)
    return int(t.card_offset) + follow(v, t, legal)
