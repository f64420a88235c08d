"""Play two agents against each other on duplicate deals: `bideuchre selfplay`.

Play partnerships of agent A against partnerships of agent B, and write the games to a file. Every
deal is played twice with the sides swapped, so that the luck of the cards cancels. Points per hand
are A's minus B's, with a 95 % confidence interval over the pairs. If A and B have the same name, B
is listed as NAME#2.

Ctrl-C or SIGTERM stops early: the finished games are written, and their result is printed.

    bideuchre selfplay
    bideuchre selfplay rule cautious --variant barrie_v0 --games 200
    bideuchre selfplay expert rule --boards 500 --out games.jsonl
"""

from __future__ import annotations

import argparse
import json
from typing import Any

from bideuchre_env._checks import MAX_NAME, brief
from bideuchre_env._files import TakenError
from bideuchre_env.cli.options import (
    add_rules,
    add_seed,
    argument,
    check_agents,
    game_of,
    new_command,
)
from bideuchre_env.cli.program import ending
from bideuchre_env.cli.progress import progress_bar
from bideuchre_env.cli.screen import AGENTS, VARIANTS
from bideuchre_env.errors import OptionError

DEFAULT_GAMES = 2000


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = new_command(commands, "selfplay", run, __doc__, VARIANTS, AGENTS)
    argument(parser, "agents A", "the two agents", default=["rule", "cautious"], nargs="*")
    add_rules(parser)
    add_seed(parser)
    length = parser.add_mutually_exclusive_group()
    argument(length, "--boards N", "play N boards, each a deal at two tables", int)
    meaning = "play N whole games, in pairs with the same deals; an odd N is rounded up"
    argument(length, "--games N", f"{meaning} (default: {DEFAULT_GAMES})", int)
    argument(parser, "--out FILE", "file of the game records (default: a new file in runs/)")
    argument(parser, "--force", "overwrite an existing FILE")
    argument(parser, "--no-records", "write no game records")
    argument(parser, "--json", "print the result as one JSON object")


def run(arguments: argparse.Namespace) -> int:
    """Play, and print the result; return `ending`: 1 after a failed write."""
    game = game_of(arguments)
    boards, games = arguments.boards, arguments.games
    if boards is None and games is None:
        games = DEFAULT_GAMES
    if arguments.out is not None and arguments.no_records:
        raise OptionError("--out, --no-records: expected only one of them")
    if len(arguments.agents) != 2:
        raise OptionError(f"agents={brief(arguments.agents)}: expected two agents")
    check_agents(arguments.agents)
    from bideuchre_env.evaluation import selfplay

    unit = "games" if boards is None else "boards"
    result = None
    while result is None:
        with progress_bar(" against ".join(arguments.agents), unit) as progress:
            try:
                result = selfplay.play(
                    game,
                    *arguments.agents,
                    boards=boards,
                    games=games,
                    seed=arguments.seed,
                    out=None if arguments.no_records else _out(arguments, game.name),
                    overwrite=arguments.force,
                    progress=progress,
                )
            except TakenError:  # another run has just taken that name: use the next free one
                if arguments.out is not None:
                    raise
    print(json.dumps(result.to_dict()) if arguments.json else result)
    return ending([result.unwritten] if result.unwritten else [], result.interrupted)


def _out(arguments: argparse.Namespace, game: str) -> str:
    if arguments.out is not None:
        return str(arguments.out)
    from bideuchre_env.records.files import file_stem, free_path

    agents = (name[-MAX_NAME:] for name in arguments.agents)  # a path may be of any length
    words = ("selfplay", game, *agents, f"seed{arguments.seed}")
    return str(free_path("runs", file_stem(*words)))
