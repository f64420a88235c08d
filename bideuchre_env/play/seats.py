"""`Seats`: the people at a table, their names and the secret tokens of their links."""

from __future__ import annotations

import re
import secrets
import unicodedata
from collections.abc import Sequence
from hmac import compare_digest
from typing import Any

from bideuchre_env._checks import brief
from bideuchre_env.errors import OptionError, RecordError
from bideuchre_env.play.levels import NAMES, PERSON

MOST_LETTERS = 16
"""Maximum length of a person's name: it fits the plate of a seat on a phone."""
_TOKEN = re.compile(r"[\w-]{43}", re.ASCII)
_INVISIBLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\ufe00-\ufe0f\U000e0100-\U000e01ef]"
)
"""Printable characters without a shape, after NFKC."""


class Seats:
    """The seats of people, each with a token, random at first, and, once joined, a name."""

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
        """Return a name for a seat, in NFKC, with single spaces and no invisible characters.

        Raises `OptionError` unless it is short, printable, free of markup, with a letter or digit,
        and the name of no other player. "person" and "you" are names of players, too.
        """
        visible = _INVISIBLE.sub("", unicodedata.normalize("NFKC", name))
        plain = " ".join(filter(None, visible.split(" ")))
        is_sound = len(plain) <= MOST_LETTERS and plain.isprintable()
        if not (is_sound and any(map(str.isalnum, plain))) or set(plain) & set("<>&"):
            raise OptionError(
                f"name={brief(name)}: expected 1 to {MOST_LETTERS} printable characters, with a "
                "letter or digit, without <, > and &"
            )
        others = {other for who, other in self.names.items() if who != seat} | {PERSON, "you"}
        others |= {agent for who, agent in enumerate(NAMES) if who not in self.tokens}
        if plain.casefold() in map(str.casefold, others):
            raise OptionError(f"name={brief(name)}: expected a name that no other player has")
        return plain

    def checked_token(self, seat: int, token: str) -> str:
        """Return a token for a seat; `OptionError` for another form, and for another seat's."""
        if not _TOKEN.fullmatch(token):
            raise OptionError("token: expected 43 letters, digits, - and _")
        if self.seat_of(f"Bearer {token}") not in (None, seat):
            raise OptionError("token: expected a token that no other seat has")
        return token

    def to_dict(self) -> dict[str, Any]:
        """Return tokens and names as JSON values, for the file of the game."""
        return {
            str(seat): {"token": token, "name": self.names.get(seat)}
            for seat, token in self.tokens.items()
        }

    def load(self, data: Any) -> None:
        """Take the tokens and names of a file; a seat that it lacks keeps its new token.

        Raises `RecordError` unless the data has the form of `to_dict`.
        """
        for key, each in data.items() if isinstance(data, dict) else [("seats", data)]:
            sound = isinstance(each, dict) and each.keys() == {"token", "name"}
            if key not in map(str, self.tokens) or not sound:
                raise RecordError(f"seats={brief(key)}: expected the token and name of a person")
            seat, token, name = int(key), each["token"], each["name"]
            if not (isinstance(token, str) and isinstance(name, str | None)):
                raise RecordError(f"seats={brief(key)}: expected texts")
            try:
                self.tokens[seat] = self.checked_token(seat, token)
                if name is not None:
                    self.names[seat] = self.checked_name(seat, name)
            except OptionError as error:
                raise RecordError(f"seats={brief(key)}: {error}") from None
