"""Draw the figures of published results, for light and dark pages, from the files of the studies.

    python experiments/figures.py ladder
    python experiments/figures.py regret --data runs/barrie.json --out runs/barrie

`ladder` reads the file of `ladder.py --json`, `regret` that of `studies.py regret --json`, and
`learning` a folder of `VARIANT-seedN.csv`, the curves of `train_ppo.py`. Each writes
`FIGURE-light.svg` and `FIGURE-dark.svg` to the folder `--out`. All need matplotlib.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from study_tools import DAMAGED

from bideuchre_env.cli.program import script
from bideuchre_env.cli.screen import script_help
from bideuchre_env.errors import OptionError
from bideuchre_env.evaluation.export import NEEDS_MATPLOTLIB
from bideuchre_env.evaluation.pictures import Theme, annotate, name_rows, new_figure, save

HERE = Path(__file__).resolve().parent
PICTURES = HERE.parent / ".github" / "pictures"
RESULTS = HERE / "results"

Row = dict[str, Any]
Curve = dict[str, list[float]]  # by column


def read_rows(path: Path, key: str) -> list[Row]:
    """Return the list of rows under `key` in a JSON file; `ValueError` if it is empty."""
    rows: list[Row] = json.loads(path.read_text(encoding="utf-8"))[key]
    if not rows:
        raise ValueError("it is empty")
    return rows


def half(interval: Row) -> float:
    """Return half the width of an interval."""
    return (interval["high"] - interval["low"]) / 2


# --- the ladder -----------------------------------------------------------------------------------

RUNG = 0.52  # height of a row in inches
WIDEST = 0.06  # width of an interval of games won; wider ones are not printed
ROOM = 0.75  # of the largest total: a label is aligned to a bar's end beyond this fraction


def ladder(rungs: list[Row], theme: Theme) -> Any:
    """Return a figure with a panel per variant, two side by side, and a bar per agent.

    `rungs` are rows of `ladder.py`, by variant from the weakest agent to the strongest, which is
    drawn at the top.
    """
    variants: dict[str, dict[str, list[Row]]] = {}
    for rung in rungs:  # an agent's first rung is its step; its label also names the others
        steps = variants.setdefault(rung["variant"], {})
        steps.setdefault(rung["agents"][0], []).append(rung)
    columns = min(len(variants), 2)
    counts = [len(steps) + 1 for steps in variants.values()]
    rows = [max(counts[k : k + columns]) for k in range(0, len(counts), columns)]
    height = RUNG * sum(rows) + 0.5 * len(rows) + 0.5
    ratios = [row + 0.5 for row in rows]
    figure, axes = new_figure(height, len(rows), columns, height_ratios=ratios)
    for axis, variant in zip(axes.flat, variants, strict=False):
        draw_steps(axis, variants[variant], theme)
        axis.set_title(variant, fontsize=10)
    for axis in axes.flat[len(variants) :]:
        axis.set_axis_off()
    figure.suptitle(
        "Points per hand: the step that each agent adds to the one that its bar begins at",
        fontsize=10.5,
    )
    figure.supxlabel(
        "points per hand over the agent at the bottom, steps added up; each step with its 95 %\n"
        "interval, the share of whole games that the agent wins, and its time for a decision",
        fontsize=9,
    )
    return figure


def draw_steps(axis: Any, steps: dict[str, list[Row]], theme: Theme) -> None:
    """Draw a variant: each step is a bar that starts at the end of the weaker agent's bar.

    `steps` has the rungs by stronger agent: the first is the step, the others are only printed.
    """
    lowest = next(iter(steps.values()))[0]["agents"][1]
    places, ends = {lowest: 0}, {lowest: 0.0}
    for agent, (rung, *_) in steps.items():
        places[agent] = len(places)
        ends[agent] = ends.get(rung["agents"][1], 0.0) + rung["points_per_hand"]["mean"]
    most = max(ends.values())
    widest = max(ends[name] + half(rung["points_per_hand"]) for name, (rung, *_) in steps.items())
    axis.plot(0, 0, "o", color=theme.soft, markersize=5)
    for agent, (rung, *others) in steps.items():
        weaker, place, end = rung["agents"][1], places[agent], ends[agent]
        start, error = ends.get(weaker, 0.0), half(rung["points_per_hand"])
        axis.plot([start] * 2, [places.get(weaker, 0), place], color=theme.soft, linewidth=0.8)
        axis.barh(place, end - start, left=start, height=0.16, color=theme.marks[0])
        axis.plot([end - error, end + error], [place] * 2, color=theme.ink, linewidth=1.5)
        right = next((x for x in (start, end) if x > ROOM * most), most)
        offsets = (6, *(-13 - 10 * line for line in range(len(others))))
        labels = [label_of(rung), *(label_of(other, over=True) for other in others)]
        for offset, label in zip(offsets, labels, strict=True):
            style = {"ha": "right", "va": "bottom", "fontsize": 8}
            annotate(axis, label, (right, place), (-4, offset), theme, **style)
    name_rows(axis, list(places))
    axis.set_ylim(-0.4, len(places) - 0.25)
    axis.set_xlim(-0.02 * widest, 1.03 * widest)


def label_of(rung: Row, over: bool = False) -> str:
    """Format a rung: points per hand and games won; if `over`, the opponent, else the time.

    Games won are left out if their interval is wider than `WIDEST`.
    """
    stronger, weaker = rung["agents"]
    points, won = rung["points_per_hand"], rung.get("win_rate") or {}
    parts = [f"{points['mean']:+.2f} ± {half(points):.2f}" + (f" over {weaker}" if over else "")]
    if won.get("mean") is not None and won["high"] - won["low"] <= WIDEST:
        parts.append(f"wins {100 * won['mean']:.0f} % of games")
    if not over:
        parts.append(duration(rung["ms_per_decision"][stronger]))
    return ", ".join(parts)


def duration(milliseconds: float) -> str:
    """Format the time of a decision in µs or ms."""
    if milliseconds < 0.1:
        return f"{float(f'{1000 * milliseconds:.1g}'):g} µs"
    return f"{milliseconds:.2g} ms"


# --- learning curves ------------------------------------------------------------------------------

OPPONENTS = ("rule", "expert")


def read_curves(folder: Path) -> dict[str, list[Curve]]:
    """Return the curves of each variant, one per seed, as lists by column.

    Of several measurements after the same number of decisions, the last counts. `ValueError` if the
    folder has no curves.
    """
    curves: dict[str, list[Curve]] = {}
    names = [f"{opponent} {value}" for opponent in OPPONENTS for value in ("points", "low", "high")]
    for path in sorted(folder.glob("*-seed*.csv")):
        with path.open(newline="", encoding="utf-8") as file:
            rows = {row["decisions"]: row for row in csv.DictReader(file)}.values()
        curve = {name: [float(row[name]) for row in rows] for name in names}
        curve["millions"] = [int(row["decisions"]) / 1e6 for row in rows]
        curve["minutes"] = [float(row["processor"]) / 60 for row in rows]
        curves.setdefault(path.stem.rpartition("-seed")[0], []).append(curve)
    if not curves:
        raise ValueError("no VARIANT-seedN.csv")
    return curves


def learning(curves: dict[str, list[Curve]], theme: Theme) -> Any:
    """Return a figure with a panel per variant: a line per seed, a colour per opponent."""
    figure, axes = new_figure(3.4, 1, len(curves))
    for axis, (variant, seeds) in zip(axes[0], curves.items(), strict=True):
        axis.axhline(0, color=theme.soft, linewidth=0.8)
        for mark, opponent in zip(theme.marks, OPPONENTS, strict=False):
            for number, curve in enumerate(seeds):
                x, label = curve["millions"], None if number else f"over {opponent}"
                low, high = curve[f"{opponent} low"], curve[f"{opponent} high"]
                axis.plot(x, curve[f"{opponent} points"], color=mark, linewidth=1.2, label=label)
                axis.fill_between(x, low, high, color=mark, alpha=0.15, linewidth=0)
        minutes = max(max(curve["minutes"]) for curve in seeds)
        axis.set_xlabel(f"millions of decisions; all of them in {minutes:.0f} minutes of one core")
        axis.set_xlim(0, max(curve["millions"][-1] for curve in seeds))
        axis.grid(color=theme.faint, linewidth=0.5)
        axis.legend(frameon=False, loc="lower right", labelcolor=theme.ink)
        axis.set_title(variant, fontsize=10)
    axes[0, 0].set_ylabel("points per hand over the opponent")
    title = "Learning from nothing: a line for each seed, with 95 % intervals"
    figure.suptitle(title, fontsize=10.5)
    return figure


# --- tricks given away ----------------------------------------------------------------------------

AGENT = 0.42  # height of a row in inches
PARTS = {"declarer": 0, "helper": 1, "defenders": 2, "alone": 3, "against alone": 3}
"""[role]: index of its colour, and of its name in `NAMES`."""
NAMES = ("declarer", "helper", "defenders", "hands alone")


def parts_of(row: Row) -> list[tuple[float, int]]:
    """Return the parts of a row's total: tricks per hand over all hands, and a colour's index.

    There is a part for each role in `PARTS`.
    """
    parts = []
    for role, mark in PARTS.items():
        lone = mark == PARTS["alone"]
        share = (row["lone_hands"] if lone else row["hands"] - row["lone_hands"]) / row["hands"]
        parts.append(((row["lost"][role]["mean"] or 0.0) * share, mark))
    return parts


def regret(rows: list[Row], theme: Theme) -> Any:
    """Return a figure with two panels for each game: bars by role, and a table by trick."""
    from matplotlib.patches import Patch

    games = dict.fromkeys(row["variant"] for row in rows)
    groups = [[row for row in rows if row["variant"] == game] for game in games]
    heights = [len(group) + 1.6 for group in groups]
    ratios = {"width_ratios": (5, 4), "height_ratios": heights}
    figure, axes = new_figure(AGENT * sum(heights) + 0.9, len(groups), 2, **ratios)
    for (left, right), group in zip(axes, groups, strict=True):
        draw_parts(left, group, theme)
        draw_tricks(right, group, theme)
    figure.suptitle(
        "Tricks given away per hand, all seats together, against play that sees every hand",
        fontsize=10.5,
    )
    handles = [Patch(color=theme.marks[mark]) for mark in range(len(NAMES))]
    figure.legend(handles, NAMES, loc="outside lower center", ncols=4, frameon=False, fontsize=8.5)
    return figure


def draw_parts(axis: Any, rows: list[Row], theme: Theme) -> None:
    """Draw a bar per agent, divided by role, with the 95 % interval of the total."""
    most = max(row["lost"]["total"]["high"] for row in rows)
    for place, row in enumerate(rows):
        start, total = 0.0, row["lost"]["total"]
        for part, mark in parts_of(row):
            axis.barh(place, part, left=start, height=0.55, color=theme.marks[mark])
            start += part
        axis.plot([total["low"], total["high"]], [place] * 2, color=theme.ink, linewidth=1.5)
        label = f"{total['mean']:.3f} ± {half(total):.3f}"
        axis.text(total["high"] + 0.02 * most, place, label, va="center", fontsize=8)
    name_rows(axis, [row["agent"] for row in rows])
    axis.set_ylim(len(rows) - 0.4, -0.6)
    axis.set_xlim(0, 1.35 * most)
    variant, calls, hands = (rows[0][name] for name in ("variant", "calls", "hands"))
    axis.set_title(f"{variant}, called by {calls}, {hands:,} hands", fontsize=9)


def draw_tricks(axis: Any, rows: list[Row], theme: Theme) -> None:
    """Draw each agent's loss by trick, darker for more; the last trick offers no choice."""
    means = [[each["mean"] for each in row["by_trick"]["total"][:-1]] for row in rows]
    most = max(max(line) for line in means) or 1.0
    for place, line in enumerate(means):
        for trick, mean in enumerate(line):
            shade = 0.08 + 0.62 * (mean / most) ** 0.5
            axis.barh(place, 0.96, left=trick + 0.02, height=0.9, color=theme.marks[0], alpha=shade)
            axis.text(trick + 0.5, place, f"{mean:.2f}", ha="center", va="center", fontsize=7.5)
    axis.set_xlim(0, len(means[0]))
    axis.set_ylim(len(rows) - 0.4, -0.6)
    axis.set_yticks([])
    axis.set_xticks([k + 0.5 for k in range(len(means[0]))], range(1, len(means[0]) + 1))
    axis.tick_params(length=0)
    axis.spines[:].set_visible(False)
    axis.set_title("by trick", fontsize=9)


