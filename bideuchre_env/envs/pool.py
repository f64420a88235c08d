"""Specifications of a learner's partner and opponents: a player, a pair, or a pool."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bideuchre_env._checks import brief, is_number, to_list
from bideuchre_env.errors import OptionError

if TYPE_CHECKING:
    from bideuchre_env.agents.protocols import AgentSource

OPPONENTS, PARTNER = "opponents", "partner"


@dataclass(frozen=True, init=False, repr=False)
class OpponentPool:
    """Players to draw from at random in every episode: `OpponentPool("rule", ("net", mine))`.

    Args:
        players: each a player, see `SoloOptions.opponents`, or for opponents a pair (left, right).
        weights: positive numbers, one for each player, with a finite sum; by default all are equal.

    Raises:
        OptionError: for an empty pool, a pool or list inside a pool, and weights that do not fit.
    """

    players: tuple[AgentSource | tuple[AgentSource, AgentSource], ...]
    weights: tuple[float, ...]

    def __init__(
        self,
        *players: AgentSource | tuple[AgentSource, AgentSource],
        weights: Sequence[float] | None = None,
    ) -> None:
        if not players or any(isinstance(each, (OpponentPool, list)) for each in players):
            raise OptionError(
                "OpponentPool: expected one or more players, or pairs (left, right), not pools"
            )
        values = [1] * len(players)
        if weights is not None:
            values = to_list("weights", weights, "a positive number for each player")
        positive = all(is_number(each) and each > 0 for each in values)
        if (
            len(values) != len(players)
            or not positive
            or not math.isfinite(sum(map(float, values)))
        ):
            raise OptionError(
                f"OpponentPool: weights={brief(weights)}: expected a positive number for each of "
                f"its {len(players)} players, with a finite sum"
            )
        object.__setattr__(self, "players", players)
        object.__setattr__(self, "weights", tuple(map(float, values)))

    def __repr__(self) -> str:
        weights = "" if len({*self.weights}) == 1 else f", weights={self.weights}"
        return f"OpponentPool({', '.join(map(repr, self.players))}{weights})"


def candidates_of(option: str, spec: Any) -> list[tuple[Any, Any, float]]:
    """Return the candidates of an option: left player, right player, weight; a partner is both.

    `option` is "opponents" or "partner". Raises `OptionError` for a pair of partners, and for a
    tuple that does not have two players.
    """
    if isinstance(spec, OpponentPool):
        entries = zip(spec.players, spec.weights, strict=True)
        return [(*_pair(option, each), weight) for each, weight in entries]
    return [(*_pair(option, spec), 1.0)]


def _pair(option: str, spec: Any) -> tuple[Any, Any]:
    if type(spec) is not tuple:
        return spec, spec
    if option == PARTNER:
        raise OptionError(
            f"{option}={brief(spec)}: expected one player, or an OpponentPool of players"
        )
    if len(spec) != 2:
        raise OptionError(
            f"{option}={brief(spec)}: expected a player, a pair (left, right), or an OpponentPool"
        )
    return spec
