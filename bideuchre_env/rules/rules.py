"""`Rules`: all options of a Bid Euchre game, as one frozen, validated value.

A game is a value, not a class: the kernels read tables that are compiled from a `Rules`.
"""

from __future__ import annotations

import textwrap
from dataclasses import Field, dataclass, fields, replace
from os import PathLike
from typing import TYPE_CHECKING, Any

from bideuchre_env._checks import (
    brief,
    check_name,
    check_type,
    did_you_mean,
    is_integer,
    is_whole,
    unknown_options,
)
from bideuchre_env._deprecation import RENAMED, present_name
from bideuchre_env.errors import OptionError, RulesError, UnknownRuleError
from bideuchre_env.rules.bids import (
    MAX_BIDS,
    MAX_ROUND_BIDS,
    check_integer,
    check_lone,
    lone_bids,
    trick_range,
)
from bideuchre_env.rules.cards import MAX_KITTY, MAX_TRICKS, plain_letters
from bideuchre_env.rules.options import (
    CHOICES,
    OPTIONS,
    GameKeywords,
    GameOptions,
    meaning_of,
    values_of,
)
from bideuchre_env.rules.sheet import rule_sheet, rule_table
from bideuchre_env.rules.toml_file import RulesFile, read_rules_file, written

if TYPE_CHECKING:
    from typing_extensions import Unpack

MAX_COUNT = 10**15
LEAST_WITH_KITTY = 24  # cards of a deck with a kitty: hands of five cards
NUMBERS = (
    "copies",
    "kitty",
    "target",
    "rounds",
    "max_hands",
    "floor",
    "no_trump_from",
    "made_bonus",
)
"""The options that are whole numbers."""


