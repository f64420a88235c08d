"""Agent `net`: the expert's calls and the rule player's cards, corrected by a network.

The kernel is that of the expert (`expert/decision.py`). The network estimates the points of every
card, up to a constant that all cards share. It is trained on pairs of lines of play that differ by
one card (`learning/pairs.py`). The rule player's card is played unless another is better by a
margin. The calls are the expert's, but its call network is fitted again to hands in which the net
plays the cards.
"""

from __future__ import annotations

from pathlib import Path

from bideuchre_env._checks import check_flag
from bideuchre_env.agents.expert.agent import DEALS, NO_SEARCH, ExpertAgent
from bideuchre_env.agents.expert.call_network import CALL_SHAPES, CallNetwork, call_arrays, calls_of
from bideuchre_env.agents.expert.decision import CardNetwork, PlayerWorkspace, decide_rows
from bideuchre_env.agents.learned.shipped import LearnedAgent, fitting_weights
from bideuchre_env.agents.protocols import (
    GOAL_OPTION,
    WEIGHTS_OPTION,
    AgentInfo,
    Goal,
    check_number,
)
from bideuchre_env.learning.features import VERSION, features_of
from bideuchre_env.learning.network import (
    Network,
    another,
    arrays_of,
    network_of,
    network_workspace,
)
from bideuchre_env.learning.weights import Weights, made_for
from bideuchre_env.rules.rules import Rules

KIND = "net"
MARGIN = 0.1
"""Points by which a card must be better than the rule player's."""
VETO = 0.4
"""Points by which the network may value the card of the endgame search below its own card."""


class NetAgent(LearnedAgent):
    """Plays cards by a trained network, for the points of the hand, and makes the expert's calls.

    Args:
        rules: the rules of the game.
        seed: checked, but without effect: the net is deterministic.
        weights: a file of weights, or `Weights`; None for the default weights of the rules.
        search: whether to search the last tricks, as the expert does.
        margin: points by which a card must be better than the rule player's, by the network;
            at least 2 against a lone declarer at no trump.
        veto: maximum number of points by which the network may value the card of the search below
            its own card; else its own card is played.
        goal: "game": it bids to win the game, by the score; "points": for the points of each hand.

    Raises:
        OptionError: an option has an invalid value, or there are no weights for these rules.
        WeightsError: the weights do not fit these rules.
    """

    name = KIND
    rows = staticmethod(decide_rows)
    info = AgentInfo(
        "The expert's calls and the rule agent's cards, corrected by trained networks.",
        {
            **WEIGHTS_OPTION,
            "search": "true: also search the last tricks, as the expert does",
            "margin": "points by which a card must beat the rule agent's card",
            "veto": "points by which the network may rate a searched card worse",
            **GOAL_OPTION,
        },
        milliseconds=0.0024,
    )

    def __init__(
        self,
        rules: Rules,
        *,
        seed: int | None = None,
        weights: str | Path | Weights | None = None,
        search: bool = False,
        margin: float = MARGIN,
        veto: float = VETO,
        goal: Goal = "game",
    ) -> None:
        super().__init__(rules)
        self.margin = check_number("margin", margin, 0, 100, "points ")
        self.veto = check_number("veto", veto, 0, 100, "points ")
        check_flag("search", search)
        loaded = weights_for(rules, weights)
        self.goal = goal
        self._remember(loaded, search=search, margin=margin, veto=veto, goal=goal)
        calls, wanted = calls_of(loaded), DEALS if search else NO_SEARCH
        self._expert = ExpertAgent(rules, seed=seed, network=calls, wanted=wanted, goal=goal)
        self._cards = network_workspace(network_of(loaded, "cards"), features_of(rules, "cards"))

    def workspace(self) -> PlayerWorkspace:
        """Return a new workspace; each thread needs its own, because decisions overwrite it."""
        network = another(self._cards, features_of(self.rules, "cards"))
        cards = CardNetwork(network, self.margin, self.veto)
        return self._expert.workspace()._replace(cards=cards)


def weights_for(rules: Rules, weights: str | Path | Weights | None = None) -> Weights:
    """Return weights of agent `net`: `weights` itself, those of a file, or the default ones.

    Raises `WeightsError` unless they fit the rules, and `OptionError` if there are none.
    """
    return fitting_weights(KIND, rules, weights, ("cards",), CALL_SHAPES)


def net_weights(rules: Rules, cards: Network, calls: CallNetwork, made: dict[str, str]) -> Weights:
    """Return `Weights` for agent `net` under these rules, from a card and a call network.

    `made` is the provenance, added to the metadata.
    """
    return Weights(
        arrays_of(cards, "cards") | call_arrays(calls), {**made, **made_for(KIND, rules, VERSION)}
    )
