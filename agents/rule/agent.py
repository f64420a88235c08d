"""Agent `rule` and its kernels: rules of thumb of good players, applied to observation rows.

In kernels `t` is the record of the game's tables, and `view` the record `VIEW` of an observation.
Seats are relative to the seat to act: 0 itself, 1 left, 2 partner, 3 right.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bideuchre_env.agents.base import RowAgent
from bideuchre_env.agents.data import sealed
from bideuchre_env.agents.protocols import AgentInfo, check_number
from bideuchre_env.agents.rule.bidding import (
    DECLARER,
    SCRATCH,
    WEIGHTS,
    choose_call,
    choose_strain,
    load_weights,
)
from bideuchre_env.agents.rule.card_play import follow, lead
from bideuchre_env.agents.rule.certain import certain_call, certain_card
from bideuchre_env.agents.rule.discards import least_kept, pass_over
from bideuchre_env.agents.rule.exchange import undominated
from bideuchre_env.agents.rule.hand_features import TRUMPS
from bideuchre_env.core.bits import gather_bits
from bideuchre_env.core.observation.encode import encode
from bideuchre_env.core.observation.layout import layout_of
from bideuchre_env.core.state import AUCTION, GIVING, NAMING, PASSING
from bideuchre_env.core.step import apply, legal
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.core.view import new_view
from bideuchre_env.errors import OptionError
from bideuchre_env.learning.view import read_view
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.intrinsics import lowest_bit, row_of
from bideuchre_env.runtime.jit import Array, Row, entry_kernel, inline_kernel, kernel, new_rows

MOST_BOLD = 12


class RuleWorkspace(NamedTuple):
    """Tables, weights and scratch memory of the rule player in one game; arrays of one row.

    `offsets` are those of the observation's blocks. Each decision rewrites `views` (`VIEW`) and
    `scratch` (`bidding.SCRATCH`); these two have n rows after `many_workspaces`.
    """

    tables: Array
    offsets: Array  # of the observation's blocks
    weights: Array  # `bidding.WEIGHTS`
    views: Array  # `view.VIEW`, rewritten by each decision
    scratch: Array  # `bidding.SCRATCH`, rewritten by each decision


def rule_workspace(rules: Rules, weights: Array | None = None) -> RuleWorkspace:
    """Return a workspace for these rules; `weights` None means the package's own weights.

    Raises `OptionError` unless `weights` is None or an array, shape (1,), of dtype
    `bidding.WEIGHTS`.
    """
    if weights is None:
        weights = load_weights(rules.kinds, rules.copies)
    elif (getattr(weights, "dtype", None), getattr(weights, "shape", None)) != (WEIGHTS, (1,)):
        raise OptionError("weights: expected one record of `bidding.WEIGHTS`, or None")
    offsets = layout_of(rules).offsets
    return RuleWorkspace(
        compile_tables(rules), offsets, sealed(weights), new_view(), new_rows(SCRATCH, 1)
    )


def many_workspaces(work: RuleWorkspace, n: int) -> RuleWorkspace:
    """Return a copy of a workspace with n views and scratch records, one for each of n rows.

    So threads that handle different rows do not share scratch memory; see `own_workspace`.
    """
    return work._replace(views=np.repeat(work.views, n), scratch=np.repeat(work.scratch, n))


@inline_kernel
def own_workspace(work: RuleWorkspace, start: int) -> RuleWorkspace:
    """Return the workspace for a thread whose rows begin at `start`.

    It has the view and scratch record of row `start`, or the only ones if `work` has just one.
    """
    i = min(start, len(work.views) - 1)
    views, scratch = work.views[i : i + 1], work.scratch[i : i + 1]
    return RuleWorkspace(work.tables, work.offsets, work.weights, views, scratch)


class RuleAgent(RowAgent):
    """Bids and plays by rules of thumb of good players; bids to win the game, by the score.

    Args:
        rules: the rules of the game.
        seed: checked, but without effect: the rule player is deterministic.
        weights: an array of one `bidding.WEIGHTS` record, which replaces the package's weights.
        boldness: tricks added to its estimates in the auction, from -12 to 12: 1 makes it overbid,
            -1 underbid. For a lone bid it is added to the log-odds of all tricks.

    Raises:
        OptionError: an option has an invalid value.
    """

    name = "rule"
    info = AgentInfo(
        "Bids the strength of its hand, plays by maxims of good players, counts cards.",
        {"boldness": "tricks added to its estimate of a hand in the auction; may be negative"},
        milliseconds=0.001,
    )

    def __init__(
        self,
        rules: Rules,
        *,
        seed: int | None = None,
        weights: Array | None = None,
        boldness: float = 0.0,
    ) -> None:
        super().__init__(rules, seed)
        boldness = check_number("boldness", boldness, -MOST_BOLD, MOST_BOLD, "tricks ")
        self._workspace = rule_workspace(rules, weights)
        if boldness:  # for a lone hand it adds to the log-odds to take every trick
            bold = self._workspace.weights.copy()
            bold["tricks"][:, DECLARER, :, TRUMPS.constant] += boldness
            bold["lone"][..., TRUMPS.constant] += boldness
            self._workspace = self._workspace._replace(weights=sealed(bold))

    def choose(self, observations: Array, action_masks: Array) -> Array:
        """Return a legal action for every row; int64 (n,)."""
        return self._fill(rule_rows, observations, action_masks, self.workspace())

    def workspace(self) -> RuleWorkspace:
        """Return a new workspace, so that decisions of a shared agent do not interfere."""
        return RuleWorkspace(*self._workspace[:3], new_view(), new_rows(SCRATCH, 1))


@entry_kernel
def rule_rows(observations: Array, masks: Array, work: RuleWorkspace, choices: Array) -> None:
    """Fill `choices` with the rule player's action for every row."""
    for i in range(len(observations)):
        choices[i] = rule_decision(row_of(observations, i), row_of(masks, i), work)