@dataclass(frozen=True, kw_only=True)
class Rules(GameOptions):
    """The rules of a Bid Euchre game.

    `str(rules)` reads like a rule sheet; `to_toml` returns all options, each with its value,
    meaning and allowed values.

    Args:
        options: the options of `GameOptions`, each with a default.

    Raises:
        RulesError: for an invalid value or combination of values, with the reason.

    Example:
        rules = Rules(lone=[Bid("moon", value=24)], target=52)
    """

    if TYPE_CHECKING:  # accepts more types than the fields have

        def __init__(self, **options: Unpack[GameKeywords]) -> None: ...

    def __post_init__(self) -> None:
        object.__setattr__(self, "lone", lone_bids(self.lone))
        if self.partnered is not None:
            object.__setattr__(self, "partnered", trick_range(self.partnered))
        for name, words in CHOICES.items():
            value = getattr(self, name)
            if not isinstance(value, str) or value not in words:
                choices = ", ".join(map(repr, words))
                close = did_you_mean(value, words)
                raise RulesError(f"{name}={brief(value)}: expected one of {choices}{close}")
        for name in NUMBERS:
            if is_integer(value := getattr(self, name)):
                object.__setattr__(self, name, int(value))
        check_integer("copies", self.copies, 1, 2)
        self._check_kitty()
        check_integer("max_hands", self.max_hands, 1, MAX_COUNT)
        check_integer("made_bonus", self.made_bonus, 0, MAX_TRICKS)
        self._check_ladder()
        self._check_auction()
        self._check_rounds_of_bidding()
        self._check_strains()
        self._check_scoring()
        self._check_winning()

    def _check_kitty(self) -> None:
        if not is_whole(self.kitty) or self.kitty not in (0, MAX_KITTY):
            raise RulesError(
                f"kitty={brief(self.kitty)}: expected 0 or {MAX_KITTY}, the only kitty that tables "
                "of Bid Euchre play with"
            )
        if self.kitty and self.cards < LEAST_WITH_KITTY:
            raise RulesError(
                f"kitty={self.kitty}: expected 0 with this deck of {self.cards} cards, because "
                f"hands of {self.tricks} cards are not played; a kitty needs {LEAST_WITH_KITTY}"
            )

    def _check_ladder(self) -> None:
        if self.partnered is None and not self.lone:
            raise RulesError("partnered=None, lone=[]: expected at least one bid")
        if self.partnered is not None:
            low, high = self.partnered
            kitty = f" less a kitty of {self.kitty}" if self.kitty else ""
            if not 1 <= low <= high <= self.tricks:
                raise RulesError(
                    f"partnered=({low}, {high}): expected from 1 up to {self.tricks}, the "
                    f"tricks of a hand of this {self.cards}-card deck{kitty}, low before high"
                )
        if len(self.ladder) > MAX_BIDS:
            raise RulesError(f"{len(self.ladder)} bids: expected at most {MAX_BIDS}")
        for bid in self.lone:
            check_lone(bid)
        names = [bid.name for bid in self.lone]
        if len(set(map(plain_letters, names))) != len(names):
            raise RulesError(f"lone bids {names}: expected different names, blanks aside")

    def _check_auction(self) -> None:
        if self.moon_ladder == "step":
            if len(self.lone) < 2:
                raise RulesError(
                    "moon_ladder='step': expected 'jump' with fewer than two lone bids"
                )
            if any(bid.exchange for bid in self.lone):
                raise RulesError(
                    "moon_ladder='step': expected 'jump' with lone bids that exchange cards"
                )
        if self.dealer_may_equal == "lone" and not self.plays_alone:
            raise RulesError(
                "dealer_may_equal='lone': expected 'never' or 'any', because this ladder has no "
                "lone bid"
            )
        if self.exchange_seen == "open" and not self.exchange:
            raise RulesError(
                "exchange_seen='open': expected 'blind', because no bid of this ladder exchanges "
                "cards"
            )

    def _check_rounds_of_bidding(self) -> None:
        if self.auction == "once":
            return
        if self.dealer_may_equal != "never":
            raise RulesError(
                f"dealer_may_equal={self.dealer_may_equal!r}: expected 'never' with "
                f"auction={self.auction!r}, in which the dealer does not have the last call"
            )
        if len(self.ladder) > MAX_ROUND_BIDS:
            raise RulesError(
                f"{len(self.ladder)} bids: expected at most {MAX_ROUND_BIDS} with "
                f"auction={self.auction!r}"
            )

    def _check_strains(self) -> None:
        check_integer("no_trump_from", self.no_trump_from, 1, self.tricks + 1)
        if self.no_trump == "none" and self.no_trump_from != 1:
            raise RulesError(f"no_trump_from={self.no_trump_from}: expected 1 with no_trump='none'")
        if self.strain_named == "lone_after" and not (self.lone and self.partnered):
            raise RulesError(
                "strain_named='lone_after': expected 'in_bid' or 'after_auction' unless there are "
                "bids in tricks and lone bids"
            )

    def _check_scoring(self) -> None:
        if self.partnered is None:
            for name, default in (("made_scores", "tricks"), ("made_bonus", 0)):
                if getattr(self, name) != default:
                    raise RulesError(
                        f"{name}={brief(getattr(self, name))}: expected {brief(default)}, because "
                        "this ladder has no bid in tricks"
                    )
        if self.floor is not None:
            check_integer("floor", self.floor, -MAX_COUNT, -1)

    def _check_winning(self) -> None:
        if self.win_rule == "rounds":
            if self.target is not None:
                raise RulesError(
                    f"target={brief(self.target)}: expected None with win_rule='rounds'"
                )
            check_integer("rounds", self.rounds, 1, MAX_COUNT)
            if self.hands_to_play > self.max_hands:
                raise RulesError(
                    f"rounds={self.rounds} is {self.hands_to_play} hands, but "
                    f"max_hands={self.max_hands} would truncate every game: at least "
                    f"max_hands={self.hands_to_play} is needed"
                )
        else:
            if self.rounds is not None:
                raise RulesError(
                    f"rounds={brief(self.rounds)}: expected None with win_rule={self.win_rule!r}, "
                    "which has a target"
                )
            if self.target is None:
                raise RulesError(
                    f"target=None: expected a number with win_rule={self.win_rule!r}, as target=52"
                )
            check_integer("target", self.target, 1, MAX_COUNT)
        if self.both_over != "declarer" and self.win_rule != "any":
            raise RulesError(
                f"both_over={self.both_over!r}: expected only with win_rule='any', because "
                f"with {self.win_rule!r} only one side can win a hand"
            )

    def replace(self, **options: Unpack[GameKeywords]) -> Rules:
        """Return these rules with some options changed.

        Changing `win_rule` to "rounds" drops `target` and sets `rounds` to 1 by default; changing
        it from "rounds" drops `rounds` and requires a `target`. Any change of `win_rule` to a value
        other than "any" also resets `both_over` to "declarer". Options that are passed explicitly
        keep the passed value.

        Args:
            options: the options that change, see `GameOptions`.

        Raises:
            UnknownRuleError: for an unknown option; also a `TypeError`.
            RulesError: for an invalid value or combination of values.
        """
        if unknown := unknown_options(options, OPTIONS, what="unexpected keyword argument"):
            raise UnknownRuleError(unknown)
        changed: dict[str, Any] = {**options}
        win_rule = changed.get("win_rule", self.win_rule)
        if isinstance(win_rule, str) and win_rule == "rounds":
            changed.setdefault("target", None)
            changed.setdefault("rounds", 1 if self.rounds is None else self.rounds)
        else:
            changed.setdefault("rounds", None)
        if isinstance(win_rule, str) and "win_rule" in changed and win_rule != "any":
            changed.setdefault("both_over", "declarer")
        return replace(self, **changed)

    def options_from(self, base: Rules) -> dict[str, Any]:
        """Return the options that turn other rules into these, as JSON values.

        Args:
            base: the other rules; `base.replace(**options)` equals these.

        Raises:
            OptionError: unless `base` is a `Rules` value.
        """
        check_rules(base, "base")
        return {
            name: value
            for name, value in self.to_dict().items()
            if getattr(self, name) != getattr(base, name)
            # None follows from the win rule, see `replace`
            and not (value is None and name in ("target", "rounds"))
        }

    def to_dict(self) -> dict[str, Any]:
        """Return every option as a JSON value; `Rules(**rules.to_dict()) == rules`."""
        values: dict[str, Any] = {name: getattr(self, name) for name in OPTIONS}
        values["partnered"] = None if self.partnered is None else list(self.partnered)
        values["lone"] = [bid.to_dict() for bid in self.lone]
        return values

    @classmethod
    def from_toml(cls, source: str | PathLike[str] | RulesFile) -> Rules:
        """Return the rules in a file.

        A missing option has the value of the variant `base` in the file, or else of `Rules()`.

        Args:
            source: the path of a file, or its text, which has a line end or a "=".

        Raises:
            RulesError: for an invalid or unreadable file, with the file, the option and the allowed
                values.
        """
        file = source
        if not isinstance(file, RulesFile):
            file = read_rules_file(file, OPTIONS)
        try:
            if file.base is None:
                return cls(**file.options)
            return BY_NAME[variant_name(file.base)].replace(**file.options)
        except OptionError as error:
            raise file.fault(f"base={error}") from None
        except RulesError as error:
            raise file.fault(error) from None

    def to_toml(self) -> str:
        """Return these rules as the text of a file: every option with meaning and allowed values.

        `Rules.from_toml(rules.to_toml()) == rules`.
        """
        values = self.to_dict()
        return TOML_HEAD + "".join(
            f"\n{_comment(each)}\n{written(each.name, values[each.name])}\n"
            for each in fields(self)
        )

    def __str__(self) -> str:
        return rule_sheet(self)

    def _repr_html_(self) -> str:
        return rule_table(self)


