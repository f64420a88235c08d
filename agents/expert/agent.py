"""The expert: calls by tables and a network, cards by the rule player, last tricks by search."""

from __future__ import annotations

from typing import NamedTuple

from bideuchre_env._checks import brief
from bideuchre_env.agents.base import RowAgent
from bideuchre_env.agents.expert.auction import (
    CALLS,
    best_call,
    expert_strain,
    start_calls,
    weigh_calls,
)
from bideuchre_env.agents.expert.call_features import Calls
from bideuchre_env.agents.expert.call_network import CallNetwork, checked_network
from bideuchre_env.agents.expert.endgame import endgame_card
from bideuchre_env.agents.expert.sampled_deals import SAMPLED_DEAL, holder_odds
from bideuchre_env.agents.expert.strains import weigh_strains
from bideuchre_env.agents.expert.tables import ExpertTables, load_tables
from bideuchre_env.agents.protocols import (
    GOAL_OPTION,
    AgentInfo,
    Goal,
    check_goal,
    check_number,
    check_range,
)
from bideuchre_env.agents.rule.agent import (
    certain_action,
    legal_choice,
    rule_bid,
    rule_card,
    useful_calls,
)
from bideuchre_env.agents.rule.bidding import SCRATCH, Scratch, call_action
from bideuchre_env.agents.rule.win_curve import read_time
from bideuchre_env.core.records import Tables, View
from bideuchre_env.core.state import AUCTION, NAMING, PLAY, new_states
from bideuchre_env.core.view import new_view, see_observation
from bideuchre_env.errors import OptionError
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.intrinsics import row_of
from bideuchre_env.runtime.jit import Array, entry_kernel, kernel, new_rows

DEALS = (0, 0, 40, 40, 60, 60, 0, 0, 0, 0, 0, 0, 0)
"""[cards in hand]: number of deals to sample for the search of the last tricks; 0: no search."""
NO_SEARCH = (0,) * len(DEALS)
MARGIN = 0.05
"""Points that a searched card must gain over the rule player's card."""
STANDARD_ERRORS = 0.5
"""Standard errors of that gain, added to the margin."""
LEAN = 2
"""Quarters added to a seat's odds to hold cards of a suit that it has bid; for the declarer, only
if the deck's holder odds are unknown."""


class ExpertWorkspace(NamedTuple):
    """Tables and scratch memory of the expert in one game; arrays of one row."""

    tables: Array
    offsets: Array  # of the observation's blocks
    learned: ExpertTables
    known: Array  # `STATE`: the knowledge of an observing seat; rewritten as all below
    views: Array  # `view.VIEW`
    scratch: Array  # `rule.bidding.SCRATCH`
    calls: Array  # `auction.CALLS`
    deals: Array  # `sampled_deals.SAMPLED_DEAL`


