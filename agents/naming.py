"""How an agent is written: whose name it is, and the options behind it.

    NAME                    one of the package's own, an installed or a registered one
    package.module:Agent    what a module calls so
    ./file.py:Agent         what a Python file calls so

each alone or with options: `pimc:worlds=20,solved=4`, `./mine.py:Net:weights=runs/a.npz`; what is
True or False in Python is `true` or `false` there. What
stands behind a module or a file may be dotted; a NAME comes before a module of that name.
"""

from __future__ import annotations

import re
from inspect import Parameter, formatannotation
from pathlib import Path
from typing import Any

from bideuchre_env._checks import did_you_mean, shown
from bideuchre_env.agents.loading import from_file, from_module, is_there
from bideuchre_env.agents.registry import factory_of, is_known, names
from bideuchre_env.errors import OptionError

Value = int | float | str | Path
WRITTEN = "name:option=value,option=value, as pimc:worlds=20,solved=4"
_DOTTED = r"[^\W\d]\w*(?:\.[^\W\d]\w*)*"
_BEHIND = rf":(?P<attribute>{_DOTTED})(?::(?P<options>.*))?"
_MODULE = re.compile(rf"(?P<module>{_DOTTED})(?<!\.py){_BEHIND}")
_FILE = re.compile(rf"(?P<file>.*?\.py){_BEHIND}")
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?")
_OF_TYPE: dict[type, str] = {bool: "switch", int: "number", float: "number", str: "text"}
_SWITCH = {"true": True, "false": False}
_LITERAL = re.compile(r"Literal\[[^\]]*\]")
_ONE_OF = re.compile(r"\|(?![^\[]*\])")  # between types, not within the brackets of one
_WORDS = {
    "number": {"int", "float"},
    "text": {"str", "Literal"},
    "path": {"Path", "PathLike"},
    "switch": {"bool"},
}
_ANY = {"Any", "object"}
_BESIDE = {"None", "Optional", "Union", "typing", "os", "pathlib"}  # words that add no kind


def split(name: str) -> tuple[str, dict[str, str]]:
    """An agent's own name and its options, as they are written.

    Raises `OptionError` for what is no agent's name, or not followed by options.
    """
    own, colon, written = name.partition(":") if isinstance(name, str) else ("", "", "")
    if not is_known(own):
        match = (_MODULE.fullmatch(name) or _FILE.fullmatch(name)) if colon else None
        if match is None:
            raise OptionError(_unknown(own if colon else name))
        own, written = name[: match.end("attribute")], match["options"]
        colon = "" if written is None else ":"
    if not name.isprintable():
        raise OptionError(f"{shown(name)}: an agent's name is of printable characters")
    options: dict[str, str] = {}
    for part in written.split(",") if colon else ():
        option, _, value = part.partition("=")
        if not option or not value:
            raise OptionError(f"{shown(name)}: {shown(part)} is no option: {WRITTEN}")
        if option in options:
            raise OptionError(f"{shown(name)}: the option {shown(option)} twice: {WRITTEN}")
        options[option] = value
    return own, options


def parse(name: str) -> tuple[str, dict[str, int | float | str]]:
    """An agent's own name and its options, from `name` or `name:option=value,option=value`.

    Values that are whole numbers or decimals are numbers. Raises `OptionError` for what is no
    agent's name and for options that are not written so; which options an agent has, `make` knows.
    """
    own, options = split(name)
    return own, {option: number_or_text(value) for option, value in options.items()}


def file_of(name: str) -> str | None:
    """The file an agent is named by, as it is written; None for one that is named otherwise."""
    match = _FILE.fullmatch(split(name)[0])
    return match["file"] if match else None


def find(own: str) -> Any:
    """What an agent's own name stands for: a class or function that makes one, or an agent.

    Raises `OptionError` in a line for what is not there, or cannot be imported.
    """
    if is_known(own):
        return factory_of(own)
    if match := _MODULE.fullmatch(own):
        if not is_there(match["module"]):
            raise OptionError(_unknown(match["module"], "and no module of that name"))
        return from_module(match["module"], match["attribute"])
    match = _FILE.fullmatch(own)
    assert match is not None  # `split` has taken it
    return from_file(match["file"], match["attribute"])


def number_or_text(written: str) -> int | float | str:
    """A value as it is written: a whole number, a decimal, or else the text itself."""
    if not _NUMBER.fullmatch(written):
        return written
    return float(written) if "." in written else int(written)


def value_of(name: str, option: Parameter | None, key: str, written: str) -> Value:
    """An option's value, by what the option takes; None is one of those that may be anything.

    Raises `OptionError` if it takes a number and none is written.
    """
    kinds = {"number", "text"} if option is None else kinds_of(option)
    value = number_or_text(written)
    if not isinstance(value, str) and "number" in kinds:
        return value
    if "text" in kinds:
        return written
    if "path" in kinds:
        return Path(written)
    if "switch" in kinds and "number" not in kinds:
        if written.lower() in _SWITCH:
            return _SWITCH[written.lower()]
        raise OptionError(f"{shown(name)}: {shown(f'{key}={written}')}: true or false is expected")
    raise OptionError(
        f"{shown(name)}: {shown(f'{key}={written}')} gives no number: a whole one or a decimal is "
        "expected, as worlds=20 or margin=0.5"
    )


def kinds_of(option: Parameter) -> set[str]:
    """What an option takes of "number", "text", "path" and "switch", which is true or false.

    It goes by its type, or else its default. Of a type that is one of several, those count that can
    be written behind a name; there may be none.
    """
    if option.annotation is option.empty:
        if option.default in (option.empty, None):
            return {"number", "text"}
        kind = "path" if isinstance(option.default, Path) else _OF_TYPE.get(type(option.default))
        return {kind} if kind else set()
    written = option.annotation
    if not isinstance(written, str):
        written = formatannotation(written)
    found: set[str] = set()
    for one in _ONE_OF.split(_LITERAL.sub("Literal", written)):
        words = set(re.findall(r"\w+", one))
        if words & _ANY and words <= _ANY | _BESIDE:
            found |= {"number", "text"}
        elif words <= {word for of_kind in _WORDS.values() for word in of_kind} | _BESIDE:
            found |= {kind for kind, of_kind in _WORDS.items() if words & of_kind}
    return found


def _unknown(name: Any, besides: str = "") -> str:
    close = did_you_mean(name, names())
    return (
        f"no agent {shown(name)}{close}{besides and ', '}{besides}: the agents are "
        f"{', '.join(names())}, and your own as ./file.py:Agent or package.module:Agent"
    )
