"""The `bideuchre` command: parsing imports nothing heavy, a command does when it runs."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from bideuchre_env import __version__
from bideuchre_env.cli import bench, compile, hand, match, records, selfplay, variants
from bideuchre_env.cli.options import INTERRUPTED
from bideuchre_env.errors import BidEuchreError

USAGE, BROKEN_PIPE = 2, 141
COMMANDS = (selfplay, match, variants, records, hand, bench, compile)


class Parser(argparse.ArgumentParser):
    """An `ArgumentParser` whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong and where help is, and exit."""
        self.exit(USAGE, f"{self.prog}: error: {message} (see {self.prog} --help)\n")


def build_parser() -> argparse.ArgumentParser:
    """The parser of every command; each command sets `run`, which takes the parsed arguments."""
    parser = Parser(
        prog="bideuchre",
        description="The Bid Euchre family of card games: self-play, matches, game records, rules.",
    )
    parser.add_argument("--version", action="version", version=f"bideuchre_env {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for module in COMMANDS:
        module.add(commands)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; the exit code. Bad input is one line on stderr and exit code 2."""
    parsed = build_parser().parse_args(arguments)
    try:
        code: int = parsed.run(parsed)
        sys.stdout.flush()
        return code
    except BidEuchreError as error:
        print(f"bideuchre: error: {error}", file=sys.stderr)
        return USAGE
    except KeyboardInterrupt:
        print("bideuchre: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # the reader has gone (`bideuchre show games.jsonl | head`): nothing more to say
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE


if __name__ == "__main__":
    sys.exit(main())
