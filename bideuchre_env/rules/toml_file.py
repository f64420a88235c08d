"""Files of rules: how one is read and written. What makes a game, `Rules` decides.

    base = "barrie_v0"  # what the file does not say is as there
    target = 40

`name` is what the game is called; without it, the file's own name.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

from bideuchre_env._checks import MAX_NAME, is_plain_name, printable, shown, unknown_options
from bideuchre_env.errors import RulesError
from bideuchre_env.rules.options import from_file

SUFFIX = ".toml"
MOST_BYTES = 1_000_000
_PLACE = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")
_LONE = re.compile(r"lone bid|\w+ of '|\d+ bids")


@dataclass
class RulesFile:
    """What a file of rules says: `name`, the variant it is based on, and `options`."""

    text: str
    place: str = ""  # the path, as it was given
    name: str | None = None
    base: str | None = None
    options: dict[str, Any] = field(default_factory=dict)

    def fault(self, message: str, key: str | None = None) -> RulesError:
        """The error of this file, with the line where `key` stands."""
        start = r"^[ \t]*(?:\[\[?)?[ \t]*[\"']?"
        found = key and re.search(rf"{start}{re.escape(key)}(?![\w-])", self.text, re.M)
        line = self.text.count("\n", 0, found.start()) + 1 if found else None
        return self.fault_at(message, line)

    def fault_at(self, message: str, line: Any) -> RulesError:
        """The error of this file at a line, None for none in particular."""
        if self.place:
            return RulesError(f"{self.place}{f':{line}' if line else ''}: {message}")
        return RulesError(f"line {line}: {message}" if line else message)

    @contextmanager
    def faults_placed(self) -> Iterator[None]:
        """Give the errors of `Rules` the place of the option that they name first."""
        try:
            yield
        except RulesError as error:
            message = str(error)
            key = "lone" if _LONE.match(message) else message.partition("=")[0]
            raise self.fault(message, key if key in self.options else None) from None


def is_rules_file(game: object) -> bool:
    """Whether the name of a game is the path of a file of rules."""
    return isinstance(game, PathLike) or (isinstance(game, str) and game.lower().endswith(SUFFIX))


def read_rules_file(source: str | PathLike[str], known: tuple[str, ...]) -> RulesFile:
    """A file of rules from its path, or its text where that has a line end or a "=".

    `known` are the options there are. Raises `RulesError` for what is no such file.
    """
    if isinstance(source, str) and not is_rules_file(source) and re.search(r"[\n=]", source):
        file = RulesFile(source)
    elif isinstance(source, (str, PathLike)):
        file = RulesFile(_text_of(Path(source)), _shown_path(Path(source)))
        file.name = Path(source).stem
    else:
        raise RulesError(f"{shown(source)}: the path of a file of rules, or its text")
    try:
        file.options = tomllib.loads(file.text)
    except tomllib.TOMLDecodeError as error:
        found = _PLACE.search(str(error))
        last = file.text.rstrip().count("\n") + 1
        message = f"is not valid TOML: {_PLACE.sub('', str(error))}"
        raise file.fault_at(message, found and (found[1] or last)) from None
    except RecursionError:
        raise file.fault("is not valid TOML: too deep") from None
    except ValueError:  # Python reads no such number
        raise file.fault("is not valid TOML: a number has too many digits") from None
    if unknown := unknown_options(file.options, (*known, "base", "name")):
        raise file.fault(unknown, min(set(file.options) - {*known, "base", "name"}))
    file.base = file.options.pop("base", None)
    file.name = file.options.pop("name", file.name)
    if file.name is not None and not is_plain_name(file.name):
        raise file.fault(
            f"name={shown(file.name)}: a name has 1 to {MAX_NAME} printable characters", "name"
        )
    file.options = {key: from_file(key, value) for key, value in file.options.items()}
    return file


def _shown_path(path: Path) -> str:
    return printable(str(path))[:200]


def _text_of(path: Path) -> str:
    try:
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
        if len(content) > MOST_BYTES:
            raise RulesError(f"{_shown_path(path)}: too large for a file of rules")
        return content.decode("utf-8-sig").replace("\r\n", "\n")
    except OSError as error:
        raise RulesError(f"{_shown_path(path)}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise RulesError(f"{_shown_path(path)}: is not UTF-8 text ({error})") from None
    except ValueError as error:  # a path with a zero
        raise RulesError(f"{_shown_path(path)}: cannot be read: {error}") from None


def written(name: str, value: Any) -> str:
    """A line of TOML, or some, that gives an option this JSON value; None comments it out."""
    if value is None and name != "partnered":
        return f"# {name} = 1"
    if isinstance(value, list) and value and isinstance(value[0], dict):
        bids = [", ".join(f"{k} = {json.dumps(v)}" for k, v in bid.items()) for bid in value]
        return "\n".join([f"{name} = [", *(f"  {{ {bid} }}," for bid in bids), "]"])
    return f"{name} = {json.dumps('none' if value is None else value)}"
