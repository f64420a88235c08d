"""The command line, called in this process."""

from __future__ import annotations

from bideuchre_env.cli.main import main


def run(*arguments: str) -> int:
    """The exit code of a command."""
    try:
        return main(list(arguments))
    except SystemExit as end:
        return int(end.code or 0)
