"""The command line of a script, made from its `Args`: an option a field, its default the field's.

The fields are numbers, paths, a path or None, bounds (a low and a high number) or None, yes or no,
or tuples of names; each has its `help` in its metadata.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from bideuchre_env.cli.program import exit_code
from bideuchre_env.runtime.interrupts import raising

Args = TypeVar("Args", bound="ScriptArgs")


class ScriptArgs:
    """The base of a script's `Args`, a dataclass."""

    @classmethod
    def parse(cls: type[Args], arguments: list[str] | None = None) -> Args:
        """The options of the command line, or of `arguments`.

        `--help` begins with the first line of the script's docstring. As with any command line of
        argparse, what cannot be read ends the script with code 2.
        """
        doc = str(sys.modules[cls.__module__].__doc__)
        parser = argparse.ArgumentParser(description=doc.partition("\n")[0])
        types = get_type_hints(cls)
        for option in fields(cls):  # type: ignore[arg-type]
            name, default = "--" + option.name.replace("_", "-"), option.default
            several, sense = isinstance(default, tuple), str(option.metadata["help"])
            if default is False:
                parser.add_argument(name, action="store_true", help=sense)
                continue
            if default is not None:
                shown = " ".join(default) if isinstance(default, tuple) else default
                sense += f" (default: {shown})"
            how: dict[str, Any] = {"nargs": "+", "metavar": "NAME"} if several else {"metavar": "X"}
            one = (*get_args(types[option.name]), types[option.name])[0]  # of a tuple, or not None
            if get_origin(one) is tuple:
                how, one = {"nargs": 2, "metavar": ("LOW", "HIGH")}, get_args(one)[0]
            parser.add_argument(name, type=one, default=default, help=sense, **how)
        parsed = vars(parser.parse_args(arguments))
        return cls(**{key: tuple(v) if isinstance(v, list) else v for key, v in parsed.items()})


def run(main: Callable[[Args], int], kind: type[Args], arguments: list[str] | None = None) -> int:
    """The exit code of a script: that of `main`, or of `exit_code` with a line on what was wrong.

    The first Ctrl-C raises `KeyboardInterrupt` in `main`.
    """
    with raising():
        return exit_code(lambda: main(kind.parse(arguments)), Path(sys.argv[0]).name)
