"""List the agents, their options and decision times: `bideuchre agents`.

Without NAME, list every agent: the package's own, weakest first, then those of installed packages
(entry points of the group bideuchre_env.agents). With NAME, describe that agent: for the agents
of the levels of play (beginner, rule, expert, inference) also how many lone contracts they make,
and for a trained agent the commands that made its weights, or with weights=FILE the file's
metadata. Times are per decision on one core.

    bideuchre agents
    bideuchre agents pimc
    bideuchre agents net:weights=FILE
"""

from __future__ import annotations

import argparse
import json
import textwrap
from importlib import resources
from inspect import getdoc
from typing import Any

from bideuchre_env._checks import printable
from bideuchre_env._columns import GAP, columns
from bideuchre_env._intervals import wilson
from bideuchre_env.cli.options import argument, new_command
from bideuchre_env.cli.screen import AGENTS, folded, width
from bideuchre_env.errors import OptionError, WeightsError

_LEAST_MEANING = 20  # minimum width of the column of meanings
_INDENT = "  "

_REST = (
    "Name your own agents ./file.py:AGENT or package.module:AGENT. Options follow a colon: "
    "pimc:worlds=20,solved=4, ./mine.py:Net:weights=runs/a.npz. player:calls=expert,cards=net "
    "combines agents. A bot in another process is cmd:./bot --level 3"
)


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = new_command(commands, "agents", run, __doc__, AGENTS)
    argument(parser, "name NAME", "agent to describe, as pimc or ./mine.py:Me", nargs="?")
    argument(parser, "--json", "print one JSON object, keyed by agent")


def run(arguments: argparse.Namespace) -> int:
    """Print the description of one agent, or of all with the errors of broken ones; return 0."""
    from bideuchre_env.agents import names, parse

    alone = arguments.name is not None
    described: dict[str, dict[str, Any]] = {}
    for name in [arguments.name] if alone else names():
        try:
            described[parse(name)[0]] = describe(name)
        except (OptionError, WeightsError) as error:
            if alone:
                raise
            described[name] = {"error": str(error)}  # a broken package
    if arguments.json:
        print(json.dumps(described))
        return 0
    print("\n\n".join(_paragraph(name, agent, alone) for name, agent in described.items()))
    if not alone:
        print(f"\n{folded(_REST)}")
    return 0


def describe(name: str) -> dict[str, Any]:
    """Return an agent's description as a JSON object.

    It has a sentence, options, the decision time, the lone contracts by variant if they were
    measured, and weights: the metadata of its weights files, by variant or by path. Other options
    in the name have no effect. An agent without `info` is described by the first line of its
    docstring.
    Raises `OptionError` for an unknown name or an agent that cannot be imported, and `WeightsError`
    for a weights file that cannot be read.
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
    options = []
    for key, parameter in parameters.items():
        required = parameter.default is parameter.empty
        default = None if required else parameter.default
        if not isinstance(default, (int, float, str, type(None))):
            default = str(default)
        meaning = info.options.get(key, "")
        options.append({"name": key, "default": default, "required": required, "meaning": meaning})
    weights = provenance(own) if own in BUILT_IN else {}
    if "weights" in info.options and "weights" in written:
        file = str(written["weights"])
        weights = {file: dict(read_weights(file, own).metadata)}
    return {
        "sentence": info.description,
        "options": options,
        "milliseconds": info.milliseconds,
        "lone_contracts": lone_contracts().get(name, {}),
        "weights": weights,
    }


def lone_contracts() -> dict[str, dict[str, dict[str, int]]]:
    """Return the numbers of lone contracts `bid` and `made`, by agent and variant.

    `experiments/ladder.py` has counted them in matches between these agents.
    """
    file = resources.files("bideuchre_env.agents.data") / "lone_contracts.json"
    totals: dict[str, dict[str, dict[str, int]]] = json.loads(file.read_text("utf-8"))["agents"]
    return totals


def _paragraph(name: str, agent: dict[str, Any], alone: bool) -> str:
    """Format an agent: its name, sentence, decision time and options.

    With `alone` the metadata of its weights is included.
    """
    if "error" in agent:
        return f"{name}\n{_folded(agent['error'])}"
    lines = [name, *([_folded(agent["sentence"])] if agent["sentence"] else [])]
    if (ms := agent["milliseconds"]) is not None:
        time = f"{1000 * ms:.2g} µs" if ms < 0.01 else f"{ms:.2g} ms"
        lines.append(_folded(f"{time} per decision"))
    options = [_option(**option) for option in agent["options"]]
    room = width() - len(_INDENT) - GAP - max((len(left) for left, _ in options), default=0)
    room = max(room, _LEAST_MEANING)
    rows = [(_INDENT + left, textwrap.fill(meaning, room)) for left, meaning in options]
    lines += [columns(rows, "ll")] if rows else []
    if alone:
        shares = [
            f"{variant} {total['made']:,} of {total['bid']:,} "
            f"({share.mean:.0%}, 95% interval {share.low:.0%} to {share.high:.0%})"
            for variant, total in agent["lone_contracts"].items()
            if (share := wilson(total["made"], total["bid"]))
        ]
        lines += ["", _folded(f"lone contracts made: {', '.join(shares)}")] if shares else []
        lines += _weights(agent["weights"])
    elif agent["weights"]:
        lines.append(_folded(f"weights for {', '.join(agent['weights'])}"))
    return "\n".join(lines)


def _weights(files: dict[str, dict[str, Any]]) -> list[str]:
    """Return the lines on weights: the metadata of one file, or the command of each of several."""
    if len(files) > 1:
        commands = {path: made.get("command", "unknown") for path, made in files.items()}
        head = "weights by game, and the command that made them (--json has all metadata):"
        return ["", _folded(head), *_values(commands)]
    return [
        line
        for path, made in files.items()
        for line in ("", _folded(f"weights: {printable(path)}"), *_values(made))
    ]


def _values(values: dict[str, Any]) -> list[str]:
    """Return lines of JSON values by name; texts without quotation marks, a command at the end."""
    names = sorted(values, key=lambda name: (name == "command", name))
    texts = {n: v if isinstance(v := values[n], str) else json.dumps(v) for n in names}
    return [
        folded(f"{2 * _INDENT}{printable(name)}: {printable(text)}", 3 * _INDENT)
        for name, text in texts.items()
    ]


def _option(name: str, default: Any, required: bool, meaning: str) -> tuple[str, str]:
    """Return an option with its default as in an agent's name ("worlds=20"), and its meaning."""
    if required:
        return name, meaning or "required"
    if default is None:
        return name, meaning
    text = str(default).lower() if isinstance(default, bool) else str(default)
    return f"{name}={text}", meaning


def _folded(text: str) -> str:
    return folded(_INDENT + text, _INDENT)
