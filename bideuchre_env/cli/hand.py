"""Print the tricks and chances of a hand in each strain: `bideuchre hand`.

Print the expected tricks of a hand as declarer, and the chance to make each bid, in each strain.
The figures come from a table made by simulation: many deals of the other cards, played out by the
agent rule. There are tables for decks of 16, 20, 24 and 32 cards.

    bideuchre hand "JH JD AH KH QS 9C"
    bideuchre hand "JS JS JC AS KS AH AD QS" --variant barrie_v0
"""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING, Any

from bideuchre_env._columns import columns
from bideuchre_env.cli.options import add_rules, argument, game_of, new_command
from bideuchre_env.cli.progress import announce_compiling, compiling_bar
from bideuchre_env.cli.screen import VARIANTS, folded

if TYPE_CHECKING:
    from bideuchre_env.rules.rules import Rules


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = new_command(commands, "hand", run, __doc__, VARIANTS)
    argument(parser, "cards CARDS", 'the hand, as "JH JD AH KH QS 9C"')
    add_rules(parser)
    argument(parser, "--json", "print one JSON object")


def run(arguments: argparse.Namespace) -> int:
    """Print the tables of a hand and the expert's bids, or their JSON; return 0."""
    from bideuchre_env.agents.expert.hand_worth import hand_worth, worth_rows

    game = game_of(arguments)
    worth = hand_worth(arguments.cards, game.rules)
    sure = dict(worth.half_widths)
    if all(bid.tricks is not None for bid in game.rules.ladder):
        del sure["lone"]  # the game has no lone bids
    if arguments.json:
        bids = _bids(worth.cards, game.rules)
        head = {"variant": game.name, "hand": worth.cards, **worth.by_leader, "would_bid": bids}
        rests = {"half_widths": sure, "deals": worth.deals}
        absent = worth.leads_not_played
        print(json.dumps({**head, "rests_on": rests, "leads_not_played": absent}))
        return 0
    print(f"{' '.join(worth.cards)} as declarer in {game.name}")
    print(folded("By strain, the best first: expected tricks, and the chance to make each bid"))
    for leader, rows in worth.by_leader.items():
        print(f"\n{leader}:\n{columns(worth_rows(rows), 'l' + 'r' * len(rows))}")
    print()
    alone = f", ±{sure['lone']:.0%} alone" if "lone" in sure else ""
    lines = [
        "Margin of error of the chances (95 %):",
        f"- in the three best strains ±{sure['partnered']:.0%} with partner{alone}",
        f"- in the others ±{sure['others']:.0%}, from {worth.deals} deals",
        "At 0% and 100% the error may be twice as large.",
    ]
    lines.append(
        "The chances are those in all deals, whatever the others called, played by agent rule. "
        "Those of `bideuchre advise` are for deals that fit the calls, played by stronger agents."
    )
    for lead in worth.leads_not_played:
        lines.append(f"The table has no figures for when {lead}, which this game allows.")
    for line in lines:
        print(folded(line, "  " * line.startswith("-")))
    sys.stdout.flush()
    print(f"\n{bidding(_bids(worth.cards, game.rules))}")
    return 0


def _bids(cards: list[str], rules: Rules) -> dict[str, str]:
    """Return `would_bid`; the import and the kernels of the expert take longer than the tables."""
    announce_compiling(["expert"])
    with compiling_bar(["expert"]):
        from bideuchre_env.agents.advice.would_bid import would_bid

    return would_bid(cards, rules)


def bidding(bids: dict[str, str]) -> str:
    """Return a sentence on the expert's bids; `bids` has the bid by situation (`would_bid`)."""
    when: dict[str, list[str]] = {}
    for place, bid in bids.items():
        when.setdefault(bid, []).append(place)
    calls = [
        f"{'' if bid == 'pass' else 'bid '}{bid} if {' or '.join(places)}"
        for bid, places in when.items()
    ]
    return folded(f"At 0-0 the expert would {', and '.join(calls)}.")
