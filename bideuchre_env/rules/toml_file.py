"""Reading and writing of files of rules; `Rules` checks the values.

    base = "barrie_v0"  # the values of all options that the file does not have
    target = 40

`name` is the name of the game; by default the file's name without `.toml`.
"""

from __future__ import annotations

import json
import re
import sys
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

from bideuchre_env._checks import MAX_NAME, brief, is_plain_name, printable, unknown_options
from bideuchre_env._files import reason
from bideuchre_env._inputs import read_file
from bideuchre_env.errors import RulesError
from bideuchre_env.rules.options import from_file

SUFFIX = ".toml"
MOST_BYTES = 2**14
"""Maximum size of rules as TOML; the time and memory of its reader grow with the square."""


@dataclass
class RulesFile:
    """Content of a file of rules: the game's `name`, the variant `base`, and other `options`."""

    place: str = ""  # the path as passed
    name: str | None = None
    base: str | None = None
    options: dict[str, Any] = field(default_factory=dict)

    def fault(self, message: object) -> RulesError:
        """Return a `RulesError` with this message, after the path of the file, if it has one."""
        return RulesError(f"{self.place}: {message}" if self.place else str(message))


def is_rules_file(game: object) -> bool:
    """Whether the name of a game is the path of a file of rules: a path object, or a ".toml" name.

    It does not check that the file exists.
    """
    return isinstance(game, PathLike) or (isinstance(game, str) and game.lower().endswith(SUFFIX))


def read_rules_file(source: str | PathLike[str], allowed: tuple[str, ...]) -> RulesFile:
    """Read a file of rules by its path, or its text, which has a line end or a "=".

    `allowed` are the names of the valid options; their values are not checked. Raises `RulesError`
    if the file cannot be read, is not TOML, or has another option or an invalid `name`.
    """
    file = RulesFile()
    if isinstance(source, str) and not is_rules_file(source) and re.search(r"[\n=]", source):
        text = source
    elif isinstance(source, (str, PathLike)):
        path = Path(source)
        file.place, file.name = printable(str(path))[:200], path.stem
        text = _read_text(path, file)
    else:
        raise RulesError(f"{brief(source)}: expected the path of a file of rules, or its text")
    if len(text) > MOST_BYTES:
        raise file.fault(f"more than {MOST_BYTES} characters")
    try:
        file.options = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise file.fault(f"is not valid TOML: {error}") from None
    if unknown := unknown_options(file.options, (*allowed, "base", "name")):
        raise file.fault(unknown)
    file.base = file.options.pop("base", None)
    file.name = file.options.pop("name", file.name)
    if file.name is not None and not is_plain_name(file.name):
        raise file.fault(f"name={brief(file.name)}: expected 1 to {MAX_NAME} printable characters")
    file.options = {key: from_file(key, value) for key, value in file.options.items()}
    return file


def _read_text(path: Path, file: RulesFile) -> str:
    try:
        content = read_file(path, MOST_BYTES)
        return content.decode("utf-8-sig").replace("\r\n", "\n")
    except OSError as error:
        raise file.fault(f"cannot be read: {reason(error)}") from None
    except ValueError as error:  # not UTF-8, or a path with a null byte
        raise file.fault(f"cannot be read: {error}") from None


def written(name: str, value: Any) -> str:
    """Format an option and its JSON value as TOML.

    An option that is None is commented out, except `partnered`, which becomes "none".
    """
    if value is None and name != "partnered":
        return f"# {name} = {-50 if name == 'floor' else 1}"
    if isinstance(value, list) and value and isinstance(value[0], dict):
        bids = [", ".join(f"{k} = {json.dumps(v)}" for k, v in bid.items()) for bid in value]
        return "\n".join([f"{name} = [", *(f"  {{ {bid} }}," for bid in bids), "]"])
    return f"{name} = {json.dumps('none' if value is None else value)}"
