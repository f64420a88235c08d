"""The picture of a hand at the top of the README, for light and for dark pages.

    python experiments/hand_picture.py

The bidder must follow diamonds, and holds the jack of hearts: it is the left bower, so it is one.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import bideuchre_env
from bideuchre_env._files import write_file
from bideuchre_env.cli.script_args import ScriptArgs, option, run
from bideuchre_env.records.svg import table_svg

PICTURES = Path(__file__).resolve().parents[1] / ".github" / "pictures"
DEALER, VIEWER = 0, 3
DEAL = (
    "KS JS JD 9D KC TC",
    "AS QS 9S TH KD QC",
    "TS AH KH QH 9H JC",
    "JH AD QD TD AC 9C",
)
ACTIONS = ("bid 3", "pass", "bid 4", "pass", "trump D", "KD", "TS", "TD", "JD", "9D", "TH", "JC")


@dataclass(frozen=True)
class Args(ScriptArgs):
    """Where the pictures go; every field is an option of the command line."""

    out: Path = option(PICTURES, "the folder of both")


def pictures() -> dict[str, str]:
    """The SVG documents, by file name."""
    env = bideuchre_env.cincinnati_v0.raw_env()
    deal = [hand.split() for hand in DEAL]
    env.reset(options={"dealer": DEALER, "deal": deal, "score": [24, 19]})
    for name in ACTIONS:
        env.step(env.action_names.index(name))
    row, rules = env.get_state()[0], bideuchre_env.cincinnati_v0.rules
    return {
        f"hand-{theme}.svg": table_svg(row, rules, viewer=VIEWER, dark=theme == "dark")
        for theme in ("light", "dark")
    }


def main(args: Args) -> int:
    """Draw both."""
    for name, text in pictures().items():
        write_file(args.out / name, text)
        print(args.out / name)
    return 0


if __name__ == "__main__":
    sys.exit(run(main, Args))
