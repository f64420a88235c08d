"""Who sits where: people on their seats, agents on the others."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence

from bideuchre_env._checks import MAX_NAME, is_plain_name, printable, shown, to_list
from bideuchre_env._files import PathLike
from bideuchre_env.agents.registry import is_known, parse
from bideuchre_env.errors import OptionError
from bideuchre_env.rules.cards import N_SEATS

PERSON = "person"
"""What a record calls whoever sits on a person's seat."""


def check_people(people: Sequence[int]) -> tuple[int, ...]:
    """The seats of people, in order; `OptionError` unless one to four seats, each once."""
    people = to_list("people", people, "one to four seats from 0 to 3")
    sound = all(type(seat) is int and 0 <= seat < N_SEATS for seat in people)
    if not sound or not people or len(set(people)) < len(people):
        raise OptionError(f"people {shown(people)}: one to four seats from 0 to 3, each once")
    return tuple(sorted(people))


def check_names(names: Sequence[str]) -> None:
    """Raise `OptionError` unless these are four names, by seat, that a record takes."""
    names = to_list("agents", names, "four names")
    if len(names) != N_SEATS or not all(map(is_plain_name, names)):
        raise OptionError(
            f"agents {shown(names)}: four names, by seat, of up to {MAX_NAME} printable characters"
        )


def seated(people: Sequence[int], partner: str, opponents: Sequence[str]) -> list[str]:
    """Who sits on each of the four seats, by name; a person's seat is `PERSON`'s.

    `partner` takes every seat opposite a person. `opponents`, one name or two, take the others: of
    two the first sits to the left of the first person.
    """
    people = check_people(people)
    if not 1 <= len(opponents) <= 2:
        raise OptionError(f"opponents {shown(list(opponents))}: one agent for both seats, or two")
    names = [PERSON] * N_SEATS
    left = (people[0] + 1) % N_SEATS
    for seat in set(range(N_SEATS)) - set(people):
        names[seat] = opponents[0 if seat == left else -1]
        if seat ^ 2 in people:
            names[seat] = partner
    return names


def check_trusted(names: Sequence[str], trusted: Collection[str], path: PathLike) -> None:
    """Raise `OptionError` for an agent whose code a file would run, unless it is trusted."""
    trusted = to_list("trusted", trusted, "names of agents")
    for name in names:
        if name != PERSON and name not in trusted and not is_known(parse(name)[0]):
            raise OptionError(
                f"{printable(os.fspath(path))} has agent {shown(name)}, whose code would run: if "
                "you trust it, name it again with --partner or --opponents"
            )
