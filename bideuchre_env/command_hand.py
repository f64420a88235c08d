"""`bideuchre hand`: what a hand is worth to a declarer in each strain."""

from __future__ import annotations

import argparse
import json
import re
from typing import Any

from bideuchre_env.cards import CARD_NAMES, STRAINS, hand_bits, hand_names, parse_card
from bideuchre_env.command_selfplay import add_rules, variant_of
from bideuchre_env.errors import DealError, OptionError, shown
from bideuchre_env.rules import Rules

LEADERS = {0: "the declarer leads", 1: "another seat leads"}


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "hand",
        help="what a hand is worth in each strain",
        description="The tricks a hand takes as declarer, the chance of each bid, and of each "
        "lone bid, by strain: from deals of the other cards played out by the rule player.",
    )
    parser.add_argument("cards", metavar="CARDS", help='the hand, as "JH JD AH KH QS 9C"')
    add_rules(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the tables."""
    rules = variant_of(arguments.variant, arguments.option).rules
    hand = parse_hand(arguments.cards, rules)
    worth = hand_worth(hand, rules)
    if arguments.json:
        print(json.dumps({"variant": arguments.variant, "hand": hand_names(hand), **worth}))
        return 0
    print(f"{' '.join(hand_names(hand))} as declarer in {arguments.variant}")
    for leader, rows in worth.items():
        print(f"\n{leader}:\n{table(rows)}")
    return 0


def parse_hand(text: str, rules: Rules) -> int:
    """A hand number from card names; `DealError` unless it is a hand of this deck."""
    kinds = [
        parse_card(name.upper().replace("10", "T")) for name in re.split(r"[\s,]+", text) if name
    ]
    if len(kinds) != rules.tricks:
        raise DealError(f"{len(kinds)} cards, and a hand of this deck has {rules.tricks}")
    for kind in kinds:
        if kind >= rules.kinds:
            raise DealError(f"{CARD_NAMES[kind]} is not in this {rules.cards}-card deck")
        if kinds.count(kind) > rules.copies:
            raise DealError(
                f"{CARD_NAMES[kind]} {kinds.count(kind)} times: this deck has it {rules.copies} "
                f"time{'s' * (rules.copies > 1)}"
            )
    return hand_bits(kinds)


def hand_worth(hand: int, rules: Rules) -> dict[str, dict[str, dict[str, float]]]:
    """By who leads first, then strain: expected tricks, and the chance of each bid of the ladder.

    Chances are of the tricks of a partnered bid, and of all the tricks for a lone one. Raises
    `OptionError` for a deck there is no table for.
    """
    from bideuchre_env.agents.hand_table import DECKS, SCALE, hand_table

    found = hand_table(rules.kinds, rules.copies)
    if found is None:
        decks = " and ".join(str(kinds * copies) for kinds, copies in DECKS)
        raise OptionError(
            f"no table for this deck of {rules.cards} cards, {shown(rules.copies)} of each: there "
            f"are tables for the decks of {decks} cards"
        )
    row, suits = found.row(hand)
    worth: dict[str, dict[str, dict[str, float]]] = {}
    for lead in range(found.tricks.shape[1]):
        if lead == 1 and rules.opening_lead == "declarer":
            continue
        rows = worth[LEADERS[lead]] = {}
        for strain, name in enumerate(STRAINS):
            there = int(suits[strain]) if strain < len(suits) else strain
            chances = found.tricks[row, lead, there] / SCALE
            cells = {"tricks": round(float((chances * range(len(chances))).sum()), 2)}
            for bid in rules.ladder:
                if bid.tricks is None:
                    chance = found.lone[row, lead, bid.exchange, there] / SCALE
                else:
                    chance = chances[bid.tricks :].sum()
                cells[bid.name] = round(float(chance), 3)
            rows[name] = cells
    return worth


def table(rows: dict[str, dict[str, float]]) -> str:
    """A row a strain, best first; a column a bid, as the chance to make it."""
    ordered = sorted(rows.items(), key=lambda row: -row[1]["tricks"])
    heads = ["strain", *ordered[0][1]]
    lines = [heads]
    for strain, cells in ordered:
        line = [
            f"{value:.2f}" if name == "tricks" else f"{value:.0%}" for name, value in cells.items()
        ]
        lines.append([strain, *line])
    widths = [max(len(line[i]) for line in lines) for i in range(len(heads))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if i == 0 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )
