"""The picture of tricks given away: by role as bars, by trick as a table of colours.

    python experiments/regret_picture.py
    python experiments/regret_picture.py --figures runs/barrie.json --out runs/barrie

It reads what `regret.py --json` wrote, and writes `OUT-light.svg` and `OUT-dark.svg`. It needs
matplotlib.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bideuchre_env.cli.script_args import ScriptArgs, run
from bideuchre_env.errors import OptionError
from bideuchre_env.evaluation.export import NEEDS_MATPLOTLIB
from bideuchre_env.evaluation.pictures import WIDTH, Look, save

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RESULTS = Path(__file__).resolve().parent / "results" / "regret"
ROW = 0.42  # inches
BARS = {"declarer": 0, "helper": 1, "defenders": 2, "alone": 3, "against alone": 3}  # their marks
NAMES = ("declarer", "helper", "defenders", "hands alone")

Row = dict[str, Any]


@dataclass(frozen=True)
class Args(ScriptArgs):
    """What to draw, and where; every field is an option of the command line."""

    figures: Path = field(
        default=RESULTS / "regret.json", metadata={"help": "the file of regret.py --json"}
    )
    out: Path = field(
        default=RESULTS / "regret",
        metadata={"help": "the pictures, up to -light.svg and -dark.svg"},
    )


def load(path: Path) -> list[Row]:
    """The rows of the figures; `OptionError` for a file that has none, or lacks what is drawn."""
    try:
        rows: list[Row] = json.loads(path.read_text(encoding="utf-8"))["rows"]
        for row in rows:
            if not all(isinstance(row[name], str) for name in ("variant", "agent")):
                raise ValueError("a name is no text")
            total = row["lost"]["total"]
            sum(total[name] for name in ("mean", "low", "high"))
            sum(each["mean"] for each in row["by_trick"]["total"])
            if row["hands"] < 1:
                raise ValueError(f"{row['agent']} has no hand that was played")
            bars(row)
        if not rows:
            raise ValueError("it is empty")
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise OptionError(f"{path}: no figures of tricks lost ({error})") from None
    return rows


def bars(row: Row) -> list[tuple[float, int]]:
    """The parts of a row's total: tricks a hand of any kind, and the mark they are drawn in."""
    parts = []
    for role, mark in BARS.items():
        lone = mark == BARS["alone"]
        share = (row["lone_hands"] if lone else row["hands"] - row["lone_hands"]) / row["hands"]
        parts.append(((row["lost"][role]["mean"] or 0.0) * share, mark))
    return parts


def panels(rows: list[Row], look: Look) -> Figure:
    """A line of panels for each game and each way of calling: bars, and the tricks beside them."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

    kinds = list(dict.fromkeys((row["variant"], row["calls"]) for row in rows))
    groups = [[row for row in rows if (row["variant"], row["calls"]) == kind] for kind in kinds]
    heights = [len(group) + 1.6 for group in groups]
    figure = Figure(figsize=(WIDTH, ROW * sum(heights) + 0.9), layout="constrained")
    FigureCanvasSVG(figure)
    axes = figure.subplots(
        len(groups), 2, squeeze=False, width_ratios=(5, 4), height_ratios=heights
    )
    for (left, right), group in zip(axes, groups, strict=True):
        draw_bars(left, group, look)
        draw_tricks(right, group, look)
    figure.suptitle(
        "Tricks given away per hand, all seats together, against play that sees every hand",
        fontsize=10.5,
    )
    handles = [Patch(color=look.marks[mark]) for mark in range(len(NAMES))]
    figure.legend(handles, NAMES, loc="outside lower center", ncols=4, frameon=False, fontsize=8.5)
    return figure


def draw_bars(axis: Any, rows: list[Row], look: Look) -> None:
    """A bar per agent, its parts by role, the end with the 95 % interval of the whole."""
    most = max(row["lost"]["total"]["high"] for row in rows)
    for place, row in enumerate(rows):
        start, total = 0.0, row["lost"]["total"]
        for part, mark in bars(row):
            axis.barh(place, part, left=start, height=0.55, color=look.marks[mark])
            start += part
        axis.plot([total["low"], total["high"]], [place] * 2, color=look.ink, linewidth=1.5)
        half = (total["high"] - total["low"]) / 2
        words = f"{total['mean']:.3f} \N{PLUS-MINUS SIGN} {half:.3f}"
        axis.text(total["high"] + 0.02 * most, place, words, va="center", fontsize=8)
    axis.set_yticks(range(len(rows)), [row["agent"] for row in rows])
    axis.set_ylim(len(rows) - 0.4, -0.6)
    axis.set_xlim(0, 1.35 * most)
    axis.tick_params(axis="y", length=0)
    axis.spines["left"].set_visible(False)
    calls = f"called by {rows[0]['calls']}" if rows[0]["calls"] else "each calling for itself"
    axis.set_title(f"{rows[0]['variant']}, {calls}, {rows[0]['hands']:,} hands", fontsize=9)


def draw_tricks(axis: Any, rows: list[Row], look: Look) -> None:
    """What each agent lost in each trick, the more the darker; the last trick is never a choice."""
    means = [[each["mean"] for each in row["by_trick"]["total"][:-1]] for row in rows]
    most = max(max(line) for line in means) or 1.0
    for place, line in enumerate(means):
        for trick, mean in enumerate(line):
            shade = 0.08 + 0.62 * (mean / most) ** 0.5
            axis.barh(place, 0.96, left=trick + 0.02, height=0.9, color=look.marks[0], alpha=shade)
            axis.text(trick + 0.5, place, f"{mean:.2f}", ha="center", va="center", fontsize=7.5)
    axis.set_xlim(0, len(means[0]))
    axis.set_ylim(len(rows) - 0.4, -0.6)
    axis.set_yticks([])
    axis.set_xticks([k + 0.5 for k in range(len(means[0]))], range(1, len(means[0]) + 1))
    axis.tick_params(length=0)
    axis.spines[:].set_visible(False)
    axis.set_title("by trick", fontsize=9)


def main(args: Args) -> int:
    """Draw both looks."""
    rows = load(args.figures)
    try:
        save(args.out, lambda look: panels(rows, look))
    except ImportError:
        raise OptionError(NEEDS_MATPLOTLIB) from None
    return 0


if __name__ == "__main__":
    sys.exit(run(main, Args))
