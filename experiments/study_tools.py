"""Shared by the studies: agents that can play a game, saved results, tables."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import bideuchre_env
from bideuchre_env import records_io
from bideuchre_env._files import write_file
from bideuchre_env.agents.learned.shipped import shipped_weights
from bideuchre_env.errors import OptionError

LEARNED = ("net", "ppo")  # agents that need weights for the game
UNSOUND = (OSError, ValueError, KeyError, TypeError, AttributeError, IndexError, OverflowError)
"""Raised by a file that is damaged, or has something else."""

Result = TypeVar("Result")


def with_weights(agents: Iterable[str], game: bideuchre_env.Variant) -> list[str]:
    """The agents without those that have no weights for a game; a line on stderr names these."""
    result = []
    for agent in agents:
        if has_weights(agent, game):
            result.append(agent)
        else:
            message = f"{game.name}: {agent} is left out: no weights for this game"
            print(message, file=sys.stderr)
    return result


def has_weights(agent: str, game: bideuchre_env.Variant) -> bool:
    """Whether an agent, if it needs weights, has some for a game."""
    name, options = bideuchre_env.agents.parse(agent)
    if name in LEARNED and "weights" not in options:
        try:
            shipped_weights(name, game.rules)
        except OptionError:
            return False
    return True


@dataclass(frozen=True)
class Store:
    """A folder of finished results, a JSON file each, so that the next run resumes after them.

    `compute` is False for a run that only reads.
    """

    folder: Path
    compute: bool = True

    def path(self, *words: str) -> Path:
        """The file of a result that these words name."""
        return self.folder / f"{records_io.file_stem(*words)}.json"

    def get(
        self,
        path: Path,
        about: Any,
        compute: Callable[[], Any],
        decode: Callable[[Any], Result],
        title: str,
    ) -> Result | None:
        """The decoded result in a file, or computed now and saved there; None without either.

        `about` is JSON that identifies this result; `compute` returns JSON. Raises
        `OptionError`, which names the result by `title`, if the file holds anything else, or
        `decode` fails.
        """
        if path.exists():
            try:
                saved = json.loads(path.read_text(encoding="utf-8"))
                if saved["about"] == json.loads(json.dumps(about)):
                    return decode(saved["result"])
            except UNSOUND:
                pass
            raise OptionError(
                f"{path} is no result of {title}: another --out (results of older versions are "
                "not read)"
            )
        if not self.compute:
            return None
        result = compute()
        write_file(path, json.dumps({"about": about, "result": result}) + "\n")
        return decode(result)


def write_json(path: Path | None, rows: list[dict[str, Any]], **about: Any) -> None:
    """Write rows to the file of `--json`, if there is one, after what they are about."""
    if path is not None:
        write_file(path, json.dumps({**about, "rows": rows}, indent=1) + "\n")


def markdown_table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Cells as a table in Markdown."""
    lines = [heads, *rows]
    text = [f"| {' | '.join(cells)} |" for cells in lines]
    return "\n".join([text[0], "|---" * len(heads) + "|", *text[1:]])


def plus_minus(interval: dict[str, float | None] | None, sign: str = "") -> str:
    """A mean and half its interval, to three decimals; the mean alone, or nothing, if need be.

    `sign` is "+" for a difference.
    """
    if interval is None or interval["mean"] is None:
        return ""
    if interval["low"] is None or interval["high"] is None:
        return f"{interval['mean']:{sign}.3f}"
    return f"{interval['mean']:{sign}.3f} ± {(interval['high'] - interval['low']) / 2:.3f}"
