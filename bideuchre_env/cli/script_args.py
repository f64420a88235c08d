"""The command line of a script, made from its `Args`: an option a field, its default the field's.

The fields are numbers, paths, a path or None, bounds (a low and a high number) or None, yes or no,
or tuples of names; each has its `help` in its metadata.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import Field, fields
from pathlib import Path
from typing import Any, ClassVar, Protocol, TypeVar, get_args, get_origin, get_type_hints

from bideuchre_env.errors import BidEuchreError


class Dataclass(Protocol):
    """Any dataclass."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]


Args = TypeVar("Args", bound=Dataclass)


def parse(kind: type[Args], doc: str | None, arguments: list[str] | None = None) -> Args:
    """The options of the command line, or of `arguments`, as a `kind`.

    `doc` is the script's docstring; `--help` begins with its first line. As with any command line
    of argparse, what cannot be read ends the script with code 2.
    """
    parser = argparse.ArgumentParser(description=str(doc).partition("\n")[0])
    types = get_type_hints(kind)
    for option in fields(kind):
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
    return kind(**{key: tuple(v) if isinstance(v, list) else v for key, v in parsed.items()})


def run(main: Callable[[Args], int], parse_args: Callable[[], Args]) -> int:
    """The exit code of a script: that of `main`, or 2 with a line that says what was wrong."""
    try:
        return main(parse_args())
    except BidEuchreError as error:
        print(f"{Path(sys.argv[0]).name}: error: {error}", file=sys.stderr)
        return 2
