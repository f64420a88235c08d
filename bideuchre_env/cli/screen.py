"""The width of the screen, text wrapped to it, and the layout of every `--help`."""

from __future__ import annotations

import argparse
import re
import shutil
import textwrap
from collections.abc import Iterable
from typing import Any

LEAST, MOST = 60, 100
VARIANTS, AGENTS = "variants", "agents"
AGENT_NAMES = """\
An agent is one of these names, package.module:AGENT or ./file.py:AGENT. Options follow a colon:
pimc:worlds=20,solved=4 or ./mine.py:Net:weights=a.npz."""


def width() -> int:
    """Return the width of text: that of the terminal, 80 in a pipe; limited to 60 to 100."""
    return min(max(shutil.get_terminal_size().columns, LEAST), MOST)


def folded(text: str, hanging: str = "") -> str:
    """Fold a paragraph into lines that fit; lines after the first begin with `hanging`."""
    return "\n".join(_wrapped(text, width(), hanging))


def _wrapped(text: str, width: int, hanging: str = "") -> list[str]:
    """Return a paragraph as lines; a default, a % and one capital stay with the word before."""
    bound = re.sub(r"(?<=default:) | (?=%|[A-Z]\b)", "\N{NO-BREAK SPACE}", text)
    lines = textwrap.wrap(bound, width, subsequent_indent=hanging, break_on_hyphens=False)
    return [line.replace("\N{NO-BREAK SPACE}", " ") for line in lines]


class HelpFormatter(argparse.HelpFormatter):
    """Formatter of `--help`: folds each paragraph, except those with an indented line.

    Paths and other words with hyphens stay whole.
    """

    def __init__(self, prog: str, **more: Any) -> None:
        super().__init__(prog, max_help_position=24, width=width(), **more)

    def _split_lines(self, text: str, width: int) -> list[str]:
        lines = [" ".join(line.split()) for line in text.split("\n")]
        hanging = "  " * (len(lines) > 1)
        return [part for line in lines for part in _wrapped(line, width, hanging)]

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return "\n\n".join(
            block if "\n  " in block else folded(" ".join(block.split()))
            for block in text.strip().split("\n\n")
        )


def help_of(description: str, examples: Iterable[str], *names: str) -> dict[str, Any]:
    """Return arguments of `ArgumentParser`: description, examples and lists of names.

    `names` are `VARIANTS`, `AGENTS`, or both, depending on the command.
    """
    examples = list(examples)
    title = "example" if len(examples) == 1 else "examples"
    parts = ["\n  ".join((f"{title}:", *examples)), *map(choices, names)]
    return {
        "description": description,
        "epilog": "\n\n".join(parts),
        "formatter_class": HelpFormatter,
    }


def script_help(doc: str | None) -> dict[str, Any]:
    """Return `help_of` for a script, from its docstring: first line and indented examples."""
    lines = str(doc).splitlines()
    examples = [line.strip() for line in lines if line.startswith("    ")]
    return help_of(lines[0], examples)


def choices(kind: str) -> str:
    """Return a paragraph with the names of the variants, or of the agents, weakest first."""
    from bideuchre_env import agents
    from bideuchre_env.rules.variants import RULES

    names = RULES if kind == VARIANTS else agents.names()
    if kind == VARIANTS:
        return f"variants: {', '.join(names)}"
    return f"agents, weakest first: {', '.join(names)}\n\n{AGENT_NAMES}"
