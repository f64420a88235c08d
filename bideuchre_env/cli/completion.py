"""Scripts that complete commands, options, names and files in a shell, by the library shtab."""

from __future__ import annotations

import argparse

from bideuchre_env import agents
from bideuchre_env._install import how_to_install
from bideuchre_env.errors import OptionError
from bideuchre_env.rules.variants import RULES


def completion_script(parser: argparse.ArgumentParser, shell: str) -> str:
    """Return the script for a shell; it changes the parser, which then is of no other use.

    The metavar of an argument decides what completes it: the names of agents, those of variants, a
    file or a folder. Raises `OptionError` without the extra `completion`.
    """
    try:
        import shtab
    except ModuleNotFoundError:
        raise OptionError(
            f"--print-completion needs shtab: {how_to_install('completion')}"
        ) from None
    for command, subparser in commands_of(parser).items():
        variants, players = list(RULES), agents.names()
        names = variants if command == "variants" else players
        choices = {"V": variants, "GAME": variants, "A": players, "B": players, "NAME": names}
        files = {"FILE": shtab.FILE, "OUT": shtab.FILE, "FOLDER": shtab.DIRECTORY}
        for action in subparser._actions:
            metavar = action.metavar[0] if isinstance(action.metavar, tuple) else action.metavar
            if metavar in choices:
                action.choices = choices[metavar]
            elif metavar in files:
                action.complete = files[metavar]  # type: ignore[attr-defined]
    return str(shtab.complete(parser, shell))


def commands_of(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """Return the parsers of the commands by name, as "match" and "records check"."""
    parsers: dict[str, argparse.ArgumentParser] = {}
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, command in action.choices.items():
                own = {f"{name} {each}": one for each, one in commands_of(command).items()}
                parsers |= {name: command} | own
    return parsers
