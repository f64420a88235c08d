"""How strong the nets are: duplicate boards against the package's agents."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from bideuchre_env.agents.learned.ppo import PpoAgent
from bideuchre_env.evaluation import match
from bideuchre_env.rules.rules import Rules
from ppo.kept import weights_of
from ppo.nets import Weights

AT_ONCE = 256


class Strength(NamedTuple):
    """Points per hand over an opponent, with a 95 % interval, and the contracts of both."""

    points: float
    low: float
    high: float
    contracts: int
    made: float  # share of contracts
    lone: int
    lone_made: int
    their_contracts: int
    their_lone: int
    their_lone_made: int


class _Stopped(Exception):
    """Ends a match in the middle."""


def measure(
    rules: Rules,
    nets: Mapping[str, Weights],
    opponent: str,
    boards: int,
    seed: int,
    stopped: Callable[[], bool],
) -> Strength | None:
    """The strength of these nets over an opponent; None if Ctrl-C came in between."""

    def progress(*_: object) -> None:  # Ctrl-C is the trainer's: the match does not see it
        if stopped():
            raise _Stopped

    agent = PpoAgent(rules, weights=weights_of(rules, nets, {}))
    try:
        result = match.play(
            rules, agent, opponent, boards=boards, seed=seed, at_once=AT_ONCE, progress=progress
        )
    except _Stopped:
        return None
    if result.interrupted or stopped():
        return None
    points = result.boards.points_per_hand
    ours, theirs = result.boards.contracts
    return Strength(
        points.mean,
        points.low,
        points.high,
        ours["bid"],
        ours["made"] / max(ours["bid"], 1),
        ours["lone_bid"],
        ours["lone_made"],
        theirs["bid"],
        theirs["lone_bid"],
        theirs["lone_made"],
    )
