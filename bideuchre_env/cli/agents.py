"""`bideuchre agents`: who can play, by what options, and how long a decision takes."""

from __future__ import annotations

import argparse
import json
import textwrap
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from inspect import getdoc
from typing import Any

from bideuchre_env._checks import printable
from bideuchre_env._columns import GAP, columns
from bideuchre_env.cli.screen import AGENTS, folded, help_of, width
from bideuchre_env.errors import OptionError, WeightsError

_LEAST_MEANING = 20  # columns, however long an option's default is
_INDENT = "  "

_DESCRIPTION = """\
Without a name, print every agent: the package's own, weakest first, then those of installed
packages (entry points of the group bideuchre_env.agents). With a name, print that agent; it may be
your own, package.module:AGENT or ./file.py:AGENT. Times are of one decision, on one core. Of an
agent that has learned, its name alone prints how its weights were made; so does a file of them."""
_EXAMPLES = ("bideuchre agents", "bideuchre agents pimc", "bideuchre agents net:weights=FILE")


@dataclass(frozen=True)
class Option:
    """An option that can stand behind an agent's name; `required` if it has no default."""

    name: str
    default: Any
    required: bool
    meaning: str


@dataclass(frozen=True)
class Description:
    """An agent as it is printed; `milliseconds` is the time of a decision, None if unknown.

    `weights` has the metadata of its files of weights, by variant or by path.
    """

    name: str
    sentence: str
    options: tuple[Option, ...]
    milliseconds: float | None
    weights: dict[str, dict[str, str]] = field(default_factory=dict)


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "agents",
        help="print the agents, their options, and how long a decision takes",
        **help_of(_DESCRIPTION, _EXAMPLES, AGENTS),
    )
    parser.add_argument("name", nargs="?", metavar="NAME", help="an agent, as pimc or ./mine.py:Me")
    parser.add_argument("--json", action="store_true", help="print one JSON object, by name")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the description of one agent, or of all."""
    from bideuchre_env.agents import names

    if arguments.name is not None:
        agent = describe(arguments.name)
        found: dict[str, Description | str] = {agent.name: agent}
    else:
        found = {}
        for name in names():
            try:
                found[name] = describe(name)
            except (OptionError, WeightsError) as error:  # a package that does not work
                found[name] = str(error)
    if arguments.json:
        print(json.dumps({name: _as_json(each) for name, each in found.items()}))
    else:
        alone = arguments.name is not None
        print("\n\n".join(_told(name, each, alone) for name, each in found.items()))
        if arguments.name is None:
            print(f"\n{folded(_REST)}")
    return 0


def describe(name: str) -> Description:
    """Return the description of an agent by name; of options in the name only `weights` counts.

    An agent without `info` is described by the first line of its docstring. Raises `OptionError`
    for an unknown name or an agent that cannot be imported, and `WeightsError` for a file of
    weights that cannot be read.
    """
    from bideuchre_env.agents.learned.shipped import provenance
    from bideuchre_env.agents.making import acts, info_of, options_of
    from bideuchre_env.agents.protocols import AgentInfo
    from bideuchre_env.agents.registry import BUILT_IN, find, parse
    from bideuchre_env.learning.weights import read_weights

    own, written = parse(name)
    agent = find(own)
    info = info_of(agent) or AgentInfo((getdoc(agent) or "").partition("\n")[0])
    parameters = options_of(agent, in_name=True) if callable(agent) and not acts(agent) else {}
    options = tuple(
        Option(
            key,
            None if each.default is each.empty else each.default,
            each.default is each.empty,
            info.options.get(key, ""),
        )
        for key, each in parameters.items()
    )
    weights = provenance(own) if own in BUILT_IN else {}
    if "weights" in info.options and "weights" in written:
        file = str(written["weights"])
        weights = {file: dict(read_weights(file).metadata)}
    return Description(own, info.description, options, info.milliseconds, weights)


_REST = (
    "Your own play as ./file.py:AGENT or package.module:AGENT. Options stand behind a name: "
    "pimc:worlds=20,solved=4, ./mine.py:Net:weights=runs/a.npz"
)


def _as_json(agent: Description | str) -> dict[str, Any]:
    if isinstance(agent, str):
        return {"error": agent}
    told = asdict(agent)
    del told["name"]
    for option in told["options"]:
        if not isinstance(option["default"], (int, float, str, type(None))):
            option["default"] = str(option["default"])
    return told


def _told(name: str, agent: Description | str, alone: bool) -> str:
    """An agent's paragraph: its name, a sentence, what a decision takes, its options.

    How its weights were made is told where it is printed alone.
    """
    if isinstance(agent, str):
        return f"{name}\n{_folded(agent)}"
    lines = [name, *([_folded(agent.sentence)] if agent.sentence else [])]
    if agent.milliseconds is not None:
        lines.append(_folded(f"{_time(agent.milliseconds)} per decision"))
    options = [_option(option) for option in agent.options]
    room = width() - len(_INDENT) - GAP - max((len(left) for left, _ in options), default=0)
    room = max(room, _LEAST_MEANING)
    rows = [(_INDENT + left, textwrap.fill(meaning, room)) for left, meaning in options]
    lines += [columns(rows, "ll")] if rows else []
    if alone:
        lines += [line for place, made in agent.weights.items() for line in _made(place, made)]
    elif agent.weights:
        lines.append(_folded(f"weights for {', '.join(agent.weights)}"))
    return "\n".join(lines)


def _made(place: str, made: Mapping[str, str]) -> list[str]:
    """How weights were made, as their file says: the command last, on a line of its own."""
    lines = ["", _folded(f"weights: {printable(place)}")]
    for key in sorted(made, key=lambda key: (key == "command", key)):
        lines.append(folded(f"{2 * _INDENT}{printable(key)}: {printable(made[key])}", 3 * _INDENT))
    return lines


def _option(option: Option) -> tuple[str, str]:
    """An option as it is written, with its default, and its meaning."""
    if option.required:
        return option.name, option.meaning or "has to be given"
    if option.default is None:
        return option.name, option.meaning
    default = str(option.default)
    if isinstance(option.default, bool):
        default = default.lower()  # as it is written behind a name
    return f"{option.name}={default}", option.meaning


def _time(milliseconds: float) -> str:
    """A time in the unit that suits it."""
    if milliseconds < 0.01:
        return f"{1000 * milliseconds:.2g} µs"
    return f"{milliseconds:.2g} ms"


def _folded(text: str) -> str:
    return folded(_INDENT + text, _INDENT)
