"""Deal boards for a club, to print or to load: `bideuchre boards`.

Deal the boards of a match, so that several tables play the same deals and compare their results.
The suffix of FILE selects the format:

.html is a page to print on A4 or US Letter paper: cards with the hands of each seat, to cut out;
for the director all hands, the exact tricks of every contract, the lone bids that make, and par;
and a table for the results. A game with a kitty has no tricks and no par.

.jsonl are game records, a deal each, as `reset` and `bideuchre advise` take them.

.ptn or .pbn is PTN text.

Board i is that of `bideuchre match` with the same rules and seed, so agents can play the boards.
The first dealer is South, seat 0. West, North and East are seats 1, 2 and 3. Par takes less than a
second per board, except with two decks and an exchange of cards: up to 20 seconds.

    bideuchre boards --variant barrie_v0 --number 16 --seed 5 --out boards.html
    bideuchre boards --variant barrie_v0 --number 16 --seed 5 --out boards.ptn
"""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bideuchre_env._checks import printable
from bideuchre_env._files import Output, write_file
from bideuchre_env.cli.options import add_rules, add_seed, argument, game_of, new_command
from bideuchre_env.cli.progress import progress_bar
from bideuchre_env.cli.screen import VARIANTS
from bideuchre_env.errors import OptionError

if TYPE_CHECKING:
    from bideuchre_env.records.record import GameRecord

MOST_BOARDS = 100


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = new_command(commands, "boards", run, __doc__, VARIANTS)
    add_rules(parser)
    argument(parser, "--number N", f"number of boards, up to {MOST_BOARDS}", int, 16)
    add_seed(parser)
    argument(parser, "--out FILE", "NAME.html, NAME.ptn, NAME.pbn or NAME.jsonl", required=True)
    argument(parser, "--force", "overwrite an existing FILE")


def run(arguments: argparse.Namespace) -> int:
    """Write the boards, and print the path; return 0."""
    from bideuchre_env.records.ptn import SUFFIXES

    number, out, game = arguments.number, arguments.out, game_of(arguments)
    if not 1 <= number <= MOST_BOARDS:
        raise OptionError(f"--number {number}: expected 1 to {MOST_BOARDS}")
    suffix, formats = Path(out).suffix.lower(), (".html", ".jsonl", *SUFFIXES)
    if suffix not in formats:
        raise OptionError(f"--out {printable(out)}: expected a name that ends in {_any(formats)}")
    from bideuchre_env.evaluation.seeding import deal_boards

    boards = deal_boards(game, number, arguments.seed)
    rules = ["--variant", game.name] if arguments.rules is None else ["--rules", arguments.rules]
    rules += [word for option in arguments.option for word in ("--option", option)]
    with Output(out, overwrite=arguments.force) as output:
        if suffix == ".html":
            text = _page(boards, shlex.join(rules), arguments.seed)
        elif suffix == ".jsonl":
            text = "".join(f"{board.dumps()}\n" for board in boards)
        else:
            text = _ptn(boards, f"bideuchre records check FILE {shlex.join(rules)}")
        write_file(output, text)
    print(f"{printable(out)}: {number} board{'s' * (number != 1)}")
    return 0


def _any(words: tuple[str, ...]) -> str:
    return f"{', '.join(words[:-1])} or {words[-1]}"


def _page(boards: list[GameRecord], rules: str, seed: int) -> str:
    from dataclasses import replace

    from bideuchre_env.analysis.deal_sheets import sheets_page
    from bideuchre_env.records.words import title
    from bideuchre_env.solver import Makeable, makeable

    results: list[Makeable | None] = []
    with progress_bar("boards", "boards", "boards") as progress:
        for board in boards:
            hand, game = board.hands[0], board.rules
            par = None if game.kitty else makeable(hand["deal"], game, hand["dealer"])
            results.append(par)
            progress(len(results), len(boards), len(results))
    options = f"{rules} --boards {len(boards)} --seed {seed}"
    note = f"Agents play these boards with bideuchre match A B {options}."
    return sheets_page(boards, results, title(replace(boards[0], seed=seed)), note)


def _ptn(boards: list[GameRecord], command: str) -> str:
    from bideuchre_env.records.ptn import deal_text

    events = (deal_text(board, f"Board {number}") for number, board in enumerate(boards, 1))
    return "\n".join((f"% The rules are not in this file: {printable(command)}\n", *events))
