"""What was learned of the scores of a game: the chance to win from each, and a network's weights.

Both are in the file `score_network.npz`, made by `experiments/fitting/fit_score_network.py`.
"""

from __future__ import annotations

from typing import Any

from bideuchre_env.agents.data import read_array, read_provenance
from bideuchre_env.rules.rules import Rules
from bideuchre_env.rules.variants import RULES
from bideuchre_env.runtime.jit import Array

FILE = "score_network.npz"


def provenance() -> dict[str, Any]:
    """How the numbers of each game were made: script, seed, games and trials, by its name."""
    return read_provenance(FILE)


def fitted_name(rules: Rules) -> str | None:
    """The name of the fitted game that these rules are, but for when it is cut off; or None."""
    for name in provenance():
        if RULES[name].to_dict() | {"max_hands": 0} == rules.to_dict() | {"max_hands": 0}:
            return name
    return None


def fitted_wins(rules: Rules) -> Array | None:
    """The chance to win from every score as games of the expert came out, or None.

    Of the form that `win_table.win_table` has; float64, new.
    """
    name = fitted_name(rules)
    if name is None:
        return None
    shape = (-1, -1, 1) if rules.win_rule == "rounds" else (1, -1, -1)
    return read_array(FILE, f"{name}_wins", shape, "float32").astype("float64")