@kernel
def rule_decision(observation: Array, mask: Array, work: RuleWorkspace) -> int:
    """Return the action for one observation, legal even if the observation is invalid."""
    t, weights, view, scratch = work.tables[0], work.weights[0], work.views[0], work.scratch[0]
    read_view(observation, t, work.offsets[0], view)
    if view.phase == AUCTION or view.phase == NAMING:
        choice = rule_bid(view, call_bits(view, mask, t), t, weights, scratch)
    else:
        choice = t.card_offset + rule_card(view, t, gather_bits(mask, t.card_offset, t.kinds, 0))
    return legal_choice(choice, mask, t)


@kernel
def act_by_rule(s: Row, observation: Array, mask: Array, work: RuleWorkspace) -> None:
    """Apply the rule player's action to state `s`; `observation` and `mask` are scratch memory."""
    t = work.tables[0]
    encode(s, t, work.offsets[0], s.turn, observation)
    legal(s, t, mask)
    apply(s, t, rule_decision(observation, mask, work))


@kernel
def call_bits(view: Row, mask: Array, t: Row) -> int:
    """Return legal calls as bits: bit 0 a pass, bit 1 + level a bid; 0 after the auction.

    Of the last seat's partnered bids only the lowest is included: no seat is left to outbid.
    """
    if view.phase != AUCTION:
        return 0
    bits = 1 if mask[0] else 0
    for level in range(t.n_levels):
        if mask[1 + level * t.strains_per_bid]:
            bits |= 1 << (1 + level)
    if view.calls_made == 3:
        lowest = True
        for level in range(t.n_levels):
            if bits >> (1 + level) & 1 and not t.alone[level]:
                if not lowest:
                    bits &= ~(1 << (1 + level))
                lowest = False
    return bits


@inline_kernel
def rule_bid(view: Row, legal: int, t: Row, weights: Row, scratch: Row) -> int:
    """Return the call to make, of the `legal` calls (see `call_bits`), or the strain to name.

    The result is an action.
    """
    certain = certain_call(view, t, legal)
    if certain >= 0:
        return certain
    if view.phase == NAMING:
        return t.trump_offset + choose_strain(view, t, weights, scratch)
    return choose_call(view, t, weights, legal, scratch)


@kernel
def certain_action(view: Row, t: Row, mask: Array) -> int:
    """Return a legal action that is certain to take every trick left, or -1 if none is known."""
    if view.phase == AUCTION or view.phase == NAMING:
        return certain_call(view, t, call_bits(view, mask, t))
    card = certain_card(view, t, gather_bits(mask, t.card_offset, t.kinds, 0))
    return t.card_offset + card if card >= 0 else -1


@kernel
def rule_card(view: Row, t: Row, legal: int) -> int:
    """Return the kind of the card to give up, pass or play, of the `legal` kinds (bits)."""
    legal = undominated(view, t, legal)
    if legal & (legal - 1) == 0:
        return lowest_bit(legal)
    if view.phase == GIVING:
        return least_kept(view, t, legal, True)  # a losing side card, then a low trump
    if view.phase == PASSING:
        return pass_over(view, t, legal)
    return lead(view, t, legal) if view.led < 0 else follow(view, t, legal)


@kernel
def legal_choice(choice: int, mask: Array, t: Row) -> int:
    """Return the choice if legal, else the first legal action (for an invalid observation)."""
    if choice < 0 or choice >= t.n_actions or mask[choice] == 0:
        choice = 0
        while mask[choice] == 0:
            choice += 1
    return choice
