"""The network that corrects the value of a call: two hidden layers of ReLUs and a linear skip.

Its output is the expected points of a call minus those of its contract if that is played.
`experiments/fitting/fit_call_network.py` has made the weights of each game. `calls` is the record
`auction.CALLS`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from bideuchre_env._checks import check_array
from bideuchre_env.agents.data import package_part, sealed
from bideuchre_env.agents.expert.call_features import CALL, N_HAND, N_INPUTS, Calls
from bideuchre_env.agents.expert.hand_table import DECKS
from bideuchre_env.agents.prepared import prepared_weights
from bideuchre_env.agents.rule.bidding import N_AUCTION_FEATURES
from bideuchre_env.errors import OptionError
from bideuchre_env.learning.network import (
    Network,
    add_hidden,
    add_inputs,
    arrays_of,
    copy,
    network_of,
    sealed_network,
    shapes_of,
    zero_network,
)
from bideuchre_env.learning.weights import MOST_WEIGHT, Shape, Weights, check_weights, made_for
from bideuchre_env.rules.rules import Rules
from bideuchre_env.rules.variants import RULES
from bideuchre_env.runtime.jit import Array, kernel

KIND = "expert"
VERSION = 1
"""Version of `call_features`: weights prepared with another version are rejected."""

MOST_UNLIKE = 8.0  # the third result of `unlike` up to which the weights of a variant are used

FIRST, SECOND = 64, 32  # units of the two hidden layers
SCALE = 8.0  # points per unit of the network's output

SHIFTS = (2, 1 + N_HAND + N_AUCTION_FEATURES)
"""[trumps / no trump]: weights of `trick_shift` for the mean, the hand and the auction."""
CALL_SHAPES: dict[str, Shape] = {
    **{f"calls.{n}": s for n, s in shapes_of(N_INPUTS, 1, (FIRST, SECOND), relu=True).items()},
    "calls.shifts": SHIFTS,
}
"""Names and shapes of the arrays of a `CallNetwork` in a file of weights."""


class CallNetwork(NamedTuple):
    """All weights of the expert's auction in one game."""

    layers: Network
    shifts: Array  # float64 `SHIFTS`


@kernel
def weigh_table(network: Network, calls: Calls) -> None:
    """Write to `calls` the part of the first layer and of the output that all calls share.

    It depends on the first `CALL` numbers of `calls.inputs`.
    """
    copy(network.first_bias, calls.table_sums)
    copy(network.last_bias, calls.table_output)
    add_inputs(network, calls.inputs, 0, CALL, calls.table_sums, calls.table_output)


@kernel
def network_points(network: Network, calls: Calls) -> float:
    """Return the network's output in points for the call in `calls.inputs`, after `weigh_table`."""
    copy(calls.table_sums, calls.first_sums)
    copy(calls.table_output, calls.output)
    add_inputs(network, calls.inputs, CALL, N_INPUTS, calls.first_sums, calls.output)
    add_hidden(network, calls.first_sums, calls.second_sums, calls.output)
    return SCALE * float(calls.output[0])


# --- the weights by game ------------------------------------------------------------------------


def load_network(rules: Rules) -> CallNetwork:
    """Return the weights for these rules.

    They are the weights prepared on this machine for the rules (see `prepared`), if any, else those
    of `package_network`. Raises `WeightsError` for a prepared file that is damaged or of another
    version.
    """
    prepared = prepared_weights(KIND, rules)
    return package_network(rules) if prepared is None else checked_calls(rules, prepared)


@lru_cache(maxsize=64)
def package_network(rules: Rules) -> CallNetwork:
    """Return the package's weights of the most similar fitted variant.

    The variant has the same deck or, for a deck that has a hand table but no variant, all lone bids
    of `rules`: the table alone would value each call as if it ended the auction. All weights are 0
    if there is no such variant, or if its bidding differs too much (`MOST_UNLIKE`).
    """
    name = min(RULES, key=lambda name: unlike(rules, RULES[name]))
    other_deck, lacks_lone, differing = unlike(rules, RULES[name])
    tables_only = bool(rules.lone) and (rules.kinds, rules.copies) in DECKS
    if differing > MOST_UNLIKE or (other_deck and (lacks_lone or not tables_only)):
        return new_network()
    return checked_calls(RULES[name], package_part(name, KIND))


def new_network() -> CallNetwork:
    """Return a network that adds no points and shifts no tricks."""
    return checked_network(
        CallNetwork(zero_network(N_INPUTS, 1, (FIRST, SECOND)), np.zeros(SHIFTS))
    )


def checked_network(network: CallNetwork) -> CallNetwork:
    """Return the network with read-only weights; `OptionError` unless they are valid.

    See `learning.network.sealed_network`.
    """
    if not isinstance(network, CallNetwork):
        raise OptionError("network: expected a `call_network.CallNetwork`, or None")
    check_array("shifts", network.shifts, np.float64, SHIFTS)
    if not (np.abs(network.shifts) < MOST_WEIGHT).all():
        raise OptionError(f"shifts: expected finite weights below {MOST_WEIGHT:g}")
    layers = sealed_network(network.layers, N_INPUTS, 1, (FIRST, SECOND))
    return CallNetwork(layers, sealed(network.shifts))


def calls_of(weights: Weights) -> CallNetwork:
    """Return the call network in weights; `CALL_SHAPES` has the names and shapes of its arrays."""
    shifts = np.ascontiguousarray(weights.arrays["calls.shifts"], np.float64)
    return checked_network(CallNetwork(network_of(weights, "calls"), shifts))


def checked_calls(rules: Rules, weights: Weights) -> CallNetwork:
    """Return the call network in weights of the expert.

    Raises `WeightsError` unless they were made for these rules and this version.
    """
    check_weights(weights, made_for(KIND, rules, VERSION), CALL_SHAPES, double="calls.shifts")
    return calls_of(weights)


def call_arrays(network: CallNetwork) -> dict[str, Array]:
    """Return the arrays of a network under the names that `calls_of` reads."""
    return {**arrays_of(network.layers, "calls"), "calls.shifts": network.shifts}


def unlike(rules: Rules, fitted: Rules) -> tuple[bool, bool, float]:
    """Return a sort key of how much the bidding of the game `fitted` differs from that of `rules`.

    Its parts are whether the deck differs; whether `fitted` lacks a lone bid of `rules` with the
    same exchange, value and players; and a weighted count of differing rules, plus the difference
    of the lowest partnered bids in eighths of the tricks.
    """
    games = rules, fitted
    deck, other = ((game.kinds, game.copies) for game in games)
    lone, has = ({(bid.exchange, bid.value, bid.partner) for bid in each.lone} for each in games)
    low = [game.partnered[0] / game.tricks if game.partnered else 1.0 for game in games]
    differing = (
        4 * (rules.strain_named != fitted.strain_named)
        + 4 * ((rules.auction == "once") != (fitted.auction == "once"))
        + 3 * (rules.all_pass != fitted.all_pass)
        + 2 * (rules.moon_ladder != fitted.moon_ladder)
        + 2 * (bool(rules.lone) != bool(fitted.lone))
        + (rules.no_trump != fitted.no_trump)
        + (rules.opening_lead != fitted.opening_lead)
        + (rules.dealer_may_equal != fitted.dealer_may_equal)
        + (rules.win_rule != fitted.win_rule)
        + 8 * abs(low[0] - low[1])
    )
    return deck != other, not lone <= has, differing
