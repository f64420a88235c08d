"""`bideuchre prepare`: let the agents learn a game of your own rules."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from bideuchre_env._columns import columns
from bideuchre_env.cli.options import add_option, variant_of
from bideuchre_env.cli.screen import VARIANTS, folded, help_of

_DESCRIPTION = """\
Let the agents learn a game that is none of the package's own: expert its calls, net its calls and
cards. It takes some ten minutes of one processor core. What comes of it is kept in your cache
folder, and every agent that is asked for these rules uses it from then on; what is no better than
what was there before is left out. Ctrl-C ends it; the same command goes on.

Without a game, it lists what is prepared."""
_EXAMPLES = (
    "bideuchre prepare farm.toml",
    "bideuchre prepare cincinnati_v0 --option target=40",
    "bideuchre prepare",
)


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "prepare",
        help="let the agents learn a game of your own rules",
        **help_of(_DESCRIPTION, _EXAMPLES, VARIANTS),
    )
    parser.add_argument(
        "game", nargs="?", metavar="GAME", help="a file of rules (.toml), or a variant to change"
    )
    add_option(parser)
    parser.add_argument(
        "--hands",
        type=int,
        default=300_000,
        metavar="N",
        help="hands of the first round of cards; all else goes by it (default: 300000)",
    )
    parser.add_argument(
        "--seed", type=int, default=0, metavar="S", help="same seed, same hands (default: 0)"
    )
    parser.add_argument("--force", action="store_true", help="prepare what is prepared already")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Prepare the game, and say what it brought."""
    if arguments.game is None:
        return list_prepared()
    from bideuchre_env.cli.progress import progress_bar
    from bideuchre_env.preparing.prepare import Preparation

    given = Path(arguments.game) if arguments.game.endswith(".toml") else arguments.game
    game = variant_of(given, arguments.option)
    asked = Preparation(
        game, arguments.hands, seed=arguments.seed, bar=progress_bar, report=print_now
    )
    for each in asked.run(again=arguments.force):
        low, mean, high = each.points.low or 0.0, each.points.mean, each.points.high or 0.0
        more = f"{mean:+.2f} points per hand over {each.over} ({low:+.2f} to {high:+.2f})"
        kept = f"kept in {each.file}" if each.kept else "left out: what was there is as good"
        print(f"{each.kind}: {more}, {kept}")
    return 0


def print_now(line: str) -> None:
    """Print a line, at once even into a file."""
    print(line, flush=True)


def list_prepared() -> int:
    """Print what is prepared on this machine."""
    from bideuchre_env.agents.prepared import prepared_folder
    from bideuchre_env.learning.weights import read_weights

    folder = prepared_folder()
    rows = []
    for file in sorted(folder.glob("*.safetensors")):
        made = read_weights(file).metadata
        rows.append([made["variant"], made["kind"], file.name, made["command"]])
    if not rows:
        print(f"nothing is prepared in {folder}")
        return 0
    print(columns([["game", "agent", "file", "made by"], *rows], "llll"))
    print("\n" + folded(f"They are in {folder}; an agent whose file is deleted plays as before."))
    return 0
