"""`Bid` and `Rules`: every choice a Bid Euchre game may make, as one frozen, validated value.

A game is a value, not a class: the kernels read tables that are compiled from a `Rules`.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, cast

from bideuchre_env.errors import RulesError, is_whole, shown

MAX_BIDS = 32
MAX_EXCHANGE = 3
MAX_NAME = 32
MAX_VALUE = 10**6
MAX_COUNT = 10**15

CHOICES: dict[str, tuple[str, ...]] = {
    "ranks": ("9", "10", "J"),
    "strain_named": ("in_bid", "after_auction"),
    "moon_ladder": ("step", "jump"),
    "all_pass": ("dealer_forced", "redeal_next", "redeal_same", "eldest_forced"),
    "opening_lead": ("eldest", "declarer"),
    "dealer_may_equal": ("never", "lone"),
    "win_rule": ("any", "made_bid", "made_or_set", "rounds"),
    "both_over": ("declarer", "highest", "continue"),
}
"""The words each option takes."""

_NAME = re.compile(r"[a-z](?:[a-z0-9 -]*[a-z0-9])?")


@dataclass(frozen=True)
class Bid:
    """One rung of the bid ladder: with partner for `tricks` tricks, or alone for all of them.

    `name` is the word in notation ("4", "moon"); `value` the points lost when it fails and, for a
    lone bid, won when it is made; `exchange` how many cards declarer and partner exchange (0 to 3,
    lone bids only); `tricks` the tricks a partnered bid must take, None for a lone bid.
    """

    name: str
    value: int
    exchange: int = 0
    tricks: int | None = None

    @property
    def alone(self) -> bool:
        """Whether the declarer plays without partner and must win every trick."""
        return self.tricks is None

    def to_dict(self) -> dict[str, Any]:
        """This lone bid as it stands in a record's `options`."""
        return {"name": self.name, "exchange": self.exchange, "value": self.value}


