"""`bideuchre hand`: what a hand is worth to a declarer in each strain."""

from __future__ import annotations

import argparse
import json
import re
from typing import Any

from bideuchre_env._checks import shown
from bideuchre_env.cli.options import add_rules, variant_of
from bideuchre_env.errors import DealError, OptionError
from bideuchre_env.evaluation.statistics.intervals import Interval, wilson
from bideuchre_env.rules.cards import CARD_NAMES, STRAINS, hand_bits, hand_names, parse_card
from bideuchre_env.rules.rules import Rules

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
    worth, deals, absent = hand_worth(hand, rules), rests_on(rules), leads_not_played(rules)
    if arguments.json:
        told = {"variant": arguments.variant, "hand": hand_names(hand), **worth}
        print(json.dumps({**told, "rests_on": deals, "leads_not_played": absent}))
        return 0
    print(f"{' '.join(hand_names(hand))} as declarer in {arguments.variant}")
    for leader, rows in worth.items():
        print(f"\n{leader}:\n{table(rows)}")
    print("\n" + "\n".join(remarks(deals, absent)))
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
    from bideuchre_env.agents.expert.hand_table import SCALE

    found = table_of(rules)
    row, suits = found.row(hand)
    worth: dict[str, dict[str, dict[str, float]]] = {}
    for lead in range(found.tricks.shape[1]):
        if lead not in leads_of(rules):
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


def table_of(rules: Rules) -> Any:
    """The `HandTable` of this deck; raises `OptionError` if there is none."""
    from bideuchre_env.agents.expert.hand_table import DECKS, hand_table

    found = hand_table(rules.kinds, rules.copies)
    if found is None:
        decks = " and ".join(str(kinds * copies) for kinds, copies in DECKS)
        raise OptionError(
            f"no table for this deck of {rules.cards} cards, {shown(rules.copies)} of each: there "
            f"are tables for the decks of {decks} cards"
        )
    return found


def leads_of(rules: Rules) -> tuple[int, ...]:
    """Who may lead first in this game, of `LEADERS`; the eldest hand may be the declarer."""
    return (0,) if rules.opening_lead == "declarer" else (0, 1)


def leads_not_played(rules: Rules) -> list[str]:
    """The leads of this game that this deck's table was not made with."""
    played = table_of(rules).tricks.shape[1]
    return [LEADERS[lead] for lead in leads_of(rules) if lead >= played]


def rests_on(rules: Rules) -> dict[str, dict[str, Any]]:
    """How many deals the chances rest on, the fewest and the most, and how far off they may be.

    Half the width of a chance's 95 % interval is given where it is widest, at a chance of a half,
    for each number of deals. A lone bid that was never won has the fewest deals, and its chance
    may be up to `none_won_high`; any other has the most.
    """
    from bideuchre_env.agents.expert.hand_table import provenance

    deals = provenance()["deals"]
    partnered = [deals["first"], deals["first"] + deals["more"]]
    told: dict[str, dict[str, Any]] = {
        "partnered": {"deals": partnered, "half_widths": [widest(n) for n in partnered]}
    }
    if any(bid.tricks is None for bid in rules.ladder):
        fewest, most = deals["first_alone"], deals["first_alone"] + deals["more_alone"]
        told["lone"] = {
            "deals": [fewest, most],
            "none_won_high": round(chance(0, fewest).high or 0.0, 3),
            "half_width": widest(most),
        }
    return told


def chance(made: int, deals: int) -> Interval:
    """The chance of what was made in some of the deals, with its 95 % interval."""
    return wilson(made, deals) or Interval(0.5, 0.0, 1.0)


def widest(deals: int) -> float:
    """Half the 95 % interval of a chance found in so many deals, where it is widest."""
    return round(chance(deals // 2, deals).half, 3)


def remarks(rests: dict[str, dict[str, Any]], absent: list[str]) -> list[str]:
    """What to know of the figures: how sure they are, and for which lead there are none."""
    few, many = rests["partnered"]["deals"]
    wide, narrow = rests["partnered"]["half_widths"]
    lines = [
        "how sure the chances are, by half their 95 % intervals, at the widest:",
        f"with partner ±{wide:.0%}, from {few} deals of the other cards, to ±{narrow:.0%} in the "
        f"strains near the best, from up to {many}",
    ]
    if "lone" in rests:
        few, many = rests["lone"]["deals"]
        lines.append(
            f"alone ±{rests['lone']['half_width']:.0%}, from {many} deals; where none was won, "
            f"from {few}, it may be up to {rests['lone']['none_won_high']:.0%}"
        )
    lines += [
        f"this deck's table has no figures for when {lead}, as it may in this game"
        for lead in absent
    ]
    return lines


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
