"""What has been learned on this machine for rules of one's own: `bideuchre prepare` makes it.

It lies in the user's cache, a file for each kind of agent and each game, so that it outlives an
upgrade of the package. The package's own variants never look there.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from bideuchre_env.learning.weights import Weights, read_weights
from bideuchre_env.rules.rules import Rules
from bideuchre_env.rules.variants import RULES
from bideuchre_env.runtime.cache import user_cache

PREPARED = ("expert", "net")
"""The kinds of agents that can be."""


def rules_hash(rules: Rules) -> str:
    """What tells rules apart, whatever they are called: sixteen hexadecimal digits."""
    return hashlib.sha256(json.dumps(rules.to_dict(), sort_keys=True).encode()).hexdigest()[:16]


def prepared_folder() -> Path:
    """Where everything lies that was prepared on this machine."""
    return user_cache() / "prepared"


def prepared_file(kind: str, rules: Rules) -> Path:
    """Where the weights of a kind of agent for these rules lie, if they were prepared."""
    return prepared_folder() / f"{kind}-{rules_hash(rules)}.safetensors"


def prepared_weights(kind: str, rules: Rules) -> Weights | None:
    """The weights that were prepared for these rules, or None; None for a variant, in any case.

    Raises `WeightsError` where the file is damaged.
    """
    if rules in RULES.values():
        return None
    try:
        place = prepared_file(kind, rules)
        there = place.is_file()
    except (OSError, RuntimeError):  # a user without a home
        return None
    return read_weights(place) if there else None


def prepared_files() -> dict[str, Path]:
    """Every file that was prepared, by its name: two machines with others play differently."""
    try:
        return {file.name: file for file in prepared_folder().glob("*.safetensors")}
    except (OSError, RuntimeError):
        return {}
