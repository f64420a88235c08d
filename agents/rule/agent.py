"""Agent `rule` and its kernels: rules of thumb of good players, applied to observation rows.

In kernels `t` is the record of the game's tables, and `view` the record `VIEW` of an observation.
Seats are relative to the seat to act: 0 itself, 1 left, 2 partner, 3 right.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bideuchre_env.agents.base import KernelAgent
from bideuchre_env.agents.data import sealed
from bideuchre_env.agents.protocols import AgentInfo, check_number
from bideuchre_env.agents.rule.bidding import (
    DECLARER,
    SCRATCH,
    WEIGHTS,
    Scratch,
    Weights,
    choose_call,
    choose_strain,
    last_bid,
    load_weights,
)
from bideuchre_env.agents.rule.card_play import follow, lead
from bideuchre_env.agents.rule.certain import certain_call, certain_card
from bideuchre_env.agents.rule.discards import least_kept, pass_over, undominated
from bideuchre_env.agents.rule.hand_features import TRUMPS
from bideuchre_env.core.observation.layout import layout_of
from bideuchre_env.core.records import State, Tables, View
from bideuchre_env.core.state import AUCTION, GIVING, NAMING, PASSING, new_states
from bideuchre_env.core.step import apply, apply_forced
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.core.view import new_view, see, see_observation
from bideuchre_env.errors import OptionError
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.intrinsics import lowest_bit, row_of
from bideuchre_env.runtime.jit import Array, entry_kernel, inline_kernel, kernel, new_rows

MOST_BOLD = 12


class RuleWorkspace(NamedTuple):
    """Tables, weights and scratch memory of the rule player in one game; arrays of one row.

    Each decision rewrites `views` and `scratch`; these two have n rows after `many_workspaces`.
    Only decisions from observations use `offsets` and `known`.
    """

    tables: Array
    offsets: Array  # of the observation's blocks
    known: Array  # `STATE`: the knowledge of an observing seat, rewritten by each decision
    weights: Array  # `bidding.WEIGHTS`
    views: Array  # `view.VIEW`, rewritten by each decision
    scratch: Array  # `bidding.SCRATCH`, rewritten by each decision


def rule_workspace(rules: Rules, weights: Array | None = None) -> RuleWorkspace:
    """Return a workspace for these rules; `weights` None means the package's own weights.

    Raises `OptionError` unless `weights` is None or an array, shape (1,), of dtype
    `bidding.WEIGHTS`.
    """
    if weights is None:
        weights = load_weights(rules.kinds, rules.copies, rules.kitty)
    elif (getattr(weights, "dtype", None), getattr(weights, "shape", None)) != (WEIGHTS, (1,)):
        raise OptionError("weights: expected one record of `bidding.WEIGHTS`, or None")
    return RuleWorkspace(
        compile_tables(rules), layout_of(rules).offsets, new_states(1), sealed(weights),
        new_view(), new_rows(SCRATCH, 1),
    )  # fmt: skip


def bolder(weights: Array, tricks: float) -> Array:
    """Return a copy of `bidding.WEIGHTS` that counts so many tricks more in every hand.

    For a lone hand, `tricks` is added to the log-odds to take every trick.
    """
    bold = weights.copy()
    bold["tricks"][:, DECLARER, :, TRUMPS.constant] += tricks
    bold["lone"][..., TRUMPS.constant] += tricks
    return bold


def many_workspaces(work: RuleWorkspace, n: int) -> RuleWorkspace:
    """Return a copy of a workspace with n views and scratch records, one for each of n rows.

    So threads that handle different rows do not share scratch memory; see `own_workspace`.
    """
    return work._replace(views=np.repeat(work.views, n), scratch=np.repeat(work.scratch, n))


@inline_kernel
def own_workspace(work: RuleWorkspace | None, start: int) -> RuleWorkspace | None:
    """Return the workspace for a thread whose rows begin at `start`.

    It has the view and scratch record of row `start`, or the only ones if `work` has just one.
    None stays None.
    """
    if work is None:
        return None
    i = min(start, len(work.views) - 1)
    views, scratch = work.views[i : i + 1], work.scratch[i : i + 1]
    return RuleWorkspace(work.tables, work.offsets, work.known, work.weights, views, scratch)


@entry_kernel
def rule_rows(observations: Array, masks: Array, work: RuleWorkspace, choices: Array) -> None:
    """Fill `choices` with the rule player's action for every row."""
    t, o, known, view = work.tables[0], work.offsets[0], work.known[0], work.views[0]
    for i in range(len(observations)):
        mask = row_of(masks, i)
        legal = see_observation(row_of(observations, i), mask, t, o, known, view)
        choices[i] = legal_choice(rule_decision(view, legal, work), mask, t)


