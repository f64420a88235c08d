"""Agent `net`: the expert's calls and the rule player's cards, corrected by a network.

The network estimates the points of every card, up to a constant that all cards share. It is trained
on pairs of lines of play that differ by one card (`learning/pairs.py`). The rule player's card is
played unless another is better by a margin. The calls are the expert's, but its call network is
fitted again to hands in which the net plays the cards.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from bideuchre_env._checks import brief
from bideuchre_env.agents.expert.agent import (
    DEALS,
    NO_SEARCH,
    ExpertAgent,
    ExpertWorkspace,
    expert_bid,
)
from bideuchre_env.agents.expert.call_network import (
    CALL_SHAPES,
    CallNetwork,
    call_arrays,
    calls_of,
)
from bideuchre_env.agents.expert.endgame import endgame_card
from bideuchre_env.agents.learned.shipped import LearnedAgent, fitting_weights
from bideuchre_env.agents.protocols import (
    GOAL_OPTION,
    WEIGHTS_OPTION,
    AgentInfo,
    Goal,
    check_number,
)
from bideuchre_env.agents.rule.agent import certain_action, legal_choice, rule_card, useful_calls
from bideuchre_env.agents.rule.exchange import undominated
from bideuchre_env.core.records import State
from bideuchre_env.core.state import AUCTION, NAMING, PLAY
from bideuchre_env.core.view import see_observation
from bideuchre_env.errors import OptionError
from bideuchre_env.learning.feature_rows import list_inputs, renamed_kind
from bideuchre_env.learning.features import VERSION, features_of
from bideuchre_env.learning.network import (
    Network,
    NetworkWorkspace,
    add_up,
    another,
    arrays_of,
    network_of,
    network_workspace,
    new_network,
)
from bideuchre_env.learning.weights import Weights, made_for
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.intrinsics import lowest_bit, row_of
from bideuchre_env.runtime.jit import Array, entry_kernel, inline_kernel, kernel

KIND = "net"
MARGIN = 0.1
"""Points by which a card must be better than the rule player's."""
VETO = 0.4
"""Points by which the network may value the card of the endgame search below its own card."""


class NetWorkspace(NamedTuple):
    """Tables, networks, margins and scratch memory of the net for the rules of one game."""

    expert: ExpertWorkspace
    cards: NetworkWorkspace
    margin: float
    veto: float


