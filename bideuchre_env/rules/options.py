"""The options of a game, each declared once: default, meaning and allowed values.

Rule files, their comments, the command line and the documentation use these declarations. `Rules`
has the checks.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import Field, dataclass, field, fields
from typing import Any, Literal, TypeAlias, TypedDict, TypeVar, get_args

from bideuchre_env.rules.bids import Bid
from bideuchre_env.rules.cards import NO_TRUMP, STRAINS

T = TypeVar("T")
NONE = "none"
_RANGE = re.compile(r"[(\[]?\s*(\d{1,9})\s*(?:-|to|,)\s*(\d{1,9})\s*[)\]]?")

Ranks: TypeAlias = Literal["9", "10", "J"]
StrainNamed: TypeAlias = Literal["in_bid", "after_auction", "lone_after"]
NoTrump: TypeAlias = Literal["high", "none", "both"]
Auction: TypeAlias = Literal["once", "until_passes", "until_out"]
MoonLadder: TypeAlias = Literal["step", "jump"]
AllPass: TypeAlias = Literal[
    "dealer_forced", "redeal_next", "redeal_same", "eldest_forced", "dealer_lowest"
]
ExchangeSeen: TypeAlias = Literal["blind", "open"]
OpeningLead: TypeAlias = Literal["eldest", "declarer", "left"]
DealerMayEqual: TypeAlias = Literal["never", "lone", "any"]
MadeScores: TypeAlias = Literal["tricks", "bid"]
DefendersScore: TypeAlias = Literal["tricks", "none", "value_if_set"]
WinRule: TypeAlias = Literal["any", "made_bid", "made_or_set", "rounds"]
BothOver: TypeAlias = Literal["declarer", "highest", "continue"]


class GameKeywords(TypedDict, total=False):
    """The options of a game as keywords, each with the type that checkers accept."""

    ranks: Ranks
    copies: int
    kitty: int
    partnered: Sequence[int] | None
    lone: Sequence[Bid | Mapping[str, Any]]
    strain_named: StrainNamed
    no_trump: NoTrump
    no_trump_from: int
    auction: Auction
    moon_ladder: MoonLadder
    all_pass: AllPass
    exchange_seen: ExchangeSeen
    opening_lead: OpeningLead
    dealer_may_equal: DealerMayEqual
    made_scores: MadeScores
    made_bonus: int
    defenders_score: DefendersScore
    win_rule: WinRule
    both_over: BothOver
    floor: int | None
    target: int | None
    rounds: int | None
    max_hands: int


def option(default: T, meaning: str, words: Any = None, values: str = "") -> T:
    """Declare an option as a dataclass field.

    `words` is the `Literal` type of an option that takes words; otherwise `values` describes the
    allowed values.
    """
    declared = {"meaning": meaning, "words": get_args(words), "values": values}
    made: T = field(default=default, metadata=declared)
    return made


def words_of(each: Field[Any]) -> tuple[str, ...]:
    """Return the words that an option takes; empty if its values are not words."""
    return tuple(each.metadata["words"])


def meaning_of(each: Field[Any]) -> str:
    """Return the meaning of an option as a sentence."""
    return str(each.metadata["meaning"])


def values_of(each: Field[Any]) -> str:
    """Return the allowed values of an option in words."""
    words = [f'"{word}"' for word in words_of(each)]
    if not words:
        return str(each.metadata["values"])
    return f"{', '.join(words[:-1])} or {words[-1]}"


@dataclass(frozen=True, kw_only=True)
class GameOptions:
    """The options of a game, and values derived from them; `Rules` adds the checks."""

    ranks: Ranks = option("9", "Lowest rank of the deck.", Ranks)
    copies: int = option(
        1,
        "Copies of each card; of two identical cards in a trick the first played wins.",
        values="1 or 2",
    )
    kitty: int = option(
        0,
        "Cards dealt to a kitty: before any exchange the declarer takes them up and lays away as "
        "many cards, face down and out of play, unseen by the others.",
        values="0 or 4, with a deck of at least 24 cards",
    )
    partnered: tuple[int, int] | None = option(
        (1, 6),
        "Lowest and highest bid with partner, in tricks; none if every bid is a lone bid.",
        values='two whole numbers, as [3, 5], or "none"',
    )
    lone: tuple[Bid, ...] = option(
        (),
        "Bids for all tricks, lowest first; each is higher than every bid in tricks. They are "
        "played alone, or with partner.",
        values="a list of bids, each with name, value (points), exchange (cards, 0 to 3), partner "
        "(true: with partner) and lost (points if it fails; by default its value)",
    )
    strain_named: StrainNamed = option(
        "in_bid",
        "Whether the strain is part of the bid, or the declarer names it after the auction; "
        '"lone_after": part of bids in tricks only, a bid for all tricks is named after it.',
        StrainNamed,
    )
    no_trump: NoTrump = option(
        "high",
        'Strains beside the suits: "high": no trump; "none": no others; "both": also LOW, no '
        "trump in which the lowest card of a suit wins.",
        NoTrump,
    )
    no_trump_from: int = option(
        1,
        "Lowest bid in tricks that may be played at no trump, high or low; bids for all tricks "
        "always may.",
        values="a whole number from 1 to the tricks of a hand plus 1",
    )
    auction: Auction = option(
        "once",
        '"once": one call each; "until_passes": until three passes follow a bid, and a seat that '
        'passed may bid later; "until_out": the same, but a pass is final.',
        Auction,
    )
    moon_ladder: MoonLadder = option(
        "jump",
        '"step": a lone bid above the lowest needs the next lower lone bid before it; "jump": any '
        "higher bid is legal.",
        MoonLadder,
    )
    all_pass: AllPass = option(
        "redeal_next",
        '"dealer_forced": after three passes the dealer must bid; "eldest_forced": the eldest hand '
        'must bid; "redeal_next", "redeal_same": after four passes the next or the same dealer '
        'deals; "dealer_lowest": after three passes the dealer must make the lowest bid.',
        AllPass,
    )
    exchange_seen: ExchangeSeen = option(
        "blind",
        '"blind": cards that the declarer gives up are out of play, unseen; "open": they join '
        "partner's hand, who then passes as many and may return them.",
        ExchangeSeen,
    )
    opening_lead: OpeningLead = option(
        "declarer",
        'Who leads to the first trick: "eldest", the seat left of the dealer (the next seat if it '
        'sits out), "declarer", or "left", the seat left of the declarer.',
        OpeningLead,
    )
    dealer_may_equal: DealerMayEqual = option(
        "never",
        '"lone": if the highest bid so far is a lone bid, the dealer may bid the same, in any '
        'strain, and becomes the declarer; "any": if it is any bid; "never": the dealer must bid '
        "higher, too.",
        DealerMayEqual,
    )
    made_scores: MadeScores = option(
        "tricks",
        'Points for a made bid in tricks: "tricks", one for each trick, or "bid", its number.',
        MadeScores,
    )
    made_bonus: int = option(
        0, "Further points for a made bid in tricks.", values="a whole number from 0 to 12"
    )
    defenders_score: DefendersScore = option(
        "tricks",
        'Points of the defenders: "tricks", one for each trick; "none"; "value_if_set", the value '
        "of the bid if it fails, else none.",
        DefendersScore,
    )
    win_rule: WinRule = option(
        "made_or_set",
        'Which side wins at the target: "any": every side; "made_bid": only a side that made its '
        'bid in this hand; "made_or_set": only one that made its bid or set the other side\'s; '
        '"rounds": no target, but the most points after the rounds.',
        WinRule,
    )
    both_over: BothOver = option(
        "declarer",
        'The winner if both sides are at the target after a hand, with win_rule="any". '
        '"declarer": the declarer\'s side; "highest": the higher total, a draw if equal; '
        '"continue": the higher total, the game continues if equal.',
        BothOver,
    )
    floor: int | None = option(
        None,
        "Points at or below which a side loses the game, unless it is won; the declarer's side if "
        "both are; none without such a limit.",
        values='a whole number below 0, or "none"',
    )
    target: int | None = option(
        None,
        'Points that end the game; none with win_rule="rounds".',
        values="a whole number from 1",
    )
    rounds: int | None = option(
        None,
        'Number of rounds, each of four played hands, with win_rule="rounds"; none otherwise.',
        values="a whole number from 1",
    )
    max_hands: int = option(
        100,
        "Number of deals, passed-out ones included, after which the game is truncated.",
        values="a whole number from 1",
    )

    @property
    def strains(self) -> tuple[str, ...]:
        """The names of the strains of this game: the suits, then NT and LOW if it has them."""
        return STRAINS[: NO_TRUMP + {"none": 0, "high": 1, "both": 2}[self.no_trump]]

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
        return (self.cards - self.kitty) // 4

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

    @property
    def plays_alone(self) -> bool:
        """Whether the ladder has a bid to play alone."""
        return any(bid.alone for bid in self.lone)

    @property
    def most_calls(self) -> int:
        """An upper bound of the number of calls in a hand."""
        return 4 if self.auction == "once" else 4 + 3 * len(self.ladder)

    @property
    def hands_to_play(self) -> int:
        """The number of hands of a game by rounds, four a round; 0 for a game to a target."""
        return 4 * (self.rounds or 0)


CHOICES: dict[str, tuple[str, ...]] = {
    each.name: words_of(each) for each in fields(GameOptions) if words_of(each)
}
"""The words of each option that takes words."""
OPTIONS: tuple[str, ...] = tuple(field.name for field in fields(GameOptions))
"""The names of all options, in the order they are declared."""


def from_text(name: str, text: str) -> Any:
    """Return the value of an option given as text, on a command line.

    The text is JSON, perhaps in quotes, or a form of `from_file`. Anything else is returned as
    text, and `Rules` rejects it.
    """
    bare = text.strip()
    if len(bare) > 1 and bare[0] == bare[-1] and bare[0] in "'\"":
        bare = bare[1:-1]
    try:
        value = json.loads(bare)
    except (ValueError, RecursionError):  # not JSON, or nested too deeply
        value = bare
    return from_file(name, value)


def from_file(name: str, value: Any) -> Any:
    """Convert the value of an option in a TOML file to that of `Rules`.

    `ranks` may be a number and `partnered` a text such as "4-8". "none" stands for None in
    `partnered`, `target`, `rounds` and `floor`, and for no bids in `lone`. Any other value is
    returned unchanged.
    """
    if name == "ranks" and isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if name in ("partnered", "target", "rounds", "floor", "lone") and isinstance(value, str):
        if value.lower() == NONE:
            return () if name == "lone" else None
        if name == "partnered" and (match := _RANGE.fullmatch(value.strip())):
            return int(match[1]), int(match[2])
    return value
