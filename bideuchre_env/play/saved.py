"""Saved games (one line of JSON), and the assignment of players to seats.

    {"format": "bideuchre play/1", "people": [0], "record": {...},
     "seats": {"0": {"token": "...", "name": "Anna"}}}

`people` are the seats of people; `seats` has the tokens of their links, and their names. Without
`seats` the tokens are new. The record has the agents of the other seats, all hands so far, and null
as seed, unless one person alone has chosen a seed of all deals.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from bideuchre_env._checks import MAX_NAME, brief, check_path, is_plain_name, printable, to_list
from bideuchre_env._files import PathLike, reason
from bideuchre_env._inputs import read_file
from bideuchre_env.agents.registry import is_known, parse
from bideuchre_env.errors import BidEuchreError, OptionError, RecordError
from bideuchre_env.play.levels import PERSON
from bideuchre_env.play.seats import Seats
from bideuchre_env.records.files import LONGEST, file_stem, free_path
from bideuchre_env.records.record import GameRecord
from bideuchre_env.rules.cards import N_SEATS

FORMAT = "bideuchre play/1"
FOLDER, SUFFIX = "runs", ".json"
_FIELDS = {"format", "people", "record"}
_MORE_FIELDS = {"seats"}


class SavedGame(NamedTuple):
    """The content of a file of a game, with its verified record."""

    people: tuple[int, ...]
    record: GameRecord
    seats: Seats

    def line(self) -> str:
        """Return the content of the file, one line of JSON."""
        data = {"format": FORMAT, "people": list(self.people), "record": self.record.to_dict()}
        data["seats"] = self.seats.to_dict()
        return json.dumps(data, allow_nan=False) + "\n"


def read_game(path: PathLike) -> SavedGame:
    """Read a saved game and verify its record by replay.

    Raises `RecordError` for a file that cannot be read or is not a saved game; the message has the
    name of the file.
    """
    check_path("path", path)
    with _with_file_name(path):
        data = _data(path)
        record = GameRecord.from_dict(data["record"])
        _check_dealt(record)
        people = check_people(data["people"])
        seats = Seats(people)
        seats.load(data.get("seats", {}))
        return SavedGame(people, record, seats)


@contextmanager
def _with_file_name(path: PathLike) -> Iterator[None]:
    """Context manager: reraise the package's errors as `RecordError`, with the name of the file."""
    try:
        yield
    except BidEuchreError as error:
        raise RecordError(f"{printable(os.fspath(path))} is no saved game: {error}") from None


def new_game_path(game: str, after: PathLike | None = None) -> Path:
    """Return a path for a new game that does not exist yet.

    By default it is in `FOLDER` and has the game's name. With `after`, the file of another game, it
    is in the same folder and has the same name with the next number: `g.json`, `g-2.json`.
    """
    if after is None:
        return free_path(FOLDER, _stem(game), SUFFIX)
    stem, dash, number = Path(after).stem.rpartition("-")
    if not (dash and number.isascii() and number.isdigit() and len(number) <= 4):
        stem, number = Path(after).stem, "1"
    return free_path(Path(after).parent, stem, Path(after).suffix, int(number) + 1)


def check_free(path: PathLike) -> None:
    """Raise `OptionError` if a path exists."""
    if os.path.lexists(path):
        raise OptionError(f"{printable(str(path))} exists: expected a new file for a new game")


def unfinished_game(game: str, alone: bool = False) -> Path | None:
    """Return the last changed file in `FOLDER` of an unfinished game of this name, or None.

    With `alone`, games of several people are skipped. Raises `RecordError` for a file that is not a
    saved game.
    """
    name = re.compile(rf"{re.escape(_stem(game))}(-[0-9]+)?{re.escape(SUFFIX)}")
    paths = [path for path in Path(FOLDER).glob(f"*{SUFFIX}") if name.fullmatch(path.name)]
    for path in sorted(paths, key=lambda path: path.stat().st_mtime, reverse=True):
        with _with_file_name(path):
            data = _data(path)
        record = data["record"]
        unfinished = not isinstance(record, dict) or record.get("outcome") == "unfinished"
        if unfinished and not (alone and len(data["people"]) > 1):
            return path
    return None


