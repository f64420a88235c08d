"""The numbers of the expert's auction, by game: the file `call_network.npz`.

`experiments/fitting/fit_call_network.py` makes it; `call_network.py` says what the numbers are.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from bideuchre_env.agents.data import read_array, read_provenance
from bideuchre_env.agents.expert.call_network import NETWORK
from bideuchre_env.rules.rules import Rules
from bideuchre_env.rules.variants import RULES
from bideuchre_env.runtime.jit import Array, new_rows

FILE = "call_network.npz"


def provenance() -> dict[str, Any]:
    """How the numbers of each game were made: script, seed, hands and rounds, by its name."""
    return read_provenance(FILE)


def fitted_games() -> tuple[str, ...]:
    """The names of the games that were fitted."""
    return tuple(provenance())


def fitted_numbers(name: str) -> Array:
    """The numbers of a game that was fitted: one `NETWORK` record."""
    numbers = new_rows(NETWORK, 1)
    for part in NETWORK.names or ():
        form = numbers[part][0]
        numbers[part][0] = read_array(FILE, f"{name}_{part}", np.shape(form), form.dtype)
    return numbers


@lru_cache(maxsize=64)
def load_call_weights(rules: Rules) -> Array:
    """The numbers for these rules, read-only: one `NETWORK` record.

    A game that is none of those fitted takes the numbers of the one most like it. Where its deck
    has none, or its lone bids are others, a call is worth what its contract brings.
    """
    fitted = [name for name in fitted_games() if alike(rules, RULES[name])]
    if fitted:
        numbers = fitted_numbers(min(fitted, key=lambda name: difference(rules, RULES[name])))
    else:
        numbers = plain_numbers()
    numbers.flags.writeable = False
    return numbers


def alike(rules: Rules, fitted: Rules) -> bool:
    """Whether what was learned of a game can be used in another: the deck and the lone bids."""
    lone = {(bid.exchange, bid.value) for bid in rules.lone}
    known = {(bid.exchange, bid.value) for bid in fitted.lone}
    same_deck = (rules.kinds, rules.copies) == (fitted.kinds, fitted.copies)
    return same_deck and lone <= known


def difference(one: Rules, other: Rules) -> int:
    """How unlike two games are to bid in."""
    low = [game.partnered[0] if game.partnered else game.tricks for game in (one, other)]
    return (
        4 * (one.strain_named != other.strain_named)
        + 3 * (one.all_pass != other.all_pass)
        + 2 * (one.moon_ladder != other.moon_ladder)
        + 2 * (bool(one.lone) != bool(other.lone))
        + (one.opening_lead != other.opening_lead)
        + (one.dealer_may_equal != other.dealer_may_equal)
        + (one.win_rule != other.win_rule)
        + abs(low[0] - low[1])
    )


def plain_numbers() -> Array:
    """Numbers that add nothing, of calls or to tricks: one `NETWORK` record."""
    return new_rows(NETWORK, 1)
