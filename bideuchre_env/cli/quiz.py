"""Write a page of questions for a class, with answers: `bideuchre quiz`.

Write a printable page, one HTML file without a script: what do you bid, what do you play? The
positions come from games of the agent expert against itself: calls, strains to name, leads, and
cards of defenders against a lone bid. In each, one choice is clearly the best, but not by much. The
answers are on a page of their own at the end, with the expected points of the best choices from
sampled deals of the hidden cards.

    bideuchre quiz --variant barrie_v0 --hands 6 --out quiz.html
    bideuchre quiz --variant six_card_v0 --kind bid --seed 2 --out bids.html
"""

from __future__ import annotations

import argparse
from math import ceil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bideuchre_env._checks import printable
from bideuchre_env._files import Output, write_file
from bideuchre_env._quitting import before_quitting
from bideuchre_env.cli.options import add_rules, add_seed, argument, game_of, new_command
from bideuchre_env.cli.progress import announce_compiling, compiling_bar, progress_bar
from bideuchre_env.cli.screen import VARIANTS
from bideuchre_env.errors import OptionError

PLAYER = "expert"
REVIEWER = "expert:goal=points"
MOST_HANDS = 50
DEALT = 40
"""Hands played for each question."""


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = new_command(commands, "quiz", run, __doc__, VARIANTS)
    add_rules(parser)
    argument(parser, "--hands N", f"number of questions, up to {MOST_HANDS}", int, 8)
    meaning = "questions on calls and strains, on cards, or on both"
    argument(parser, "--kind", meaning, default="both", choices=("bid", "play", "both"))
    argument(parser, "--worlds N", "sampled deals of each position, 1 to 10,000", int, 200)
    add_seed(parser)
    argument(parser, "--out FILE", "the page to write", required=True)
    argument(parser, "--force", "overwrite an existing FILE")


def run(arguments: argparse.Namespace) -> int:
    """Write the page, and print its path; return 0.

    Raises `OptionError` if the games do not have enough positions with a clear best choice.
    """
    hands, game = arguments.hands, game_of(arguments)
    if not 1 <= hands <= MOST_HANDS:
        raise OptionError(f"--hands {hands}: expected 1 to {MOST_HANDS}")
    from bideuchre_env.evaluation.kernel_parts import advice_parts

    parts = advice_parts([PLAYER, REVIEWER])
    announce_compiling(parts)
    from bideuchre_env.agents.advice import Advisor
    from bideuchre_env.analysis.quiz import PART, Question, choose, quiz_page
    from bideuchre_env.evaluation.match import match
    from bideuchre_env.records.files import read_played

    seed, questions = arguments.seed, list[Question]()
    output, folder = Output(arguments.out, overwrite=arguments.force), TemporaryDirectory()
    with output, folder, before_quitting(folder.cleanup):
        with compiling_bar(parts):
            advisor, first = (
                Advisor(game.rules, REVIEWER, worlds=worlds, seed=seed)
                for worlds in (arguments.worlds, ceil(PART * arguments.worlds))
            )
        records = Path(folder.name) / "games.jsonl"
        boards = hands * DEALT
        match(game, PLAYER, PLAYER, boards=boards, seed=seed, records=records)
        # both tables of a board have the same cards, and here the same play
        played = [each for _, (each, *_) in read_played(records)][::2]
        with progress_bar("quiz", "questions", "positions") as progress:
            tries = choose(played, first, advisor, kind=arguments.kind, seed=seed)
            for tried, question in enumerate(tries, 1):
                questions += [] if question is None else [question]
                progress(len(questions), hands, tried)
                if len(questions) == hands:
                    break
        if len(questions) < hands:
            raise OptionError(
                f"--hands {hands}: expected up to {len(questions)}, the clear choices in "
                f"{boards} hands; more --worlds make more choices clear"
            )
        made = f"--kind {arguments.kind} --worlds {arguments.worlds} --seed {seed}"
        note = f"Positions from games of the agent {PLAYER}. Made by bideuchre quiz with {made}."
        write_file(output, quiz_page(questions, game.rules, game.name, note))
    print(f"{printable(arguments.out)}: {hands} questions, answers at the end")
    return 0
