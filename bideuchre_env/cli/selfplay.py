"""`bideuchre selfplay`: two agents against each other on duplicate deals."""

from __future__ import annotations

import argparse
import json
from typing import Any

from bideuchre_env.cli.options import add_game, check_agents, ending, game_of
from bideuchre_env.cli.progress import progress_bar
from bideuchre_env.errors import OptionError

DEFAULT_GAMES = 2000

_DESCRIPTION = """\
Partnerships of agent A against partnerships of agent B on duplicate deals: every deal is
played twice with the sides swapped, so the luck of the deal cancels. Points are A's minus B's,
with a 95 % confidence interval over the pairs. Where A and B have one name, B is shown as
NAME#2. Options of an agent may stand behind its name, as pimc:worlds=20,solved=4. Ctrl-C prints
what is finished."""


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "selfplay",
        help="play two agents against each other on duplicate deals",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_game(parser)
    parser.add_argument(
        "--agents",
        nargs=2,
        default=["rule", "random"],
        metavar=("A", "B"),
        help="who plays, each by name or as NAME:OPTION=VALUE,... (default: rule random)",
    )
    length = parser.add_mutually_exclusive_group()
    length.add_argument(
        "--hands", type=int, metavar="N", help="play N boards, each a single deal at two tables"
    )
    length.add_argument(
        "--games",
        type=int,
        metavar="N",
        help=f"play N whole games in pairs dealt alike (default: {DEFAULT_GAMES})",
    )
    parser.add_argument(
        "--out", metavar="FILE", help="where to write game records (default: a new file in runs/)"
    )
    parser.add_argument("--force", action="store_true", help="replace FILE if it exists")
    parser.add_argument("--no-records", action="store_true", help="write no game records")
    parser.add_argument("--json", action="store_true", help="print the result as one JSON object")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Play, and print the result; 130 if it was interrupted."""
    game = game_of(arguments)
    hands, games = arguments.hands, arguments.games
    if hands is None and games is None:
        games = DEFAULT_GAMES
    for name, number in (("--hands", hands), ("--games", games)):
        if number is not None and number < 1:
            raise OptionError(f"{name} {number}: 1 or more")
    if arguments.out is not None and arguments.no_records:
        raise OptionError("--out and --no-records exclude each other")
    check_agents(arguments.agents)
    from bideuchre_env.evaluation import selfplay

    unit = "games" if hands is None else "boards"
    with progress_bar(" - ".join(arguments.agents), unit) as progress:
        result = selfplay.play(
            game,
            *arguments.agents,
            hands=hands,
            games=games,
            seed=arguments.seed,
            out=None if arguments.no_records else _out(arguments, game.name),
            overwrite=arguments.force,
            progress=progress,
        )
    print(json.dumps(result.to_dict()) if arguments.json else result)
    return ending([result.unwritten] if result.unwritten else [], result.interrupted)


def _out(arguments: argparse.Namespace, game: str) -> str:
    if arguments.out is not None:
        return str(arguments.out)
    from bideuchre_env.records.files import file_stem, free_path

    words = ("selfplay", game, *arguments.agents, f"seed{arguments.seed}")
    return str(free_path("runs", file_stem(*words)))
