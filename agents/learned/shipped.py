"""Weights of learned agents: selection of those for a game."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from bideuchre_env._checks import brief
from bideuchre_env.agents.base import KernelAgent
from bideuchre_env.agents.data import package_part, parts_of
from bideuchre_env.agents.prepared import PREPARED, prepared_weights
from bideuchre_env.errors import OptionError
from bideuchre_env.learning.features import VERSION, features_of
from bideuchre_env.learning.network import shapes_of
from bideuchre_env.learning.weights import Shape, Weights, check_weights, made_for, read_weights
from bideuchre_env.rules.rules import Rules
from bideuchre_env.rules.variants import RULES


class LearnedAgent(KernelAgent):
    """Base class of agents that play by `Weights`; `made` is the metadata of the weights."""

    def _remember(self, weights: Weights, **options: Any) -> None:
        """Store the weights and the constructor's other options, for copies of this agent."""
        self.made = dict(weights.metadata)
        self._options = {"weights": weights, **options}

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle by calling the constructor again: kernels require read-only weights."""
        return partial(type(self), self.rules, **self._options), (), {"name": self.name}


def fitting_weights(
    kind: str,
    rules: Rules,
    weights: str | Path | Weights | None,
    parts: Iterable[str],
    shapes: Mapping[str, Shape],
) -> Weights:
    """Return the weights of a kind of agent: `weights` itself, from a file, or `shipped_weights`.

    They must have a network for each of `parts` ("auction", "cards"), and the arrays in `shapes`,
    by name, with these shapes (see `check_weights`). Raises `WeightsError` if they do not fit the
    rules, and `OptionError` if there are none or `weights` has another type.
    """
    for part in parts:
        features = features_of(rules, part)
        wide = shapes_of(features.size, features.outputs, (f"{part} one", f"{part} two"))
        shapes = {**shapes, **{f"{part}.{name}": shape for name, shape in wide.items()}}
    if weights is None:
        loaded = shipped_weights(kind, rules)
    elif isinstance(weights, Weights):
        loaded = weights
    elif isinstance(weights, str | Path):
        loaded = read_weights(weights, kind)
    else:
        raise OptionError(
            f"weights={brief(weights)}: expected a file, or None for the package's own"
        )
    check_weights(loaded, made_for(kind, rules, VERSION), shapes, double="calls.shifts")
    return loaded


def shipped_weights(kind: str, rules: Rules) -> Weights:
    """Return the default weights of a kind of agent ("net" or "ppo") for these rules.

    Weights prepared for custom rules on this machine come first, then the package's own. Raises
    `OptionError` if there are none.
    """
    loaded = prepared_weights(kind, rules) or package_weights(kind, rules)
    if loaded is not None:
        return loaded
    variants = [name for name in RULES if kind in parts_of(name)]
    makes = "`bideuchre prepare` makes some, " if kind in PREPARED else ""
    raise OptionError(
        f"agent {kind!r} has no weights for these rules: expected the deck, kitty, bids and "
        f"strains of one of {', '.join(variants)}; {makes}weights=FILE uses your own"
    )


@lru_cache(maxsize=64)
def package_weights(kind: str, rules: Rules) -> Weights | None:
    """Return the package's weights of a variant that `made_for` treats like these rules, or None.

    It has the same deck, names of bids, exchanges and naming of the strain. Raises `WeightsError`
    for a damaged file.
    """
    for name, variant in RULES.items():
        fits = made_for(kind, variant, VERSION) == made_for(kind, rules, VERSION)
        if fits and kind in parts_of(name):
            return package_part(name, kind)
    return None


def provenance(kind: str) -> dict[str, dict[str, Any]]:
    """Return the metadata of the package's own weights of a kind of agent, by variant."""
    return {n: dict(package_part(n, kind).metadata) for n in RULES if kind in parts_of(n)}
