"""The rule player: what good players say, as kernels over observation rows."""

from __future__ import annotations

import numpy as np

from bideuchre_env.agents.base import RowAgent
from bideuchre_env.agents.rule.bidding import SCRATCH, choose_call, choose_strain
from bideuchre_env.agents.rule.exchange_play import give_up, pass_over
from bideuchre_env.agents.rule.following import follow
from bideuchre_env.agents.rule.leading import lead
from bideuchre_env.agents.rule.view import VIEW, read_view
from bideuchre_env.agents.rule.weights import load_weights
from bideuchre_env.core.bits import gather_bits
from bideuchre_env.core.phases.deal import split_seed
from bideuchre_env.core.state import AUCTION, GIVING, NAMING, PASSING
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.intrinsics import lowest_bit, row_of
from bideuchre_env.runtime.jit import Array, Row, entry_kernel, kernel, new_rows


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
        view, scratch = new_rows(VIEW, 1), new_rows(SCRATCH, 1)
        rule_rows(
            observations, action_masks, self.tables, offsets, self.weights, view, scratch, choices
        )
        return choices


@entry_kernel
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
    """Fill `choices` with the rule player's action for every row; rewrites views and scratch."""
    for i in range(len(observations)):
        choices[i] = rule_decision(
            row_of(observations, i),
            row_of(masks, i),
            tables[0],
            offsets[0],
            weights[0],
            views[0],
            scratch[0],
        )


@kernel
def rule_decision(row: Array, mask: Array, t: Row, o: Row, w: Row, v: Row, scratch: Row) -> int:
    """The rule player's action for one observation, legal whatever stands in it."""
    choice = rule_choice(row, mask, t, o, w, v, scratch)
    # an observation that no game can give may mislead, but never past the mask
    if choice < 0 or choice >= t.n_actions or mask[choice] == 0:
        choice = 0
        while mask[choice] == 0:
            choice += 1
    return choice


@kernel
def call_bits(mask: Array, t: Row) -> int:
    """The legal calls: bit 0 a pass, bit 1 + level that bid."""
    bits = 1 if mask[0] else 0
    for level in range(t.n_levels):
        if mask[1 + level * t.strains_per_bid]:
            bits |= 1 << 1 + level
    return bits


@kernel
def rule_choice(row: Array, mask: Array, t: Row, o: Row, w: Row, v: Row, scratch: Row) -> int:
    """The rule player's action for one observation; rewrites `v` and `scratch`."""
    read_view(row, t, o, v)
    phase = v.phase
    if phase == AUCTION:
        return choose_call(v, t, w, call_bits(mask, t), scratch)
    if phase == NAMING:
        return t.trump_offset + choose_strain(v, t, w, scratch)
    legal = gather_bits(mask, t.card_offset, t.kinds, 0)
    if legal & (legal - 1) == 0:
        return t.card_offset + lowest_bit(legal)
    if phase == GIVING:
        return t.card_offset + give_up(v, t, legal)
    if phase == PASSING:
        return t.card_offset + pass_over(v, t, legal)
    if v.led < 0:
        return t.card_offset + lead(v, t, legal)
    return t.card_offset + follow(v, t, legal)