@dataclass(frozen=True, kw_only=True)
class Rules:
    """Everything that tells one Bid Euchre game from another.

    Raises `RulesError` with a reason for a value, or a combination of values, that makes no game.
    `str(rules)` reads like a rule sheet.
    """

    ranks: str = "9"
    """Lowest rank of the deck: "9", "10" or "J"."""
    copies: int = 1
    """Copies of each card, 1 or 2; of two identical cards in a trick the first played wins."""
    partnered: tuple[int, int] | None = (1, 6)
    """Lowest and highest bid with partner, in tricks; None where every bid is a lone one."""
    lone: tuple[Bid, ...] = ()
    """Bids to play alone, lowest first; each outranks every partnered bid."""
    strain_named: str = "in_bid"
    """Whether the strain is part of the bid, or the declarer names it after the auction."""
    moon_ladder: str = "jump"
    """"step": a lone bid after the first only over the one just below it; "jump": any higher."""
    all_pass: str = "redeal_next"
    """Who may not pass, or who deals again, when nobody bids."""
    opening_lead: str = "declarer"
    """Who leads first: "eldest" (left of the dealer, or the next seat playing) or "declarer"."""
    dealer_may_equal: str = "never"
    """"lone": the dealer may take a standing lone bid by equalling it, in any strain."""
    win_rule: str = "made_or_set"
    """"any", "made_bid", "made_or_set" (who can win at the target) or "rounds"."""
    both_over: str = "declarer"
    """Under "any", when both sides are at the target after the same hand."""
    target: int | None = None
    """Points that end the game; None under "rounds"."""
    rounds: int | None = None
    """Rounds of four played hands under "rounds"; None otherwise."""
    max_hands: int = 100
    """Deals, passed-out ones included, after which the game is truncated."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "lone", tuple(_as_bid(bid) for bid in _as_list(self.lone)))
        if self.partnered is not None:
            object.__setattr__(self, "partnered", _as_range(self.partnered))
        for option, words in CHOICES.items():
            given = getattr(self, option)
            if not isinstance(given, str) or given not in words:
                raise RulesError(f"{option}={shown(given)}: one of {', '.join(map(repr, words))}")
        for name in ("copies", "target", "rounds", "max_hands"):
            object.__setattr__(self, name, _plain(getattr(self, name)))
        _check_int("copies", self.copies, 1, 2)
        _check_int("max_hands", self.max_hands, 1, MAX_COUNT)
        self._check_ladder()
        self._check_auction()
        self._check_winning()

    def _check_ladder(self) -> None:
        if self.partnered is None and not self.lone:
            raise RulesError("partnered=None and no lone bids: there is nothing to bid")
        if self.partnered is not None:
            low, high = self.partnered
            if not 1 <= low <= high <= self.tricks:
                raise RulesError(
                    f"partnered=({low}, {high}): from 1 up to {self.tricks}, the tricks of "
                    f"a hand of this {self.cards}-card deck, low before high"
                )
        if len(self.ladder) > MAX_BIDS:
            raise RulesError(f"{len(self.ladder)} bids: a ladder has at most {MAX_BIDS}")
        names = [bid.name for bid in self.lone]
        for bid in self.lone:
            if bid.tricks is not None:
                raise RulesError(
                    f"lone bid {shown(bid.name)} has tricks={shown(bid.tricks)}: it takes them all"
                )
            if (
                not isinstance(bid.name, str)
                or len(bid.name) > MAX_NAME
                or not _NAME.fullmatch(bid.name)
            ):
                raise RulesError(
                    f"lone bid name {shown(bid.name)}: lower-case words as 'moon' or 'call-2'"
                )
            _check_int(f"value of {bid.name!r}", bid.value, 1, MAX_VALUE)
            _check_int(f"exchange of {bid.name!r}", bid.exchange, 0, MAX_EXCHANGE)
        if len(set(names)) != len(names):
            raise RulesError(f"lone bids {names}: each needs a name of its own")

    def _check_auction(self) -> None:
        if self.moon_ladder == "step":
            if len(self.lone) < 2:
                raise RulesError(
                    "moon_ladder='step' needs two or more lone bids to step through; this ladder "
                    f"has {len(self.lone)}: leave it at 'jump'"
                )
            if any(bid.exchange for bid in self.lone):
                raise RulesError(
                    "moon_ladder='step' is for moons that raise one another; with calls for cards "
                    "in the ladder any higher lone bid may be made: leave it at 'jump'"
                )
        if self.dealer_may_equal == "lone" and not self.lone:
            raise RulesError("dealer_may_equal='lone': this ladder has no lone bid to equal")

    def _check_winning(self) -> None:
        if self.win_rule == "rounds":
            if self.target is not None:
                raise RulesError("win_rule='rounds' is played to no target: leave target out")
            _check_int("rounds", self.rounds, 1, MAX_COUNT)
            if 4 * cast(int, self.rounds) > self.max_hands:
                raise RulesError(
                    f"rounds={self.rounds} is {4 * cast(int, self.rounds)} hands, but "
                    f"max_hands={self.max_hands} would truncate every game: raise max_hands"
                )
        else:
            if self.rounds is not None:
                raise RulesError(
                    f"rounds={shown(self.rounds)} is for win_rule='rounds'; "
                    f"win_rule={self.win_rule!r} is played to a target"
                )
            if self.target is None:
                raise RulesError(f"win_rule={self.win_rule!r} needs a target, as target=52")
            _check_int("target", self.target, 1, MAX_COUNT)
        if self.both_over != "declarer" and self.win_rule != "any":
            raise RulesError(
                f"both_over={self.both_over!r} is for win_rule='any': under "
                f"{self.win_rule!r} only one side can win a hand"
            )

    @property
    def kinds(self) -> int:
        """Card kinds in the deck: 16, 20 or 24."""
        return {"J": 16, "10": 20, "9": 24}[self.ranks]

    @property
    def cards(self) -> int:
        """Cards in the deck: 16 to 48."""
        return self.kinds * self.copies

    @property
    def tricks(self) -> int:
        """Cards in each hand, so tricks in a hand: 4 to 12."""
        return self.cards // 4

    @property
    def ladder(self) -> tuple[Bid, ...]:
        """Every bid from low to high; a bid's index is its level."""
        low, high = self.partnered if self.partnered is not None else (1, 0)
        partnered = (Bid(str(k), value=k, tricks=k) for k in range(low, high + 1))
        return (*partnered, *self.lone)

    @property
    def exchange(self) -> int:
        """The largest exchange of the ladder (0 when no bid exchanges cards)."""
        return max((bid.exchange for bid in self.lone), default=0)

    def replace(self, **options: Any) -> Rules:
        """These rules with some options changed; `RulesError` for an unknown option.

        Changing `win_rule` between a target and rounds drops the one that no longer applies
        (and a `both_over` that only "any" has), and sets `rounds` to 1 where none is given.
        """
        unknown = sorted(set(options) - set(OPTIONS))
        if unknown:
            raise RulesError(
                f"unknown option {', '.join(map(repr, unknown))}; the options are: "
                + ", ".join(OPTIONS)
            )
        changed = dict(options)
        if changed.get("win_rule", self.win_rule) == "rounds":
            changed.setdefault("target", None)
            changed.setdefault("rounds", 1 if self.rounds is None else self.rounds)
        else:
            changed.setdefault("rounds", None)
        if changed.get("win_rule", "any") != "any":
            changed.setdefault("both_over", "declarer")
        return replace(self, **changed)

    def options_from(self, base: Rules) -> dict[str, Any]:
        """The options, as JSON values, that turn `base` into these rules."""
        return {
            name: value
            for name, value in self.to_dict().items()
            if getattr(self, name) != getattr(base, name)
            # None follows from the win rule, see `replace`
            and not (value is None and name in ("target", "rounds"))
        }

    def to_dict(self) -> dict[str, Any]:
        """Every field as a JSON value; `Rules(**rules.to_dict()) == rules`."""
        values: dict[str, Any] = {name: getattr(self, name) for name in OPTIONS}
        values["partnered"] = None if self.partnered is None else list(self.partnered)
        values["lone"] = [bid.to_dict() for bid in self.lone]
        return values

    def __str__(self) -> str:
        from bideuchre_env.rule_sheet import rule_sheet

        return rule_sheet(self)


