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

RUNG = 0.34  # height of a row in inches
TEXT = 14  # points; a phone shows the picture at two fifths of its size
COLUMNS = 3


def ladder(rungs: list[Row], theme: Theme) -> Any:
    """Return a figure with a panel per variant, three side by side, and a bar per agent.

    `rungs` are rows of `ladder.py`, by variant from the weakest agent to the strongest, which is
    drawn at the top. Steps over `random` are left out if there are others: they are so long that
    the others could hardly be seen.
    """
    rungs = [rung for rung in rungs if "random" not in rung["agents"]] or rungs
    agents = [*dict.fromkeys(name for rung in rungs for name in reversed(rung["agents"]))]
    variants = [*dict.fromkeys(rung["variant"] for rung in rungs)]
    columns = min(len(variants), COLUMNS)
    rows = -(-len(variants) // columns)
    height = rows * (RUNG * len(agents) + 0.6) + 1.0
    figure, axes = new_figure(height, rows, columns, sharey=True)
    for axis, variant in zip(axes.flat, variants, strict=False):
        draw_steps(axis, [rung for rung in rungs if rung["variant"] == variant], agents, theme)
        axis.set_title(variant, fontsize=TEXT)
    for axis in axes.flat[len(variants) :]:
        axis.set_axis_off()
    figure.suptitle("Points per hand over the agent where the bar starts", fontsize=TEXT)
    figure.supxlabel(f"points over {agents[0]}, added up; lines: 95 % intervals", fontsize=TEXT)
    return figure


def draw_steps(axis: Any, rungs: list[Row], agents: list[str], theme: Theme) -> None:
    """Draw a variant: the step of an agent is a bar from the end of the weaker agent's bar.

    The row of an agent is its place in `agents`. Its step is its first rung.
    """
    steps: dict[str, Row] = {}
    for rung in rungs:
        steps.setdefault(rung["agents"][0], rung)
    ends = {rungs[0]["agents"][1]: 0.0}
    axis.plot(0, agents.index(*ends), "o", color=theme.soft, markersize=5)
    for agent, rung in steps.items():
        weaker, points = rung["agents"][1], rung["points_per_hand"]
        place, start, error = agents.index(agent), ends.get(weaker, 0.0), half(points)
        ends[agent] = end = start + points["mean"]
        axis.plot([start] * 2, [agents.index(weaker), place], color=theme.soft, linewidth=0.8)
        axis.barh(place, end - start, left=start, height=0.4, color=theme.marks[0])
        axis.plot([end - error, end + error], [place] * 2, color=theme.ink, linewidth=1.5)
        left, right = min(start, end - error), max(start, end + error)
        side = ("right", left, -5) if start else ("left", right, 5)
        label = {"ha": side[0], "va": "center", "fontsize": TEXT}
        annotate(axis, f"{points['mean']:+.2f}", (side[1], place), (side[2], 0), theme, **label)
    name_rows(axis, agents)
    axis.tick_params(labelsize=TEXT)
    axis.locator_params(axis="x", nbins=4, integer=True)
    axis.use_sticky_edges = False  # room around the first point and the last intervals
    axis.set_ylim(-0.6, len(agents) - 0.4)


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