def check_rules(rules: object, name: str = "rules") -> None:
    """Raise `OptionError`, with the parameter `name`, unless `rules` is a `Rules` value."""
    check_type(name, rules, Rules, "a Rules value")


def check_game(rules: object, name: object) -> None:
    """Raise `OptionError` unless `rules` is a `Rules` value and `name` the name of a game."""
    check_rules(rules)
    check_name(name)


TOML_HEAD = """\
# The rules of a game of Bid Euchre, for `bideuchre variants FILE` and for `--rules FILE`.
# With base = "barrie_v0", for example, state only other values; name = "..." names the game.
"""


def _comment(each: Field[Any]) -> str:
    """Return the comment on an option for a file of rules: its meaning and its values."""
    sentences = (meaning_of(each), f"Takes {values_of(each)}.")
    return "\n".join(
        textwrap.fill(line, 98, initial_indent="# ", subsequent_indent="# ") for line in sentences
    )


BY_NAME: dict[str, Rules] = {}
"""Every declared variant, by name: `variants.py` declares them."""


def variant_name(name: object) -> str:
    """Return the full name of a declared variant: "barrie_v0" for "Barrie", for example.

    Case does not matter, blanks and hyphens count as underscores, and the version may be left out.
    Raises `OptionError` for any other name.
    """
    if isinstance(name, str):
        plain = name.strip().lower().replace("-", "_").replace(" ", "_")
        for full in (*BY_NAME, *RENAMED):
            if plain in (full, full.rpartition("_v")[0]):
                variant = present_name(full, BY_NAME)
                if variant in BY_NAME:
                    return variant
    close = did_you_mean(name, BY_NAME)
    raise OptionError(f"{brief(name)} is no variant{close}: expected one of {', '.join(BY_NAME)}")
