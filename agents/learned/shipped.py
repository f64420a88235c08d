"""Agents that play by a file of weights: which file is for which game, and weights as networks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache, partial
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bideuchre_env._checks import shown
from bideuchre_env.agents.base import RowAgent
from bideuchre_env.agents.prepared import PREPARED, prepared_weights
from bideuchre_env.errors import OptionError
from bideuchre_env.learning.features import VERSION, features_of
from bideuchre_env.learning.network import Network
from bideuchre_env.learning.weights import Weights, check_weights, made_for, read_weights
from bideuchre_env.rules.rules import Rules
from bideuchre_env.rules.variants import RULES

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

DATA = "bideuchre_env.agents.data"


class LearnedAgent(RowAgent):
    """An agent that plays by `Weights`; `made` is their metadata."""

    def _remember(self, weights: Weights, **options: Any) -> None:
        """Note the weights and options that a copy of this agent is made of."""
        self.made = dict(weights.metadata)
        self._options = {"weights": weights, **options}

    def __reduce__(self) -> tuple[Any, ...]:
        """Made again where it is sent or copied: kernels are compiled for read-only weights."""
        return partial(type(self), self.rules, **self._options), (), {"name": self.name}


def fitting_weights(
    kind: str,
    rules: Rules,
    weights: str | Path | Weights | None,
    parts: Iterable[str],
    shapes: Mapping[str, tuple[int | str, ...]],
) -> Weights:
    """The weights of a file, or the package's own, of networks for these parts of the game.

    `shapes` are those of other arrays. Raises `WeightsError` unless the weights fit these rules.
    """
    for part in parts:
        features = features_of(rules, part)
        shapes = {**shapes, **shapes_of(part, features.size, features.outputs)}
    if weights is None:
        found = shipped_weights(kind, rules)
    elif isinstance(weights, Weights):
        found = weights
    elif isinstance(weights, str | Path):
        found = read_weights(weights)
    else:
        raise OptionError(f"weights={shown(weights)}: a file, or None for the package's own")
    check_weights(found, made_for(kind, rules, VERSION), shapes)
    return found


def shipped_weights(kind: str, rules: Rules) -> Weights:
    """The weights of a kind of agent for these rules that need not be named.

    A game that is no variant takes those that were prepared for it on this machine, or else the
    package's. Raises `OptionError` where there are none.
    """
    found = prepared_weights(kind, rules) or package_weights(kind, rules)
    if found is not None:
        return found
    known = [name for name in RULES if file_of(kind, name).is_file()]
    makes = "`bideuchre prepare` makes some, " if kind in PREPARED else ""
    raise OptionError(
        f"agent {kind!r} has no weights for these rules, whose deck and bids are those of none of "
        f"{', '.join(known)}: {makes}weights=FILE takes your own"
    )


@lru_cache(maxsize=64)
def package_weights(kind: str, rules: Rules) -> Weights | None:
    """The package's own, of the variant that shares deck and bids with these rules, or None."""
    for name, variant in RULES.items():
        if made_for(kind, variant, VERSION) == made_for(kind, rules, VERSION):
            found = file_of(kind, name)
            if found.is_file():
                return read_weights(found)
    return None


def provenance(kind: str) -> dict[str, dict[str, str]]:
    """What the package's own weights of a kind of agent say of themselves, by variant."""
    files = {name: file_of(kind, name) for name in RULES}
    return {
        name: dict(read_weights(file).metadata) for name, file in files.items() if file.is_file()
    }


def file_of(kind: str, variant: str) -> Traversable:
    """Where the weights of a kind of agent for a variant lie, if they do."""
    return resources.files(DATA).joinpath(f"{kind}-{variant}.npz")


def network_of(weights: Weights, part: str) -> Network:
    """The network whose arrays are called `PART.first` and so on."""
    return Network(*(weights.arrays[f"{part}.{name}"] for name in Network._fields))


def arrays_of(network: Network, part: str) -> dict[str, object]:
    """The arrays of a network by those names."""
    return {f"{part}.{name}": array for name, array in network._asdict().items()}


def shapes_of(part: str, inputs: int, outputs: int) -> Mapping[str, tuple[int | str, ...]]:
    """The shapes of those arrays; a word stands for any length."""
    one, two = f"{part} one", f"{part} two"
    shapes: list[tuple[int | str, ...]]
    shapes = [(inputs, one), (one,), (one, two), (two,), (two, outputs), (outputs,)]
    return {f"{part}.{name}": s for name, s in zip(Network._fields, shapes, strict=True)}
