"""`Bid`, a rung of the bid ladder, and the validation of bids and numbers in rules."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bideuchre_env._checks import brief, is_whole
from bideuchre_env.errors import RulesError
from bideuchre_env.rules.cards import CARD_NAMES, STRAINS, plain_letters

MAX_BIDS = 32
MAX_ROUND_BIDS = 21
"""Maximum number of bids with rounds of bidding: a word of 64 bits has 3 bits for each."""
MOST_CALLS = 4 + 3 * MAX_ROUND_BIDS
"""Maximum number of calls in a hand, see `GameOptions.most_calls`."""
MAX_EXCHANGE = 3
N_EXCHANGES = MAX_EXCHANGE + 1  # at most
_MAX_NAME = 32
_MAX_VALUE = 10**6
_NAME = re.compile(r"[a-z](?:[a-z0-9 -]*[a-z0-9])?")
_OTHER_WORDS = ("pass", "bid", "trump", "true", "false", "null", "none")
_RESERVED = {*_OTHER_WORDS, *(f"trump{strain.lower()}" for strain in STRAINS)}
_RESERVED |= {name.lower() for name in (*CARD_NAMES, *STRAINS)}


@dataclass(frozen=True)
class Bid:
    """A rung of the bid ladder: in tricks, with partner, or for all tricks (a lone bid).

    Args:
        name: the word in notation: "4", "moon".
        value: the points lost when it fails and, for a lone bid, won when it is made.
        exchange: the number of cards that declarer and partner exchange, 0 to 3; lone bids only.
        tricks: the tricks that a bid in tricks must take; None for a lone bid.
        partner: whether a lone bid is played with partner, who then takes part in the play.
        lost: the points lost when a lone bid fails; None for its value.
    """

    name: str
    value: int
    exchange: int = 0
    tricks: int | None = None
    partner: bool = False
    lost: int | None = None

    @property
    def alone(self) -> bool:
        """Whether the declarer plays without partner and must win every trick."""
        return self.tricks is None and not self.partner

    @property
    def loss(self) -> int:
        """The points lost when it fails."""
        return self.value if self.lost is None else self.lost

    def to_dict(self) -> dict[str, Any]:
        """Return this lone bid as written in a record's `options`; defaults are left out."""
        fields = {"name": self.name, "exchange": self.exchange, "value": self.value}
        if self.partner:
            fields["partner"] = True
        if self.lost is not None:
            fields["lost"] = self.lost
        return fields


def lone_bids(value: Any) -> tuple[Bid, ...]:
    """Convert a list or tuple of `Bid`s or mappings to a tuple of `Bid`s.

    Raises `RulesError` for anything else. The values in the bids are not checked, see `check_lone`.
    """
    if not isinstance(value, (list, tuple)):
        raise RulesError(
            f"lone={brief(value)}: expected a list of lone bids, lowest first, as "
            '[{"name": "moon", "value": 24}], or [] for none'
        )
    return tuple(map(_as_bid, value))


def _as_bid(value: Any) -> Bid:
    if isinstance(value, Bid):
        return value
    required = {"name", "value"}
    if isinstance(value, Mapping):
        fields = dict(value)
        if fields.get("tricks", ...) is None:  # as `dataclasses.asdict` writes a lone bid
            del fields["tricks"]
        if required <= set(fields) <= required | {"exchange", "partner", "lost"}:
            return Bid(**fields)
    raise RulesError(
        f"lone bid {brief(value)}: expected a Bid, or a mapping with name and value, and perhaps "
        "exchange, partner and lost"
    )


def check_lone(bid: Bid) -> None:
    """Raise `RulesError` unless every field of a lone bid is valid."""
    if bid.tricks is not None:
        raise RulesError(
            f"lone bid {brief(bid.name)} has tricks={brief(bid.tricks)}: expected None"
        )
    name = bid.name
    if not isinstance(name, str) or len(name) > _MAX_NAME or not _NAME.fullmatch(name):
        raise RulesError(
            f"lone bid name {brief(name)}: expected lower-case words as 'moon' or 'call-2'"
        )
    if plain_letters(name) in _RESERVED or name.split()[0] in ("bid", "trump"):
        raise RulesError(
            f"lone bid name {name!r}: expected a name unlike every other action, card and strain, "
            f"and not {', '.join(_OTHER_WORDS)}"
        )
    check_integer(f"value of {name!r}", bid.value, 1, _MAX_VALUE)
    check_integer(f"exchange of {name!r}", bid.exchange, 0, MAX_EXCHANGE)
    if bid.lost is not None:
        check_integer(f"lost of {name!r}", bid.lost, 1, _MAX_VALUE)
    if not isinstance(bid.partner, bool):
        raise RulesError(f"partner of {name!r}={brief(bid.partner)}: expected true or false")
    if bid.partner and bid.exchange:
        raise RulesError(
            f"exchange of {name!r}={bid.exchange}: expected 0, because partner takes part in the "
            "play"
        )


def trick_range(value: Any) -> tuple[int, int]:
    """Return a list or tuple of two whole numbers as a tuple; else raise `RulesError`.

    They are the lowest and the highest bid with partner; their range is not checked here.
    """
    if isinstance(value, (list, tuple)) and len(value) == 2 and all(map(is_whole, value)):
        return int(value[0]), int(value[1])
    raise RulesError(
        f"partnered={brief(value)}: expected the lowest and highest bid, as (3, 5), or None"
    )


def check_integer(name: str, value: Any, low: int, high: int) -> None:
    """Raise `RulesError` unless the value of option `name` is a whole number, low <= n <= high."""
    if not is_whole(value) or not low <= value <= high:
        raise RulesError(f"{name}={brief(value)}: expected a whole number from {low} to {high}")