class NetAgent(LearnedAgent):
    """Plays cards by a trained network, for the points of the hand, and makes the expert's calls.

    Args:
        rules: the rules of the game.
        seed: checked, but without effect: the net is deterministic.
        weights: a file of weights, or `Weights`; None for the default weights of the rules.
        search: whether to search the last tricks, as the expert does.
        margin: points by which a card must be better than the rule player's, by the network.
        veto: maximum number of points by which the network may value the card of the search below
            its own card; else its own card is played.
        goal: "game": it bids to win the game, by the score; "points": for the points of each hand.

    Raises:
        OptionError: an option has an invalid value, or there are no weights for these rules.
        WeightsError: the weights do not fit these rules.
    """

    name = KIND
    info = AgentInfo(
        "The expert's calls and the rule agent's cards, corrected by trained networks.",
        {
            **WEIGHTS_OPTION,
            "search": "true: also search the last tricks, as the expert does",
            "margin": "points by which a card must beat the rule agent's card",
            "veto": "points by which the network may rate a searched card worse",
            **GOAL_OPTION,
        },
        milliseconds=0.005,
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
        if not isinstance(search, bool):
            raise OptionError(f"search={brief(search)}: expected True or False")
        loaded = weights_for(rules, weights)
        self.goal = goal
        self._remember(loaded, search=search, margin=margin, veto=veto, goal=goal)
        self._expert = ExpertAgent(
            rules,
            seed=seed,
            network=calls_of(loaded),
            wanted=DEALS if search else NO_SEARCH,
            goal=goal,
        )
        self._cards = network_workspace(network_of(loaded, "cards"), features_of(rules, "cards"))

    def choose(self, observations: Array, action_masks: Array) -> Array:
        """Return a legal action for every row; int64 (n,)."""
        return self._fill(net_rows, observations, action_masks, self.workspace())

    def workspace(self) -> NetWorkspace:
        """Return a new workspace; each thread needs its own, because decisions overwrite it."""
        cards = another(self._cards, features_of(self.rules, "cards"))
        return NetWorkspace(self._expert.workspace(), cards, self.margin, self.veto)


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


def no_net(rules: Rules, expert: ExpertWorkspace) -> NetWorkspace:
    """Return a placeholder workspace, with an untrained network, for a search agent without net."""
    features = features_of(rules, "cards")
    nothing = new_network(features.size, (1, 1), features.outputs, np.random.default_rng(0))
    return NetWorkspace(expert, network_workspace(nothing, features), MARGIN, VETO)


@entry_kernel
def net_rows(observations: Array, masks: Array, work: NetWorkspace, choices: Array) -> None:
    """Fill `choices`, int64 (n,), with the net's actions for n observations and masks."""
    expert = work.expert
    t, o, s, view = expert.tables[0], expert.offsets[0], expert.known[0], expert.views[0]
    for i in range(len(observations)):
        mask = row_of(masks, i)
        legal = see_observation(row_of(observations, i), mask, t, o, s, view)
        choices[i] = legal_choice(net_decision(s, 0, legal, work), mask, t)


@kernel
def net_decision(s: State, seat: int, legal: int, work: NetWorkspace) -> int:
    """Return the action of a seat in state `s`, of the `legal` ones (see `step.legal_bits`).

    The view in `work.expert` must be the seat's.
    """
    expert = work.expert
    t, view = expert.tables[0], expert.views[0]
    choice = certain_action(view, t, legal)
    if choice >= 0:
        return choice
    if view.phase == AUCTION or view.phase == NAMING:
        calls = useful_calls(view, t, legal)
        return expert_bid(view, calls, t, expert.learned, expert.scratch[0], expert.calls[0])
    card = rule_card(view, t, legal)
    if legal & (legal - 1):
        card = net_card(s, seat, legal, card, work)
    return t.card_offset + card


@kernel
def net_card(s: State, seat: int, legal: int, card: int, work: NetWorkspace) -> int:
    """Return the kind to give up, pass or play, of the `legal` kinds (bits).

    `card` is the rule player's choice. The view in `work.expert` must be the seat's.
    """
    expert, points = work.expert, work.cards.outputs
    t, view = expert.tables[0], expert.views[0]
    best, symmetry = best_card(s, seat, legal, card, work)
    if view.phase != PLAY:
        return best
    searched = endgame_card(view, t, expert.deals[0], legal, best)
    behind = points_of(points, symmetry, best) - points_of(points, symmetry, searched)
    return best if behind > work.veto else searched


@kernel
def best_card(s: State, seat: int, legal: int, card: int, work: NetWorkspace) -> tuple[int, int]:
    """Return the card without search: the best by the network if it beats `card` by the margin.

    `card` is the rule player's choice, `legal` the legal kinds (bits). The view in `work.expert`
    must be the seat's. Also returns the symmetry of the outputs, for `points_of`.
    """
    points, symmetry = work.cards.outputs, weigh_cards(s, seat, work)
    t, best = work.expert.tables[0], card
    left = undominated(work.expert.views[0], t, legal)
    least = points_of(points, symmetry, card) + work.margin
    while left:
        kind = lowest_bit(left)
        left &= left - 1
        worth = points_of(points, symmetry, kind)
        if kind != card and worth > least:
            best, least = kind, worth
    return best, symmetry


@kernel
def weigh_cards(s: State, seat: int, work: NetWorkspace) -> int:
    """Run the card network: write `work.cards.outputs`, and return their suit symmetry (0 to 7).

    The view in `work.expert` must be that of the seat in state `s`. `points_of` looks up the
    estimate of a card.
    """
    expert, features = work.expert, work.cards.features
    t, view = expert.tables[0], expert.views[0]
    n, symmetry = list_inputs(s, t, seat, features.places[0], view, True, features.active)
    add_up(n, work.cards)
    return int(symmetry)


@inline_kernel
def points_of(points: Array, symmetry: int, kind: int) -> float:
    """Return the estimated points of a card, up to a common constant.

    `points` are the network's outputs, (O,), `symmetry` is the result of `weigh_cards`.
    """
    return float(points[renamed_kind(kind, symmetry)])
