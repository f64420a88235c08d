"""The picture of the ladder: the points per hand that each agent adds to a weaker one.

    python experiments/ladder_picture.py
    python experiments/ladder_picture.py --ladder runs/ladder.json --out runs

It reads what `ladder.py --json` wrote, and writes `ladder-light.svg` and `ladder-dark.svg`.
It needs matplotlib.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import figures

from bideuchre_env.cli.script_args import ScriptArgs, option, run

HERE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Args(ScriptArgs):
    """What to draw, and where; every field is an option of the command line."""

    ladder: Path = option(HERE / "ladder.json", "the file of ladder.py --json")
    out: Path = option(HERE.parent / ".github" / "pictures", "the folder of the pictures")


def main(args: Args) -> int:
    """Draw the picture in both themes."""
    rungs = figures.read_rows(args.ladder, "rungs", "rows of a ladder", figures.check_rung)
    figures.write(args.out / "ladder", lambda theme: figures.ladder(rungs, theme))
    return 0


if __name__ == "__main__":
    sys.exit(run(main, Args))
