"""Schedules: which agents play which, on every variant of a tournament."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import combinations, product
from types import MappingProxyType
from typing import Any, NamedTuple

from bideuchre_env._checks import brief, to_list
from bideuchre_env.errors import OptionError

EVALUATE, CROSSPLAY = "evaluate", "crossplay"


class Schedule(NamedTuple):
    """The pairs to play; without a field, `kind` is None and the last three are empty."""

    agents: tuple[str, ...]
    """The names of all agents and partners; the first that plays has rating 0."""
    pairs: tuple[tuple[str, str], ...]
    kind: str | None = None
    """`EVALUATE` for agents against a field, `CROSSPLAY` for partners."""
    field: tuple[str, ...] = ()
    entrants: tuple[str, ...] = ()
    partners: Mapping[str, tuple[str, str]] = MappingProxyType({})
    """The two agents behind a name in `agents` that stands for partners."""


def all_pairs(agents: Any) -> Schedule:
    """Return the schedule of every agent against every other, the later agent first."""
    names = _names("agents", agents, 2)
    return Schedule(names, tuple((b, a) for a, b in combinations(names, 2)))


def named_pairs(pairs: Any) -> Schedule:
    """Return the schedule of these pairs; they must be different pairs of agents."""
    listed = []
    for pair in to_list("pairs", pairs, "pairs of agents"):
        names = to_list("pairs", pair, "two agents each")
        if len(names) != 2 or names[0] == names[1] or not all(isinstance(n, str) for n in names):
            raise OptionError(f"pairs: {brief(pair)}: expected the names of two different agents")
        listed.append((names[0], names[1]))
    if len(set(map(frozenset, listed))) < len(listed) or not listed:
        raise OptionError("pairs: expected one or more, each two agents once")
    return Schedule(_once(name for a, b in listed for name in (b, a)), tuple(listed))


def against_field(agents: Any, field: Any, partners: bool) -> Schedule:
    """Return the schedule of agents against a field, or of all their pairs as partners.

    An agent does not play itself, and two agents of the field that are evaluated meet once: with
    the sides swapped, the same deals give the opposite points.
    """
    entrants = _names("agents", agents, 2 if partners else 1)
    rivals = _names("field", field, 1)
    both = {partners_name(a, b): (a, b) for a, b in combinations(entrants, 2) if partners}
    met = product((*entrants, *both), rivals)
    pairs = {frozenset((a, b)): (a, b) for a, b in met if a != b}
    if not pairs:
        raise OptionError(f"field={brief(rivals)}: expected an opponent other than the agent")
    names = _once((*rivals, *entrants, *both))
    kind = CROSSPLAY if partners else EVALUATE
    return Schedule(names, tuple(pairs.values()), kind, rivals, entrants, both)


def partners_name(a: str, b: str) -> str:
    """Return the name of two agents as partners; an agent with itself has its own name."""
    return a if a == b else f"{a} + {b}"


def _names(name: str, values: Any, least: int) -> tuple[str, ...]:
    """Return different names of agents as a tuple; `OptionError` unless there are `least`."""
    names = tuple(to_list(name, values, "names of agents"))
    if not all(isinstance(each, str) for each in names):
        raise OptionError(f"{name}={brief(names)}: expected names, as ./file.py:Agent")
    if len(set(names)) < len(names) or len(names) < least:
        raise OptionError(f"{name}={brief(names)}: expected {least} or more different names")
    return names


def _once(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))