class RuleAgent(KernelAgent):
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
    rows = staticmethod(rule_rows)
    info = AgentInfo(
        "Bids the strength of its hand, plays by maxims of good players, counts cards.",
        {"boldness": "tricks added to its estimate of a hand in the auction; may be negative"},
        milliseconds=0.0006,
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
        if boldness:
            bold = sealed(bolder(self._workspace.weights, boldness))
            self._workspace = self._workspace._replace(weights=bold)

    def workspace(self) -> RuleWorkspace:
        """Return a new workspace, so that decisions of a shared agent do not interfere."""
        return self._workspace._replace(
            known=new_states(1), views=new_view(), scratch=new_rows(SCRATCH, 1)
        )


@kernel
def rule_decision(view: View, legal: int, work: RuleWorkspace) -> int:
    """Return the action of the seat of a view, of the `legal` ones (see `step.legal_bits`)."""
    t = work.tables[0]
    if view.phase == AUCTION or view.phase == NAMING:
        calls = useful_calls(view, t, legal)
        return rule_bid(view, calls, t, work.weights[0], work.scratch[0])
    return t.card_offset + rule_card(view, t, legal)


@kernel
def act_by_rule(s: State, work: RuleWorkspace | None) -> None:
    """Apply the rule player's action to state `s`; do nothing, and compile nothing, for None."""
    if work is None:
        return
    t, view = work.tables[0], work.views[0]
    legal = apply_forced(s, t)
    if legal != 0:
        see(s, t, s.turn, view)
        apply(s, t, rule_decision(view, legal, work))


@kernel
def useful_calls(view: View, t: Tables, legal: int) -> int:
    """Return the `legal` calls (bit 0 a pass, bit 1 + level a bid) without dominated ones.

    Of the last seat's partnered bids with the same points only the lowest is included: no seat is
    left to outbid.
    """
    if last_bid(view, t):
        lowest = -1
        for level in range(t.n_levels):
            if legal >> (1 + level) & 1 and not t.alone[level]:
                if lowest < 0:
                    lowest = level
                elif t.payoff[level, t.tricks] == t.payoff[lowest, t.tricks]:
                    legal &= ~(1 << (1 + level))
    return legal


@inline_kernel
def rule_bid(view: View, legal: int, t: Tables, weights: Weights, scratch: Scratch) -> int:
    """Return the call to make, of the `legal` calls (see `useful_calls`), or the strain to name.

    The result is an action.
    """
    certain = certain_call(view, t, legal)
    if certain >= 0:
        return certain
    if view.phase == NAMING:
        return t.trump_offset + choose_strain(view, t, weights, scratch)
    return choose_call(view, t, weights, legal, scratch)


@kernel
def certain_action(view: View, t: Tables, legal: int) -> int:
    """Return an action that is certain to take every trick left, or -1 if none is known.

    `legal` are the legal actions, see `step.legal_bits`.
    """
    if view.phase == AUCTION or view.phase == NAMING:
        return certain_call(view, t, useful_calls(view, t, legal))
    card = certain_card(view, t, legal)
    return t.card_offset + card if card >= 0 else -1


@kernel
def rule_card(view: View, t: Tables, legal: int) -> int:
    """Return the card to lay away, give up, pass or play: a kind of the `legal` ones (bits)."""
    legal = undominated(view, t, legal)
    if legal & (legal - 1) == 0:
        return lowest_bit(legal)
    if view.phase == GIVING:
        # a losing side card; of a lone hand then a low trump
        return least_kept(view, t, legal, view.sitting_out >= 0)
    if view.phase == PASSING:
        return pass_over(view, t, legal)
    return lead(view, t, legal) if view.led < 0 else follow(view, t, legal)


@kernel
def legal_choice(choice: int, mask: Array, t: Tables) -> int:
    """Return the choice if legal, else the first legal action (for an invalid observation)."""
    if choice < 0 or choice >= t.n_actions or mask[choice] == 0:
        choice = 0
        while mask[choice] == 0:
            choice += 1
    return choice
