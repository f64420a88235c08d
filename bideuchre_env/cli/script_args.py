"""Command lines of scripts from a dataclass `Args`: each field is an option with its default.

A field is a number, a path, a path or text or None, bounds (a low and a high number) or None, a
bool, or a tuple of names. Its metadata has its `help`, and optionally a `metavar`.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Callable, Iterable
from dataclasses import field, fields
from pathlib import Path
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from bideuchre_env.cli.options import argument
from bideuchre_env.cli.program import script
from bideuchre_env.cli.screen import script_help

Args = TypeVar("Args", bound="ScriptArgs")


def option(default: Any, meaning: str, *, metavar: str | None = None) -> Any:
    """Return a field of `Args` with its default, its help text, and its metavar."""
    metadata = {"help": meaning} if metavar is None else {"help": meaning, "metavar": metavar}
    return field(default=default, metadata=metadata)


def dashed(name: str) -> str:
    """Return the option of a field: `lambda_` is `--lambda`."""
    return "--" + name.rstrip("_").replace("_", "-")


class ScriptArgs:
    """Base class of a script's dataclass `Args`."""

    @classmethod
    def parse(cls: type[Args], arguments: list[str] | None = None, prog: str | None = None) -> Args:
        """Parse the options of the command line, or of `arguments`; `prog` is the program's name.

        `--help` has the first line of the script's docstring, and its examples. As usual with
        argparse, an invalid command line ends the script with exit code 2.
        """
        doc, types = sys.modules[cls.__module__].__doc__, get_type_hints(cls)
        parser = argparse.ArgumentParser(prog, **script_help(doc))
        for option in fields(cls):  # type: ignore[arg-type]
            name, default = dashed(option.name), option.default
            kind = (*get_args(types[option.name]), types[option.name])[0]  # of a tuple, or not None
            value, more = option.metadata.get("metavar", "PATH" if kind is Path else "N"), {}
            if default is False:
                value = ""
            elif isinstance(default, tuple):
                value, default, more = "NAME", list(default), {"nargs": "+"}
            elif get_origin(kind) is tuple:
                value, kind = "LOW HIGH", get_args(kind)[0]
            meaning = str(option.metadata["help"])
            argument(parser, f"{name} {value}", meaning, kind, default, dest=option.name, **more)
        parsed = vars(parser.parse_args(arguments))
        return cls(**{key: tuple(v) if isinstance(v, list) else v for key, v in parsed.items()})

    def command(self, script: str, names: Iterable[str], **changes: object) -> str:
        """Return the command line that runs a script with the options of these fields.

        `changes` are values by field that replace the values of `self`: `games="club_v0"`.
        """
        words = ["python", script]
        for name in names:
            value = changes.get(name, getattr(self, name))
            if value is not False:
                words.append(dashed(name))
            if not isinstance(value, bool):
                words += map(str, value) if isinstance(value, tuple) else [str(value)]
        return shlex.join(words)


def run(
    main: Callable[[Args], int],
    kind: type[Args],
    arguments: list[str] | None = None,
    prog: str | None = None,
) -> int:
    """Run a script; return the exit code of `main`, or of an error, which is printed."""
    return script(lambda: main(kind.parse(arguments, prog)))
