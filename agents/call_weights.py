"""The fitted numbers of the expert's auction, by game: the file `call_numbers.npz`.

`experiments/fit_calls.py` makes it; `calls.py` says what the numbers weigh.
"""

from __future__ import annotations

from functools import lru_cache
from importlib import resources

import numpy as np

from bideuchre_env._jit import Array
from bideuchre_env.agents.calls import BID, LONE, N_CONTEXTS, N_FACTS, N_KINDS, PASS, SIGNS
from bideuchre_env.rules import Rules
from bideuchre_env.variants import RULES

FILE = "call_numbers.npz"
SHAPE = (N_KINDS, N_CONTEXTS, N_FACTS)


@lru_cache(maxsize=1)
def fitted_numbers() -> dict[str, Array]:
    """The numbers of every game that was fitted, float64 `SHAPE`, by its name."""
    path = resources.files("bideuchre_env.agents").joinpath(FILE)
    with path.open("rb") as file, np.load(file) as arrays:
        return {name: arrays[name].astype(np.float64) for name in arrays.files}


def load_call_weights(rules: Rules, weights: Array) -> Array:
    """The numbers for these rules, float64 (kinds of call, contexts, facts).

    A game that is none of those fitted takes the numbers of the one most like it, or, where its
    deck has none, what the contract itself brings.
    """
    numbers = fitted_numbers()
    fitted = [name for name in numbers if deck(RULES[name]) == deck(rules)]
    if not fitted:
        return plain_numbers(weights)
    return numbers[min(fitted, key=lambda name: difference(rules, RULES[name]))]


def deck(rules: Rules) -> tuple[int, int]:
    """What table of hands a game takes."""
    return rules.kinds, rules.copies


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


def plain_numbers(weights: Array) -> Array:
    """Points as the contract itself brings them; of a pass by the rule player's numbers."""
    numbers = np.zeros(SHAPE)
    numbers[BID, :, 1] = numbers[LONE, :, 1] = numbers[PASS, :, 8] = 1.0  # the contract's points
    for made in range(4):
        numbers[PASS, 3 * made] = 0.0
        numbers[PASS, 3 * made, 0], numbers[PASS, 3 * made, 2] = weights[0]["passing"][made]
    for kind in range(2):
        set_signs(numbers, kind, 0.0, weights[0]["signs"][kind])
    return numbers


def set_signs(numbers: Array, kind: int, base: float, signs: Array) -> None:
    """Enter what others' calls add to the tricks, for trumps (`kind` 0) or no trump (1)."""
    line = numbers[SIGNS, kind]
    line[0], line[1 : 1 + len(signs)] = base, signs
