"""The parser of the command `bideuchre` for the page of the commands."""

from argparse import ArgumentParser, RawDescriptionHelpFormatter, _SubParsersAction

from bideuchre_env.cli.main import build_parser


def documented() -> ArgumentParser:
    """Return the parser with each description in one line; examples keep their lines."""
    parser = build_parser()
    [commands] = (each for each in parser._actions if isinstance(each, _SubParsersAction))
    for each in (parser, *commands.choices.values()):
        each.formatter_class = RawDescriptionHelpFormatter
        each.description = " ".join(str(each.description).split())
    return parser