def saved_agents(path: PathLike) -> list[str]:
    """Return the names of the agents in a file of a game, without a check of its record.

    Raises `RecordError` for a file that cannot be read or is not a saved game.
    """
    with _with_file_name(path):
        record = _data(path)["record"]
    names = record.get("agents") if isinstance(record, dict) else None
    seats = names if isinstance(names, list) else []
    return [name for name in seats if isinstance(name, str) and name != PERSON]


def _stem(game: str) -> str:
    return file_stem("play", game)


def _data(path: PathLike) -> dict[str, Any]:
    """Return the JSON object of a file, whose fields are those of a saved game.

    Raises `OptionError` for a file that cannot be read, and `RecordError` for any other content.
    """
    try:
        data = json.loads(read_file(path, LONGEST).decode("utf-8"))
    except OSError as error:
        raise OptionError(f"it cannot be read: {reason(error)}") from None
    except (ValueError, RecursionError):
        raise RecordError("expected one line of JSON; the file is unchanged") from None
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        value = brief(data.get("format")) if isinstance(data, dict) else type(data).__name__
        raise RecordError(f"format={value}: expected {FORMAT!r}")
    if set(data) - _MORE_FIELDS != _FIELDS:
        raise RecordError(f"fields={brief(sorted(data))}: expected {brief(sorted(_FIELDS))}")
    if not isinstance(data["people"], list):
        raise RecordError(f"people={brief(data['people'])}: expected a list of seats")
    return data


def _check_dealt(record: GameRecord) -> None:
    """Raise `RecordError` unless a record has agents and a hand, and starts at 0 to 0."""
    if record.agents is None or record.start != (0, 0):
        raise RecordError("expected a record with agents that begins at 0 to 0")
    if not record.hands:
        raise RecordError("expected a record with at least one hand")


def check_people(people: Sequence[int]) -> tuple[int, ...]:
    """Return the seats of people, sorted; `OptionError` unless one to four different seats."""
    people = to_list("people", people, "one to four seats from 0 to 3")
    sound = all(type(seat) is int and 0 <= seat < N_SEATS for seat in people)
    if not sound or not people or len(set(people)) < len(people):
        raise OptionError(
            f"people={brief(people)}: expected one to four seats from 0 to 3, each once"
        )
    return tuple(sorted(people))


def check_alone(seed: int | None, people: Sequence[int]) -> None:
    """Raise `OptionError` for a seed in a game of several people: it determines every deal."""
    if seed is not None and len(people) > 1:
        raise OptionError(
            f"seed={brief(seed)}: expected only with one person, because it determines every deal"
        )


def check_names(names: Sequence[str]) -> None:
    """Raise `OptionError` unless these are four names, by seat, valid in a record."""
    names = to_list("agents", names, "four names")
    if len(names) != N_SEATS or not all(map(is_plain_name, names)):
        raise OptionError(
            f"agents={brief(names)}: expected four names, by seat, of up to {MAX_NAME} printable "
            "characters"
        )


def assign_players(people: Sequence[int], partner: str, opponents: Sequence[str]) -> list[str]:
    """Return the names of the players of the four seats; people are `PERSON`.

    `partner` takes the seats opposite people. One or two `opponents` take the other seats; the
    first of two sits to the left of the first person. Raises `OptionError` for invalid `people`, or
    another number of `opponents`.
    """
    people = check_people(people)
    if not 1 <= len(opponents) <= 2:
        raise OptionError(f"opponents={brief(list(opponents))}: expected one or two agents")
    names = [PERSON] * N_SEATS
    left = (people[0] + 1) % N_SEATS
    for seat in set(range(N_SEATS)) - set(people):
        names[seat] = opponents[0 if seat == left else -1]
        if seat ^ 2 in people:
            names[seat] = partner
    return names


def check_trusted(names: Sequence[str], trusted: Collection[str], path: PathLike) -> None:
    """Raise `OptionError` if `names` has an agent from a file or module that is not `trusted`.

    The package's own and installed agents need no trust. `path`, of the game, is for the message.
    """
    trusted = to_list("trusted", trusted, "names of agents")
    for name in names:
        if name != PERSON and name not in trusted and not is_known(parse(name)[0]):
            raise OptionError(
                f"{printable(os.fspath(path))} has agent {brief(name)}, whose code would run: to "
                "allow it, name it with --partner or --opponents"
            )