OPTIONS: tuple[str, ...] = tuple(field.name for field in fields(Rules))
"""The names of all options, in the order they are declared."""


def _as_list(given: Any) -> list[Any]:
    if isinstance(given, (list, tuple)):
        return list(given)
    raise RulesError(f"lone={shown(given)}: a list of lone bids, lowest first")


def _as_bid(given: Any) -> Bid:
    if isinstance(given, Bid):
        return given
    if isinstance(given, Mapping) and {"name", "value"} <= set(given) <= {
        "name",
        "exchange",
        "value",
    }:
        return Bid(**dict(given))
    raise RulesError(f"lone bid {shown(given)}: a Bid, or a mapping with name, exchange and value")


def _as_range(given: Any) -> tuple[int, int]:
    if isinstance(given, (list, tuple)) and len(given) == 2:
        low, high = given
        if is_whole(low) and is_whole(high):
            return int(low), int(high)
    raise RulesError(f"partnered={shown(given)}: the lowest and highest bid, as (3, 5), or None")


def _plain(value: Any) -> Any:
    """A whole number of another library as Python's own; anything else as it is."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        return value
    try:
        return operator.index(value)
    except TypeError:  # an array that is no single whole number
        return value


def _check_int(name: str, value: Any, low: int, high: int) -> None:
    if not is_whole(value) or not low <= value <= high:
        raise RulesError(f"{name}={shown(value)}: a whole number from {low} to {high}")