class ExpertAgent(RowAgent):
    """Bids by tables and a network, plays the rule player's cards, and searches the last tricks.

    Args:
        rules: the rules of the game.
        seed: checked, but without effect: the expert is deterministic.
        network: weights of calls that replace those of `load_network`.
        wanted: 13 whole numbers: with k cards in hand, `wanted[k]` deals are sampled for the search
            of the last tricks; 0 disables the search.
        margin: points that a searched card must gain over the rule player's card.
        standard_errors: the gain must exceed `margin` plus this many of its standard errors.
        lean: quarters added to the odds that a seat holds a card of a suit that it has bid, in the
            deals of the search.
        goal: "game": it bids to win the game, by the score; "points": for the points of each hand.

    Raises:
        OptionError: an option has an invalid value.
        WeightsError: the weights prepared on this machine for these rules are damaged.
    """

    name = "expert"
    info = AgentInfo(
        "Bids by hand-value tables and a network, searches the last tricks.",
        {
            "margin": "points by which a searched card must beat the rule agent's card",
            "standard_errors": "standard errors by which that gain must also exceed 0",
            "lean": "extra odds that a bidder holds cards of its suit, in quarters",
            **GOAL_OPTION,
        },
        milliseconds=0.11,
    )

    def __init__(
        self,
        rules: Rules,
        *,
        seed: int | None = None,
        network: CallNetwork | None = None,
        wanted: tuple[int, ...] = DEALS,
        margin: float = MARGIN,
        standard_errors: float = STANDARD_ERRORS,
        lean: int = LEAN,
        goal: Goal = "game",
    ) -> None:
        super().__init__(rules, seed)
        if network is not None:
            network = checked_network(network)
        valid = isinstance(wanted, tuple) and all(
            type(n) is int and 0 <= n < 10_001 for n in wanted
        )
        if not valid or len(wanted) != len(DEALS):
            raise OptionError(
                f"wanted={brief(wanted)}: expected {len(DEALS)} whole numbers from 0 to 10,000"
            )
        self.goal = check_goal(goal)
        self._deals = new_rows(SAMPLED_DEAL, 1)
        self._deals["n_deals"] = wanted
        self._deals["margin"] = check_number("margin", margin, 0, 100)
        self._deals["standard_errors"] = check_number("standard_errors", standard_errors, 0, 100)
        self._deals["lean_by"] = check_range("lean", lean, 0, 100)
        if any(wanted):
            self._deals["holder_odds"] = holder_odds(rules)
        self.learned = load_tables(rules, network, goal)

    def choose(self, observations: Array, action_masks: Array) -> Array:
        """Return a legal action for every row; int64 (n,)."""
        return self._fill(expert_rows, observations, action_masks, self.workspace())

    def workspace(self) -> ExpertWorkspace:
        """Return a new workspace; each thread needs its own, because decisions overwrite it."""
        return ExpertWorkspace(
            self.tables, self.layout.offsets, self.learned, new_states(1),
            new_view(self.goal == "points"), new_rows(SCRATCH, 1), new_rows(CALLS, 1),
            self._deals.copy(),
        )  # fmt: skip


@entry_kernel
def expert_rows(observations: Array, masks: Array, work: ExpertWorkspace, choices: Array) -> None:
    """Fill `choices`, int64 (n,), with the expert's actions for n observations and masks."""
    t, o, known, view = work.tables[0], work.offsets[0], work.known[0], work.views[0]
    for i in range(len(observations)):
        mask = row_of(masks, i)
        legal = see_observation(row_of(observations, i), mask, t, o, known, view)
        choices[i] = legal_choice(expert_decision(view, legal, work), mask, t)


@kernel
def expert_decision(view: View, legal: int, work: ExpertWorkspace) -> int:
    """Return the action of the seat of a view, of the `legal` ones (see `step.legal_bits`)."""
    t = work.tables[0]
    choice = certain_action(view, t, legal)
    if choice >= 0:
        return choice
    if view.phase == AUCTION or view.phase == NAMING:
        calls = useful_calls(view, t, legal)
        return expert_bid(view, calls, t, work.learned, work.scratch[0], work.calls[0])
    card = rule_card(view, t, legal)
    if view.phase == PLAY and legal & (legal - 1):
        card = endgame_card(view, t, work.deals[0], legal, card)
    return t.card_offset + card


@kernel
def expert_bid(
    view: View, legal: int, t: Tables, learned: ExpertTables, scratch: Scratch, calls: Calls
) -> int:
    """Return the action in the auction: one of the `legal` calls, or the strain to name.

    `legal` has bit 0 for a pass, bit 1 + level for a bid; it is 0 when the strain is to be
    named. If the expert has no values for the hand (see `weigh_strains`), the rule player chooses.
    The result may be -1 if no call is legal.
    """
    if weigh_hand(view, t, learned, scratch, calls):
        if view.phase == NAMING:
            return t.trump_offset + expert_strain(view, t, learned.wins, calls)
        weigh_calls(view, t, learned, legal, calls)
        best = best_call(t, calls)
        return call_action(t, (best >> 3) - 1, calls.ranked[best & 7]) if best >= 0 else -1
    return rule_bid(view, legal, t, learned.weights[0], scratch)


@kernel
def weigh_hand(
    view: View, t: Tables, learned: ExpertTables, scratch: Scratch, calls: Calls
) -> bool:
    """Write the values of the hand in every strain to `calls`, before calls are weighed.

    In the auction, also writes the values of the standing (highest) bid. Returns False if there are
    no values for this hand (see `weigh_strains`); `calls` is then meaningless.
    """
    if not weigh_strains(view, t, learned, scratch, calls):
        return False
    read_time(view)
    if view.phase != NAMING:
        start_calls(view, t, learned, scratch, calls)
    return True
