"""The learning curves of several seeds as a picture, and what their weights make of each other.

    python experiments/learning_picture.py
    python experiments/learning_picture.py --boards 10000 --opponents cautious rule expert

It reads `VARIANT-seedN.csv`, the curves of `train_ppo.py`, in `--results`, and writes
`learning-light.svg` and `learning-dark.svg` to `--out`. With `--boards` the weights beside them,
`VARIANT-seedN.npz`, play each other, and together: one of each on a side. It needs
matplotlib.
"""

from __future__ import annotations

import csv
import itertools
import re
import sys
from dataclasses import dataclass
from pathlib import Path

import figures
import numpy as np

import bideuchre_env
from bideuchre_env._files import write_file
from bideuchre_env.agents.base import RowAgent
from bideuchre_env.agents.learned.ppo import PpoAgent
from bideuchre_env.cli.script_args import ScriptArgs, option, run
from bideuchre_env.core.observation.layout import layout_of
from bideuchre_env.errors import OptionError
from bideuchre_env.evaluation import match
from bideuchre_env.runtime.jit import Array

HERE = Path(__file__).resolve().parent
NAME = re.compile(r"(?P<variant>.+)-seed(?P<seed>\d+)")
AT_ONCE = 256


@dataclass(frozen=True)
class Args(ScriptArgs):
    """What to draw, and where; every field is an option of the command line."""

    results: Path = option(HERE / "results" / "ppo", "the folder of curves and weights")
    out: Path = option(HERE.parent / ".github" / "pictures", "the folder of the pictures")
    opponents: tuple[str, ...] = option(("rule", "expert"), "over whom the points are shown")
    boards: int = option(0, "boards that each two of the weights play: cross-play.md; 0 plays none")
    seed: int = option(40_000_000, "of these boards")


def curves(folder: Path, opponents: tuple[str, ...]) -> dict[str, dict[str, list[figures.Curve]]]:
    """By variant and opponent the curve of each seed; `OptionError` without, or for other files."""
    found: dict[str, dict[str, list[figures.Curve]]] = {}
    for path in sorted(folder.glob("*.csv")):
        if named := NAME.fullmatch(path.stem):
            variant = found.setdefault(named["variant"], {})
            for opponent in opponents:
                one = curve(path, int(named["seed"]), opponent)
                variant.setdefault(opponent, []).append(one)
    if not found:
        raise OptionError(f"{folder}: no VARIANT-seedN.csv, the curves of train_ppo.py")
    return found


def curve(path: Path, seed: int, opponent: str) -> figures.Curve:
    """The measurements over an opponent; those made twice, with more boards at the end, once."""
    try:
        with path.open(newline="", encoding="utf-8") as file:
            rows = {row["decisions"]: row for row in csv.DictReader(file)}.values()
        millions = [int(row["decisions"]) / 1e6 for row in rows]
        points, low, high = (
            [float(row[f"{opponent} {name}"]) for row in rows] for name in ("points", "low", "high")
        )
        minutes = max(float(row["processor"]) for row in rows) / 60
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise OptionError(f"{path}: no curve of train_ppo.py over {opponent} ({error})") from None
    return figures.Curve(seed, millions, points, low, high, minutes)


class Partners(RowAgent):
    """Two agents as partners: one plays the dealer and the seat before him, one the others."""

    name = "partners"

    def __init__(self, one: RowAgent, other: RowAgent) -> None:
        super().__init__(one.rules)
        self._pair = one, other
        self._dealer = layout_of(one.rules).slices["dealer"]

    def choose(self, observations: Array, action_masks: Array) -> Array:
        """A legal action for every row; int64 (n,)."""
        chosen = np.zeros(len(observations), np.int64)
        who = observations[:, self._dealer].argmax(axis=1) >> 1  # partners are two seats apart
        for k, agent in enumerate(self._pair):
            at = who == k
            if at.any():
                chosen[at] = agent.choose(observations[at], action_masks[at])
        return chosen


def cross_play(args: Args) -> str:
    """The table of all pairs, of each variant's weights."""
    lines = [
        "| variant | seeds | first over second | over rule: first | second | one of each |",
        "|---|---|---|---|---|---|",
    ]
    found: dict[str, dict[int, PpoAgent]] = {}
    for path in sorted(args.results.glob("*.npz")):
        if named := NAME.fullmatch(path.stem):
            rules = bideuchre_env.make(named["variant"]).rules
            agent = PpoAgent(rules, weights=path)
            found.setdefault(named["variant"], {})[int(named["seed"])] = agent
    for variant, made in found.items():
        alone = {seed: shown(args, agent, "rule") for seed, agent in made.items()}
        for (one, first), (two, second) in itertools.combinations(made.items(), 2):
            both = shown(args, Partners(first, second), "rule")
            cells = (shown(args, first, second), alone[one], alone[two], both)
            lines.append(f"| `{variant}` | {one} and {two} | {' | '.join(cells)} |")
    if len(lines) == 2:
        raise OptionError(f"{args.results}: no two VARIANT-seedN.npz of a variant")
    return "\n".join(lines) + "\n"


def shown(args: Args, one: RowAgent, other: RowAgent | str) -> str:
    """What one agent makes over another, with its interval."""
    result = match.play(one.rules, one, other, boards=args.boards, seed=args.seed, at_once=AT_ONCE)
    if result.interrupted:
        raise KeyboardInterrupt
    points = result.boards.points_per_hand
    return f"{points.mean:+.3f} ± {(points.high - points.low) / 2:.3f}"


def main(args: Args) -> int:
    """Draw the picture in both themes; then play for the table, if `--boards` asks for it."""
    if args.boards and args.boards < 2:
        raise OptionError(f"--boards {args.boards}: 2 or more, or 0 for none")
    found = curves(args.results, args.opponents)
    figures.write(args.out / "learning", lambda theme: figures.learning(found, theme))
    if args.boards:
        table = cross_play(args)
        write_file(args.results / "cross-play.md", table)
        print(table, end="")
    return 0


if __name__ == "__main__":
    sys.exit(run(main, Args))
