"""`bideuchre hand`: what a hand is worth to a declarer in each strain, and what to bid with it."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any

from bideuchre_env._columns import columns
from bideuchre_env.cli.options import add_rules, game_of
from bideuchre_env.cli.screen import VARIANTS, folded, help_of
from bideuchre_env.rules.rules import Rules

if TYPE_CHECKING:
    from bideuchre_env.agents.expert.hand_worth import HandWorth

_DESCRIPTION = """\
The tricks a hand takes as declarer and the chance to make each bid, in each strain. The figures are
from a table: the other cards were dealt many times and played out by the rule player. There are
tables for the decks of 16, 20, 24 and 32 cards."""
_EXAMPLES = (
    'bideuchre hand "JH JD AH KH QS 9C"',
    'bideuchre hand "JS JS JC AS KS AH AD QS" --variant barrie_v0',
)


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "hand",
        help="print what a hand is worth in each strain",
        **help_of(_DESCRIPTION, _EXAMPLES, VARIANTS),
    )
    parser.add_argument("cards", metavar="CARDS", help='the hand, as "JH JD AH KH QS 9C"')
    add_rules(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the tables."""
    from bideuchre_env.agents.advice.position import would_bid
    from bideuchre_env.agents.expert.hand_worth import hand_worth

    game = game_of(arguments)
    rules = game.rules
    worth = hand_worth(arguments.cards, rules)
    bids = would_bid(worth.cards, rules)
    rests, absent = rests_on(worth, rules), worth.leads_not_played
    if arguments.json:
        head = {"variant": game.name, "hand": worth.cards, **worth.by_leader}
        head["would_bid"] = bids
        print(json.dumps({**head, "rests_on": rests, "leads_not_played": absent}))
        return 0
    print(f"{' '.join(worth.cards)} as declarer in {game.name}")
    print(
        folded("By strain, the best first: the tricks to expect, and the chance to make each bid")
    )
    for leader, rows in worth.by_leader.items():
        print(f"\n{leader}:\n{table(rows)}")
    print(f"\n{bidding(bids)}\n\n" + "\n".join(remarks(rests, absent)))
    return 0


def bidding(bids: dict[str, str]) -> str:
    """Which contract the expert would bid, in a line."""
    when: dict[str, list[str]] = {}
    for place, bid in bids.items():
        when.setdefault(bid, []).append(place)
    said = [
        f"{'' if bid == 'pass' else 'bid '}{bid} if {' or '.join(places)}"
        for bid, places in when.items()
    ]
    return folded(f"At 0-0 the expert would {', and '.join(said)}.")


def rests_on(worth: HandWorth, rules: Rules) -> dict[str, Any]:
    """How sure the chances are; of lone bids only where the game has some."""
    sure = dict(worth.half_widths)
    if all(bid.tricks is not None for bid in rules.ladder):
        del sure["lone"]
    return {"half_widths": sure, "deals": worth.deals}


def remarks(rests: dict[str, Any], absent: list[str]) -> list[str]:
    """How sure the figures are, and for which lead there are none."""
    sure = rests["half_widths"]
    alone = f", ±{sure['lone']:.0%} alone" if "lone" in sure else ""
    lines = [
        "How sure the chances are (half the width of their 95 % intervals, at most):",
        f"- in the three best strains ±{sure['partnered']:.0%} with partner{alone}",
        f"- in the others ±{sure['others']:.0%}, from {rests['deals']} deals",
        "A chance of 0% or 100% may be twice as far off, to the one side there is.",
    ]
    lines += [
        f"This deck's table has no figures for when {lead}, as it may in this game."
        for lead in absent
    ]
    return [folded(line, "  " * line.startswith("-")) for line in lines]


def table(rows: dict[str, dict[str, float]]) -> str:
    """A column per strain, best first; the tricks, then the chance to make each bid."""
    from bideuchre_env.agents.expert.hand_worth import worth_rows

    return columns(worth_rows(rows), "l" + "r" * len(rows))
