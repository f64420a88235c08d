"""Action numbers of a game and their names in notation (`records/README.md`), both ways.

Actions are `pass`, then every bid (by level, then by strain if it is part of the bid), then the
strains (if they are named after the auction), then the card kinds of the deck.
"""

from __future__ import annotations

import re
from functools import cached_property, lru_cache
from typing import Any

from bideuchre_env._checks import did_you_mean, typed
from bideuchre_env.errors import NotationError
from bideuchre_env.rules.bids import Bid
from bideuchre_env.rules.cards import CARD_NAMES, STRAINS, plain_letters
from bideuchre_env.rules.rules import Rules

_LONGEST = 80  # longer texts are not compared with the names
_STRAIN_WORD = re.compile(r"(low)?(club|diamond|heart|spade|no-?trump|nt)(low|↓)?s?$")


def _initials(match: re.Match[str]) -> str:
    """Return the abbreviation of a strain ("h", "nt", "low") for a match of its words."""
    low, word, after = match.groups()
    if word[0] == "n":
        return "low" if low or after else "nt"
    return match[0] if low or after else word[0]


class Actions:
    """Number and name of every action of a game; `of(rules)` caches one per `Rules`.

    `names` has the name of each action, by number, and `n` is their count. The strains start at
    number `trump_offset`, the cards at `card_offset`; both are equal if all bids name the strain.
    """

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        names = ["pass"]
        self.first_of_bid: list[int] = []
        """[level]: the number of the bid, or of its first strain if it names one."""
        for bid in rules.ladder:
            self.first_of_bid.append(len(names))
            in_bid = names_strain(rules, bid)
            names += (
                [f"bid {bid.name} {s}" for s in rules.strains] if in_bid else [f"bid {bid.name}"]
            )
        self.trump_offset = len(names)
        names += [] if rules.strain_named == "in_bid" else [f"trump {s}" for s in rules.strains]
        self.card_offset = len(names)
        names += CARD_NAMES[: rules.kinds]
        self.names: tuple[str, ...] = tuple(names)
        self.n = len(names)

    @cached_property
    def index(self) -> dict[str, int]:
        """Numbers of the actions by name."""
        return {name: number for number, name in enumerate(self.names)}

    @cached_property
    def _spelled(self) -> dict[str, int]:
        """Numbers of the actions by `plain_letters` of the name, if that is unique."""
        names = [plain_letters(name) for name in self.names]
        return {name: at for at, name in enumerate(names) if names.count(name) == 1}

    def parse(self, name: Any) -> int:
        """Return the number of an action, by its name or as typed: "Bid 4 ♥", "10h", "trump nt".

        Case and blanks do not matter, and strains may be words ("bid 4 hearts", "no trump").
        Raises `NotationError` if this game has no such action.
        """
        number = self.index.get(name) if isinstance(name, str) else None
        if number is None and isinstance(name, str) and len(name) <= _LONGEST:
            plain = plain_letters(name)
            number = self._spelled.get(plain)
            if number is None:
                number = self._spelled.get(_STRAIN_WORD.sub(_initials, plain))
        if number is None:
            raise NotationError(f"{self.no_action(name)}: {self._example()}")
        return number

    def no_action(self, name: Any) -> str:
        """Return the message for an unknown name, with the nearest known one."""
        near = isinstance(name, str) and len(name) <= _LONGEST
        close = did_you_mean(name, self.names) if near else ""
        return f"{typed(name)} is no action of this game{close}"

    def _example(self) -> str:
        bids = self.names[1 : self.trump_offset]
        named = self.trump_offset < self.card_offset
        trump = f" · trump C to {self.names[self.card_offset - 1]}" if named else ""
        return f"pass · {bids[0]} to {bids[-1]}{trump} · a card as {self.names[-1]}"

    def contract(self, level: int, strain: int) -> str | None:
        """Return a contract in notation, as "4 H"; without the strain if that is -1, as "4".

        The result is None if `level` is -1, for no bid.
        """
        if level < 0:
            return None
        name = self.rules.ladder[level].name
        return name if strain < 0 else f"{name} {STRAINS[strain]}"


def names_strain(rules: Rules, bid: Bid) -> bool:
    """Whether a bid of the ladder names its strain; else the declarer does after the auction."""
    if rules.strain_named == "lone_after":
        return bid.tricks is not None
    return rules.strain_named == "in_bid"


@lru_cache(maxsize=256)
def of(rules: Rules) -> Actions:
    """Return the `Actions` of these rules, from a cache."""
    return Actions(rules)
