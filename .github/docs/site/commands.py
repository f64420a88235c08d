"""The parser of the command `bideuchre` for the page of the commands."""

from argparse import ArgumentParser, RawDescriptionHelpFormatter

from bideuchre_env.cli.completion import commands_of
from bideuchre_env.cli.main import build_parser


def documented() -> ArgumentParser:
    """Return the parser with each description in one line; examples keep their lines."""
    parser = build_parser()
    for each in (parser, *commands_of(parser).values()):
        each.formatter_class = RawDescriptionHelpFormatter
        each.description = " ".join(str(each.description).split())
    return parser
