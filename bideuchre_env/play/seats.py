"""`Seats`: the people at a table, their names and the secret tokens of their links."""

from __future__ import annotations

import re
import secrets
from collections.abc import Sequence
from hmac import compare_digest
from typing import Any

from bideuchre_env._checks import brief
from bideuchre_env.errors import OptionError, RecordError

MOST_LETTERS = 16
"""Maximum length of a person's name: it fits the plate of a seat on a phone."""
_TOKEN = re.compile(r"[\w-]{43}", re.ASCII)


class Seats:
    """The seats of people, each with a random token of 256 bits and, once joined, a name."""

    def __init__(self, people: Sequence[int]) -> None:
        self.tokens = {seat: secrets.token_urlsafe(32) for seat in people}
        self.names: dict[int, str] = {}
        """Names of the people who have joined, by seat."""

    def seat_of(self, header: str | None) -> int | None:
        """Return the seat of an Authorization header, "Bearer TOKEN", or None.

        All tokens are compared, in constant time.
        """
        scheme, _, value = (header or "").partition(" ")
        match = None
        for seat, token in self.tokens.items():
            if compare_digest(token.encode(), value.encode("utf-8", "replace")):
                match = seat
        return match if scheme.lower() == "bearer" else None

    def checked_name(self, seat: int, name: str) -> str:
        """Return a name for a seat, with single spaces.

        Raises `OptionError` unless it is short, printable, free of markup, and no other person's.
        """
        plain = " ".join(filter(None, name.split(" ")))
        if not (0 < len(plain) <= MOST_LETTERS and plain.isprintable()) or set(plain) & set("<>&"):
            raise OptionError(
                f"name={brief(name)}: expected 1 to {MOST_LETTERS} printable characters, without "
                "<, > and &"
            )
        others = {other.casefold() for who, other in self.names.items() if who != seat}
        if plain.casefold() in others:
            raise OptionError(f"name={brief(name)}: expected a name that no other person has")
        return plain

    def to_dict(self) -> dict[str, Any]:
        """Return tokens and names as JSON values, for the file of the game."""
        return {
            str(seat): {"token": token, "name": self.names.get(seat)}
            for seat, token in self.tokens.items()
        }

    def load(self, data: Any) -> None:
        """Take the tokens and names of a file; a seat that it lacks keeps its new token.

        Raises `RecordError` for other values than those of `to_dict`.
        """
        for key, each in data.items() if isinstance(data, dict) else [("seats", data)]:
            sound = isinstance(each, dict) and each.keys() == {"token", "name"}
            if key not in map(str, self.tokens) or not sound:
                raise RecordError(f"seats={brief(key)}: expected the token and name of a person")
            token, name = each["token"], each["name"]
            if not (isinstance(token, str) and _TOKEN.fullmatch(token)):
                raise RecordError(f"seats={brief(key)}: expected a token of 43 characters")
            self.tokens[int(key)] = token
            if name is not None:
                if not isinstance(name, str):
                    raise RecordError(f"name={brief(name)}: expected text")
                self.names[int(key)] = self.checked_name(int(key), name)
