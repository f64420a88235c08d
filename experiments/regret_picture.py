"""The picture of tricks given away: by role as bars, by trick as a table of colours.

    python experiments/regret_picture.py
    python experiments/regret_picture.py --figures runs/barrie.json --out runs/barrie

It reads what `studies.py regret --json` wrote, and writes `OUT-light.svg` and `OUT-dark.svg`. It
needs matplotlib.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import figures

from bideuchre_env.cli.script_args import ScriptArgs, option, run

RESULTS = Path(__file__).resolve().parent / "results" / "regret"


@dataclass(frozen=True)
class Args(ScriptArgs):
    """What to draw, and where; every field is an option of the command line."""

    figures: Path = option(RESULTS / "regret.json", "the file of studies.py regret --json")
    out: Path = option(RESULTS / "regret", "the pictures, up to -light.svg and -dark.svg")


def main(args: Args) -> int:
    """Draw the picture in both themes."""
    content = "figures of tricks lost"
    rows = figures.read_rows(args.figures, "rows", content, figures.check_regret)
    figures.write(args.out, lambda theme: figures.regret(rows, theme))
    return 0


if __name__ == "__main__":
    sys.exit(run(main, Args))
