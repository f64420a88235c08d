"""Levels of play, and names of the players at the table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Level(NamedTuple):
    """A level of play: an agent that plays with any rules, and a sentence on its play."""

    agent: str
    words: str


LEVELS = {
    "easy": Level("beginner", "misjudges hands, forgets cards and plays some carelessly"),
    "normal": Level("rule", "bids and plays by the maxims of good players"),
    "hard": Level("expert", "knows the worth of every hand and searches the last tricks"),
    "master": Level("inference", "thinks longer and infers hidden cards from the calls and plays"),
}
"""The levels by name, weakest first. The agent of a level plays all seats without people."""
PERSON = "person"
"""Name of a person in records, and at the table before joining."""
NAMES = ("Ada", "Ben", "Cleo", "Dan")
"""Names of the agents at the table, by seat."""


def level_of(agents: Sequence[str]) -> str | None:
    """Return the name of the level whose agent has all these seats; None without such a level."""
    names = (name for name, level in LEVELS.items() if {level.agent} == set(agents))
    return next(names, None)