# --- the script -----------------------------------------------------------------------------------

READ: dict[str, tuple[Callable[[Path], Any], Callable[[Any, Theme], Any], Path, Path]] = {
    "ladder": (lambda path: read_rows(path, "rungs"), ladder, HERE / "ladder.json", PICTURES),
    "regret": (
        lambda path: read_rows(path, "rows"),
        regret,
        RESULTS / "regret" / "regret.json",
        RESULTS / "regret",
    ),
    "learning": (read_curves, learning, RESULTS / "ppo", PICTURES),
}
"""By figure: functions that read and draw its data, their path, and the output folder."""


def main(arguments: list[str] | None = None) -> int:
    """Draw the figure named in `arguments`, and write its light and its dark file; return 0."""
    parser = argparse.ArgumentParser(**script_help(__doc__))
    parser.add_argument("figure", choices=tuple(READ), help="figure to draw")
    parser.add_argument("--data", type=Path, help="its file, or folder (default: the published)")
    parser.add_argument("--out", type=Path, help="the folder of the pictures")
    args = parser.parse_args(arguments)
    read, draw, published, folder = READ[args.figure]
    data = args.data or published

    def drawn(theme: Theme) -> Any:
        try:
            return draw(read(data), theme)
        except DAMAGED as error:
            raise OptionError(f"{data}: expected the data of {args.figure} ({error})") from None

    try:
        save((args.out or folder) / args.figure, drawn)
    except ImportError:
        raise OptionError(NEEDS_MATPLOTLIB) from None
    return 0


if __name__ == "__main__":
    sys.exit(script(main))
