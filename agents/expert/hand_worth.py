"""Worth of a hand as declarer: expected tricks and chances, from the tables of `hand_table.py`.

from bideuchre_env.agents.expert.hand_worth import hand_worth

worth = hand_worth("JH JD AH KH QS 9C", bideuchre_env.cincinnati_v0.rules)
worth.by_leader["the declarer leads"]["H"]["tricks"]
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from bideuchre_env._checks import brief
from bideuchre_env._columns import html_table
from bideuchre_env._intervals import wilson
from bideuchre_env.agents.expert import hand_table
from bideuchre_env.errors import DealError, OptionError
from bideuchre_env.rules.cards import CARD_NAMES, LOW, NO_TRUMP, hand_bits, hand_names, spelled_card
from bideuchre_env.rules.rules import Rules

LEADERS = ("the declarer leads", "another seat leads")
_POSSIBLE = {"declarer": (0,), "left": (1,), "eldest": (0, 1)}  # the eldest may be the declarer
Worth = dict[str, dict[str, float]]


@dataclass(frozen=True)
class HandWorth:
    """Worth of a hand as declarer in one game."""

    cards: list[str]
    by_leader: dict[str, Worth]
    """By leader to the first trick, then strain: expected "tricks", and by name of each bid the
    chance to make it, with partner or alone. If the table has none of the possible leaders, it is
    the declarer."""
    leads_not_played: list[str]
    """Leaders to the first trick that are possible in the game but not in the deck's table."""
    half_widths: dict[str, float]
    """Largest half width of a chance's 95 % interval: of "partnered" and "lone" bids in the three
    best strains, and of both in the "others"."""
    deals: int
    """Minimum number of deals played per strain; the best strains have more."""

    def _repr_html_(self) -> str:
        parts = [f"<p><b>{' '.join(self.cards)} as declarer</b></p>"]
        for leader, worth in self.by_leader.items():
            parts.append(f"<p>{leader}</p>{html_table(worth_rows(worth), 'l' + 'r' * len(worth))}")
        return "".join(parts)


def worth_rows(worth: Worth) -> list[list[str]]:
    """Return the rows of a table as texts: tricks and chances, with a column per strain.

    The first row has the strains, by expected tricks, the most first. Then come the tricks, and the
    chances to make each bid; successive bids with equal chances share a row: "moon to quadruple
    moon".
    """
    ordered = sorted(worth.items(), key=lambda row: -row[1]["tricks"])
    lines = [["", *(strain for strain, _ in ordered)]]
    first = ""
    for name in ordered[0][1]:
        form = ".2f" if name == "tricks" else ".0%"
        cells = [format(figures[name], form) for _, figures in ordered]
        if cells == lines[-1][1:]:
            lines[-1][0] = f"{first} to {name}"
        else:
            first = name
            lines.append([name, *cells])
    return lines


def hand_worth(cards: str | Iterable[str], rules: Rules) -> HandWorth:
    """Return the worth of a hand to its declarer under these rules.

    Args:
        cards: a full hand, as "JH JD AH KH QS 9C" or as names of cards.
        rules: the rules of the game; its deck needs a table (`hand_table.DECKS`).

    Raises:
        NotationError: `cards` has something that is no card.
        DealError: `cards` is not a full hand of the deck.
        OptionError: the deck has no table, or the game has a kitty.
    """
    if rules.kitty:
        raise OptionError(
            f"kitty={rules.kitty}: expected 0, because the tables are of hands without a kitty"
        )
    hand, table = parse_hand(cards, rules), hand_table.hand_table(rules.kinds, rules.copies)
    if table is None:
        sizes = sorted(kinds * copies for kinds, copies in hand_table.DECKS)
        decks = ", ".join(map(str, sizes))
        raise OptionError(
            f"no table for this deck of {rules.cards} cards, {brief(rules.copies)} of each: there "
            f"are tables for the decks of {decks} cards"
        )
    leads = _POSSIBLE[rules.opening_lead]
    played = [lead for lead in leads if lead < table.tricks.shape[1]] or [0]
    return HandWorth(
        hand_names(hand),
        {LEADERS[lead]: _worth(hand, rules, table, lead) for lead in played},
        [LEADERS[lead] for lead in leads if lead not in played],
        *_sure(hand_table.provenance()),
    )


def _sure(made: dict[str, Any]) -> tuple[dict[str, float], int]:
    """Return `HandWorth.half_widths` and `HandWorth.deals`, from the provenance of a table."""
    deals, sure = int(made["deals"]["first"]), made["half_widths"]
    widest = wilson(deals // 2, deals)  # at a chance of a half
    others = widest.half if widest else 1.0
    return {"partnered": sure["partnered"], "lone": sure["lone"], "others": round(others, 3)}, deals


def parse_hand(cards: str | Iterable[str], rules: Rules) -> int:
    """Return a hand, as an integer (see `rules/cards.py`), from a text or names of cards.

    Raises `NotationError` for a name of no card, and `DealError` unless it is a full hand of this
    deck.
    """
    names = re.split(r"[\s,]+", cards) if isinstance(cards, str) else cards
    kinds = [spelled_card(name) for name in names if name != ""]
    if len(kinds) != rules.tricks:
        count = f"{len(kinds)} card{'s' * (len(kinds) != 1)}"
        raise DealError(f"{count}: expected {rules.tricks} in this deck")
    check_deck(kinds, rules)
    return hand_bits(kinds)


def check_deck(kinds: list[int], rules: Rules) -> None:
    """Raise `DealError` unless all these kinds can be dealt from one deck of the rules."""
    for kind in kinds:
        if kind >= rules.kinds:
            raise DealError(f"{CARD_NAMES[kind]} is not in this {rules.cards}-card deck")
        if kinds.count(kind) > rules.copies:
            raise DealError(
                f"{CARD_NAMES[kind]} {kinds.count(kind)} times: expected at most {rules.copies} "
                f"time{'s' * (rules.copies > 1)}"
            )


def _worth(hand: int, rules: Rules, table: hand_table.HandTable, lead: int) -> Worth:
    """Return a hand's expected tricks and chances to make each bid, by strain.

    `hand` must be in the table. `lead` is an index of `LEADERS`.
    """
    row, suits = table.row(hand)
    worth: Worth = {}
    for strain, name in enumerate(rules.strains):
        if strain == LOW:
            row, suits = table.row(hand_table.mirrored(hand, rules.kinds))
        there = int(suits[strain]) if strain < len(suits) else NO_TRUMP
        chances = table.tricks[row, lead, there] / hand_table.SCALE
        figures = {"tricks": round(float((chances * range(len(chances))).sum()), 2)}
        for bid in rules.ladder:
            if bid.alone:
                chance = table.lone[row, lead, bid.exchange, there] / hand_table.SCALE
            else:
                chance = chances[bid.tricks or rules.tricks :].sum()
            figures[bid.name] = round(float(chance), 3)
        worth[name] = figures
    return worth
