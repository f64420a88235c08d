"""The expert: calls by tables and a network, cards by the rule player, last tricks by search."""

from __future__ import annotations

from bideuchre_env._checks import brief
from bideuchre_env.agents.base import KernelAgent
from bideuchre_env.agents.expert.auction import CALLS
from bideuchre_env.agents.expert.call_network import CallNetwork, checked_network
from bideuchre_env.agents.expert.decision import PlayerWorkspace, decide_rows
from bideuchre_env.agents.expert.endgame import SAMPLED_DEAL, holder_odds
from bideuchre_env.agents.expert.tables import load_tables
from bideuchre_env.agents.protocols import (
    GOAL_OPTION,
    AgentInfo,
    Goal,
    check_goal,
    check_number,
    check_range,
)
from bideuchre_env.agents.rule.bidding import SCRATCH
from bideuchre_env.core.state import new_states
from bideuchre_env.core.view import new_view
from bideuchre_env.errors import OptionError
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.jit import new_rows
from bideuchre_env.solver.transpositions import new_searcher

DEALS = (0, 0, 40, 40, 60, 60, 0, 0, 0, 0, 0, 0, 0)
"""[cards in hand]: number of deals to sample for the search of the last tricks; 0: no search."""
NO_SEARCH = (0,) * len(DEALS)
MARGIN = 0.05
"""Points that a searched card must gain over the rule player's card."""
STANDARD_ERRORS = 0.5
"""Standard errors of that gain, added to the margin."""
MEGABYTES = 0.1  # of the solver's table
LEAN = 2
"""Quarters added to a seat's odds to hold cards of a suit that it has bid; for the declarer, only
if the deck's holder odds are unknown."""


class ExpertAgent(KernelAgent):
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
    rows = staticmethod(decide_rows)
    info = AgentInfo(
        "Bids by hand-value tables and a network, searches the last tricks.",
        {
            "margin": "points by which a searched card must beat the rule agent's card",
            "standard_errors": "standard errors by which that gain must also exceed 0",
            "lean": "extra odds that a bidder holds cards of its suit, in quarters",
            **GOAL_OPTION,
        },
        milliseconds=0.03,
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

    def workspace(self) -> PlayerWorkspace:
        """Return a new workspace; each thread needs its own, because decisions overwrite it."""
        return PlayerWorkspace(
            self.tables, self.layout.offsets, self.learned, new_states(1),
            new_view(self.goal == "points"), new_rows(SCRATCH, 1), new_rows(CALLS, 1),
            self._deals.copy(), new_searcher(MEGABYTES),
        )  # fmt: skip
