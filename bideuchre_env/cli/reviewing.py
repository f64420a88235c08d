"""`bideuchre show --analyse`: games gone over by an agent, on the terminal or on a page."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING

from bideuchre_env.cli.options import check_agents
from bideuchre_env.cli.progress import progress_bar
from bideuchre_env.errors import OptionError

if TYPE_CHECKING:
    from bideuchre_env.analysis import Review
    from bideuchre_env.records.record import GameRecord

AGENT = "inference"

Reviewer = Callable[[int, "GameRecord"], "Review"]


def add_review(parser: argparse.ArgumentParser) -> None:
    """Add the options of a review; `reviewer_of` reads them."""
    parser.add_argument(
        "--analyse",
        action="store_true",
        help="go over each game: mistakes by what was known, in words, and what was bad luck; "
        "with --html they are marked on the page",
    )
    parser.add_argument(
        "--agent", metavar="A", help=f"with --analyse: who goes over it (default: {AGENT})"
    )
    parser.add_argument(
        "--worlds",
        type=int,
        metavar="N",
        help="with --analyse: deals of the unseen cards that each choice is tried in (default: "
        "200); more find smaller mistakes, and take longer",
    )


def reviewer_of(arguments: argparse.Namespace) -> Reviewer | None:
    """Goes over a game by its number, with a bar on stderr; None where no review is asked for."""
    if not arguments.analyse:
        for name in ("agent", "worlds"):
            if getattr(arguments, name) is not None:
                raise OptionError(f"--{name}: it goes with --analyse")
        return None
    agent = AGENT if arguments.agent is None else arguments.agent
    check_agents([agent])

    def reviewed(number: int, record: GameRecord) -> Review:
        from bideuchre_env.analysis import review

        chosen = {hand - 1 for hand in arguments.hand or []}
        hands = chosen & set(range(len(record.hands))) if chosen else None
        with progress_bar(f"game {number}, by {agent}", "actions") as progress:
            return review(record, agent, worlds=arguments.worlds, hands=hands, progress=progress)

    return reviewed
