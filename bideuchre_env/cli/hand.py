"""`bideuchre hand`: what a hand is worth to a declarer in each strain, and what to bid with it."""

from __future__ import annotations

import argparse
import json
from typing import Any

from bideuchre_env._columns import columns
from bideuchre_env.cli.options import add_rules, game_of
from bideuchre_env.cli.screen import VARIANTS, folded, help_of
from bideuchre_env.evaluation.statistics.intervals import Interval, wilson
from bideuchre_env.rules.rules import Rules

_DESCRIPTION = """\
The tricks a hand takes as declarer and the chance to make each bid, in each strain. The figures are
from a table: the other cards were dealt many times and played out by the rule player. There are
tables for the decks of 24 and of 32 cards."""
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
    from bideuchre_env.agents.advice.contracts import would_bid
    from bideuchre_env.agents.expert.hand_worth import hand_worth

    game = game_of(arguments)
    rules = game.rules
    worth = hand_worth(arguments.cards, rules)
    bids = would_bid(worth.cards, rules)
    deals, absent = rests_on(worth.deals, rules), worth.leads_not_played
    if arguments.json:
        head = {"variant": game.name, "hand": worth.cards, **worth.by_leader}
        head["would_bid"] = bids
        print(json.dumps({**head, "rests_on": deals, "leads_not_played": absent}))
        return 0
    print(f"{' '.join(worth.cards)} as declarer in {game.name}")
    print(
        folded("By strain, the best first: the tricks to expect, and the chance to make each bid")
    )
    for leader, rows in worth.by_leader.items():
        print(f"\n{leader}:\n{table(rows)}")
    print(f"\n{bidding(bids)}\n\n" + "\n".join(remarks(deals, absent)))
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


def rests_on(deals: dict[str, int], rules: Rules) -> dict[str, dict[str, Any]]:
    """How many deals the chances rest on, the fewest and the most, and how far off they may be.

    Half the width of a chance's 95 % interval is given where it is widest, at a chance of a half,
    for each number of deals. A lone bid that was never won has the fewest deals, and its chance
    may be up to `none_won_high`; any other has the most.
    """
    partnered = [deals["first"], deals["first"] + deals["more"]]
    rests: dict[str, dict[str, Any]] = {
        "partnered": {"deals": partnered, "half_widths": [widest(n) for n in partnered]}
    }
    if any(bid.tricks is None for bid in rules.ladder):
        fewest, most = deals["first_alone"], deals["first_alone"] + deals["more_alone"]
        rests["lone"] = {
            "deals": [fewest, most],
            "none_won_high": round(chance(0, fewest).high or 0.0, 3),
            "half_width": widest(most),
        }
    return rests


def chance(made: int, deals: int) -> Interval:
    """The chance of what was made in some of the deals, with its 95 % interval."""
    return wilson(made, deals) or Interval(0.5, 0.0, 1.0)


def widest(deals: int) -> float:
    """Half the 95 % interval of a chance found in so many deals, where it is widest."""
    return round(chance(deals // 2, deals).half, 3)


def remarks(rests: dict[str, dict[str, Any]], absent: list[str]) -> list[str]:
    """How sure the figures are, and for which lead there are none."""
    few, many = rests["partnered"]["deals"]
    wide, narrow = rests["partnered"]["half_widths"]
    lines = [
        "How sure the chances are (half the width of their 95 % intervals, at most):",
        f"- with partner ±{wide:.0%}, from {few} deals of the other cards; ±{narrow:.0%} in the "
        f"best strains, from up to {many}",
    ]
    if "lone" in rests:
        few, many = rests["lone"]["deals"]
        lines.append(
            f"- alone ±{rests['lone']['half_width']:.0%}, from {many} deals; where none was won, "
            f"from {few}, it may be up to {rests['lone']['none_won_high']:.0%}"
        )
    lines += [
        f"This deck's table has no figures for when {lead}, as it may in this game."
        for lead in absent
    ]
    return [folded(line, "  " * line.startswith("-")) for line in lines]


def table(rows: dict[str, dict[str, float]]) -> str:
    """A column per strain, best first; the tricks, then the chance to make each bid."""
    from bideuchre_env.agents.expert.hand_worth import worth_rows

    return columns(worth_rows(rows), "l" + "r" * len(rows))
