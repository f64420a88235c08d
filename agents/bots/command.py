"""The command of a bot: its words, and the files among them."""

from __future__ import annotations

import os
import shlex
import shutil
import sys

from bideuchre_env._checks import brief, check_type
from bideuchre_env.errors import OptionError


def split_command(command: str) -> list[str]:
    """Return the program's path and its arguments, split at blanks as a shell does.

    Raises `OptionError` for unbalanced quotes, and if there is no such program.
    """
    check_type("command", command, str, "a program and its arguments, as ./bot --level 3")
    windows = os.name == "nt"  # where a backslash separates folders
    try:
        words = shlex.split(command, posix=not windows)
    except ValueError as error:
        raise OptionError(f"command={brief(command)}: {str(error).lower()}") from None
    if windows:
        words = [word.strip('"') for word in words]
    if not words:
        raise OptionError(f"command={brief(command)}: expected a program, as cmd:./bot --level 3")
    program = shutil.which(words[0])
    if program is None:
        reason = "there is no such program"
        if os.path.isfile(words[0]):
            reason = "this file is not executable: name its interpreter too, as cmd:python bot.py"
        raise OptionError(f"command={brief(command)}: {words[0]}: {reason}")
    return [program, *words[1:]]


def command_files(command: str) -> list[str]:
    """Return the program's path and the files among its arguments (also in `--name=FILE`).

    The Python that runs this process is left out.
    """
    words = split_command(command)
    words += [word.partition("=")[2] for word in words]
    python = os.path.realpath(sys.executable)
    return [word for word in words if os.path.isfile(word) and os.path.realpath(word) != python]
