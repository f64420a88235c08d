"""`Bid` and `Rules`: every choice a Bid Euchre game may make, as one frozen, validated value.

A game is a value, not a class: the kernels read tables that are compiled from a `Rules`.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, cast

from bideuchre_env._checks import shown, unknown_options
from bideuchre_env.errors import RulesError
from bideuchre_env.rules.bids import (
    MAX_BIDS,
    Bid,
    check_integer,
    check_lone,
    lone_bids,
    plain_integer,
    trick_range,
)

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
    """Under "any", both sides at the target after a hand: the "declarer"'s side wins, or the
    "highest" total (equal: a draw), or the higher total, equal totals playing on ("continue")."""
    target: int | None = None
    """Points that end the game; None under "rounds"."""
    rounds: int | None = None
    """Rounds of four played hands under "rounds"; None otherwise."""
    max_hands: int = 100
    """Deals, passed-out ones included, after which the game is truncated."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "lone", lone_bids(self.lone))
        if self.partnered is not None:
            object.__setattr__(self, "partnered", trick_range(self.partnered))
        for option, words in CHOICES.items():
            value = getattr(self, option)
            if not isinstance(value, str) or value not in words:
                raise RulesError(f"{option}={shown(value)}: one of {', '.join(map(repr, words))}")
        for name in ("copies", "target", "rounds", "max_hands"):
            object.__setattr__(self, name, plain_integer(getattr(self, name)))
        check_integer("copies", self.copies, 1, 2)
        check_integer("max_hands", self.max_hands, 1, MAX_COUNT)
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
            check_lone(bid)
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
            check_integer("rounds", self.rounds, 1, MAX_COUNT)
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
            check_integer("target", self.target, 1, MAX_COUNT)
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
        if unknown := unknown_options(options, OPTIONS):
            raise RulesError(unknown)
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
        return rule_sheet(self)


OPTIONS: tuple[str, ...] = tuple(field.name for field in fields(Rules))
"""The names of all options, in the order they are declared."""

# How a `Rules` value reads: the rule sheet of its game.
_ALL_PASS = {
    "dealer_forced": "After three passes the dealer must bid.",
    "eldest_forced": "The first to speak must bid.",
    "redeal_next": "If all four pass, nothing is scored and the next dealer deals.",
    "redeal_same": "If all four pass, nothing is scored and the same dealer deals again.",
}
_OPENING_LEAD = {
    "eldest": "The eldest hand (left of the dealer) leads; if it sits out, the next seat.",
    "declarer": "The declarer leads to the first trick.",
}
_BOTH_OVER = {
    "declarer": "if both sides are there, the declarer's side wins.",
    "highest": "if both sides are there, the higher total wins and equal totals are a draw.",
    "continue": "if both sides are there, the higher total wins and equal totals play on.",
}


def rule_sheet(rules: Rules) -> str:
    """The whole game in a page of plain sentences."""
    sections = (
        ("Cards", _cards(rules)),
        ("Auction", _auction(rules)),
        ("Bids", _bids(rules)),
        ("Exchange", _exchange(rules)),
        ("Play", _play(rules)),
        ("Scoring", _scoring(rules)),
        ("Game", _game(rules)),
    )
    return "\n".join(
        f"{title + ':':<10}{line}" if first else " " * 10 + line
        for title, lines in sections
        for first, line in zip([True] + [False] * len(lines), lines, strict=False)
    )


def _cards(rules: Rules) -> list[str]:
    ranks = {"9": "9 10 J Q K A", "10": "10 J Q K A", "J": "J Q K A"}[rules.ranks]
    copies = "one of each card" if rules.copies == 1 else "two of each card"
    return [
        f"{rules.cards} cards ({ranks}, {copies}), {rules.tricks} to each of four seats; "
        "partners sit opposite.",
        "Trumps: right bower, left bower, A K Q and down; the left bower belongs to trumps.",
        "Other suits, and every suit at no trump: A K Q J and down.",
    ]


def _auction(rules: Rules) -> list[str]:
    strain = (
        "A bid names its strain (a suit or no trump)."
        if rules.strain_named == "in_bid"
        else "The declarer names the strain (a suit or no trump) after the auction."
    )
    lines = ["One call each, from the dealer's left; a bid must be higher. " + strain]
    if rules.moon_ladder == "step":
        names = ", ".join(bid.name for bid in rules.lone)
        lines.append(f"Lone bids go a step at a time ({names}): each only over the one below.")
    if rules.dealer_may_equal == "lone":
        lines.append("The dealer may take a standing lone bid by equalling it, in any strain.")
    return [*lines, _ALL_PASS[rules.all_pass]]


def _bids(rules: Rules) -> list[str]:
    lines = []
    if rules.partnered is not None:
        low, high = rules.partnered
        span = str(low) if low == high else f"{low} to {high}"
        lines.append(f"With partner: {span} tricks.")
    lines += [_lone_bid(bid) for bid in rules.lone]
    return [*lines, "(lowest first)"] if len(rules.lone) > 1 else lines


def _lone_bid(bid: Bid) -> str:
    cards = "a card" if bid.exchange == 1 else f"{bid.exchange} cards"
    how = f", exchanging {cards} with partner" if bid.exchange else ""
    return f"{bid.name}: every trick alone{how}, {bid.value} points."


def _exchange(rules: Rules) -> list[str]:
    if not rules.exchange:
        return ["None."]
    return [
        "After the auction the declarer gives up the cards face down, then the partner passes as",
        "many face down; neither sees the other's choice first. Given-up cards are out of play.",
    ]


def _play(rules: Rules) -> list[str]:
    lines = [_OPENING_LEAD[rules.opening_lead]]
    lines.append("Follow suit if you can, else play anything. The trick's winner leads next.")
    if rules.copies == 2:
        lines.append("Of two identical cards in a trick the first played wins.")
    if rules.lone:
        lines.append("The partner of a lone declarer sits out.")
    return lines


def _scoring(rules: Rules) -> list[str]:
    lines = ["Defenders: a point a trick, always."]
    if rules.partnered is not None:
        lines.append("Declarer's side, with partner: made, a point a trick; set, minus the bid.")
    if rules.lone:
        lines.append("Alone: the bid's points if every trick is won, minus the same if not.")
    return lines


def _game(rules: Rules) -> list[str]:
    truncated = f"Truncated after {rules.max_hands} deals."
    if rules.win_rule == "rounds":
        rounds = "round" if rules.rounds == 1 else "rounds"
        return [
            f"{rules.rounds} {rounds} of four played hands; most points wins, equal is a draw.",
            truncated,
        ]
    who = {
        "any": f"the first side at it wins; {_BOTH_OVER[rules.both_over]}",
        "made_bid": "only a side that made its own bid in the hand can win.",
        "made_or_set": "only a side that made its bid, or set the other's, in the hand can win.",
    }[rules.win_rule]
    return [f"To {rules.target} points: {who}", truncated]
