"""The network that corrects the value of a call: two hidden layers of ReLUs and a linear skip.

Its output is the expected points of a call minus those of its contract if that is played. The
weights of each game are in `call_network.npz`, made by `experiments/fitting/fit_call_network.py`.
`calls` is the record `auction.CALLS`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from bideuchre_env.agents.data import read_provenance, read_record, sealed
from bideuchre_env.agents.expert.call_features import CALL, N_HAND, N_INPUTS, Calls
from bideuchre_env.agents.expert.hand_table import DECKS
from bideuchre_env.agents.prepared import prepared_weights
from bideuchre_env.agents.rule.bidding import N_AUCTION_FEATURES
from bideuchre_env.learning.weights import Weights, check_weights, made_for
from bideuchre_env.rules.rules import Rules
from bideuchre_env.rules.variants import RULES
from bideuchre_env.runtime.jit import Array, Row, kernel, new_rows
from bideuchre_env.runtime.vectors import add_rows

FILE = "call_network.npz"
KIND = "expert"
VERSION = 1
"""Version of `call_features`: weights prepared with another version are rejected."""

MOST_UNLIKE = 8.0  # the third result of `unlike` up to which the weights of a variant are used

FIRST, SECOND = 64, 32  # units of the two hidden layers
SCALE = 8.0  # points per unit of the network's output

NETWORK = np.dtype(
    [
        # [trumps / no trump]: weights of `trick_shift` for the mean, the hand and the auction
        ("shifts", np.float64, (2, 1 + N_HAND + N_AUCTION_FEATURES)),
        ("first", np.float32, (N_INPUTS, FIRST)),
        ("first_base", np.float32, (FIRST,)),
        ("second", np.float32, (FIRST, SECOND)),
        ("second_base", np.float32, (SECOND,)),
        ("last", np.float32, (SECOND,)),
        ("straight", np.float32, (N_INPUTS,)),
        ("base", np.float32),
    ],
    align=True,
)
"""All weights of the expert's auction in one game."""

LAYERS = tuple(name for name in NETWORK.names or () if name != "shifts")


@kernel
def copy(source: Array, target: Array) -> None:
    """Copy `source` to `target`; a slice assignment would allocate a temporary copy."""
    for i in range(len(target)):
        target[i] = source[i]


@kernel
def rectify(sums: Array) -> None:
    """Apply ReLU in place: set negative numbers to 0."""
    for i in range(len(sums)):
        if sums[i] < 0.0:
            sums[i] = 0.0


@kernel
def dot(inputs: Array, weights: Array, first: int, last: int) -> float:
    """Return the dot product of `inputs[first:last]` and `weights[first:last]`."""
    total = 0.0
    for i in range(first, last):
        total += inputs[i] * weights[i]
    return total


@kernel
def weigh_table(network: Row, calls: Calls) -> None:
    """Write to `calls` the part of the first layer and of the output that all calls share.

    It depends on the first `CALL` numbers of `calls.inputs`.
    """
    copy(network.first_base, calls.table_sums)
    add_rows(calls.inputs, 0, CALL, network.first, calls.table_sums)
    calls.table_straight = network.base + dot(calls.inputs, network.straight, 0, CALL)


@kernel
def network_points(network: Row, calls: Calls) -> float:
    """Return the network's output in points for the call in `calls.inputs`, after `weigh_table`."""
    copy(calls.table_sums, calls.first_sums)
    add_rows(calls.inputs, CALL, N_INPUTS, network.first, calls.first_sums)
    rectify(calls.first_sums)
    copy(network.second_base, calls.second_sums)
    add_rows(calls.first_sums, 0, FIRST, network.second, calls.second_sums)
    rectify(calls.second_sums)
    straight = calls.table_straight + dot(calls.inputs, network.straight, CALL, N_INPUTS)
    return SCALE * float(straight + dot(calls.second_sums, network.last, 0, SECOND))


# --- the weights by game ------------------------------------------------------------------------


def provenance() -> dict[str, Any]:
    """Return the provenance of the weights by name of the game: script, seed, hands and rounds."""
    return read_provenance(FILE)


def fitted_network(name: str) -> Array:
    """Return the package's weights of a fitted variant, such as "barrie_v0": one `NETWORK` record.

    Raises `TableError` if it has none.
    """
    return read_record(FILE, name, NETWORK)


def load_network(rules: Rules) -> Array:
    """Return the weights for these rules, read-only: one `NETWORK` record.

    They are the weights prepared on this machine for the rules (see `prepared`), if any, else those
    of `package_network`. Raises `WeightsError` for a prepared file that is damaged or of another
    version.
    """
    prepared = prepared_weights(KIND, rules)
    return package_network(rules) if prepared is None else checked_calls(rules, prepared)


@lru_cache(maxsize=64)
def package_network(rules: Rules) -> Array:
    """Return the package's weights of the most similar fitted variant, read-only.

    The variant has the same deck or, for a deck that has a hand table but no variant, all lone bids
    of `rules`: the table alone would value each call as if it ended the auction. All weights are 0
    if there is no such variant, or if its bidding differs too much (`MOST_UNLIKE`).
    """
    name = min(provenance(), key=lambda name: unlike(rules, RULES[name]))
    other_deck, lacks_lone, differing = unlike(rules, RULES[name])
    tables_only = bool(rules.lone) and (rules.kinds, rules.copies) in DECKS
    if differing > MOST_UNLIKE or (other_deck and (lacks_lone or not tables_only)):
        return sealed(new_network())
    return sealed(fitted_network(name))


def new_network() -> Array:
    """Return a network that adds no points and shifts no tricks: one `NETWORK` record."""
    return new_rows(NETWORK, 1)


CALL_SHAPES: dict[str, tuple[int | str, ...]] = {
    f"calls.{name}": np.atleast_1d(new_network()[name][0]).shape for name in NETWORK.names or ()
}
"""Names and shapes of the call network's arrays in a file of weights."""


def calls_of(weights: Weights) -> Array:
    """Return the call network in a file of weights: one `NETWORK` record.

    The arrays must have the names and shapes `CALL_SHAPES`, which is not checked.
    """
    network = new_network()
    for name in NETWORK.names or ():
        array = weights.arrays[f"calls.{name}"]
        network[name][0] = array if network[name][0].shape else array[0]
    return network


def checked_calls(rules: Rules, weights: Weights) -> Array:
    """Return the call network in a file of weights, read-only: one `NETWORK` record.

    Raises `WeightsError` unless the file was made for these rules and this version.
    """
    check_weights(weights, made_for(KIND, rules, VERSION), CALL_SHAPES)
    return sealed(calls_of(weights))


def call_arrays(network: Array) -> dict[str, Array]:
    """Return the arrays of one `NETWORK` record, float32, under the names that `calls_of` reads."""
    fields = NETWORK.names or ()
    return {f"calls.{name}": np.atleast_1d(network[name][0]).astype(np.float32) for name in fields}


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
