"""The picture of the ladder: the points per hand that each agent adds to a weaker one.

    python experiments/ladder_picture.py
    python experiments/ladder_picture.py --ladder runs/ladder.json --out runs

It reads what `ladder.py --json` wrote, and writes `ladder-light.svg` and `ladder-dark.svg`.
It needs matplotlib.
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

HERE = Path(__file__).resolve().parent
ROW = 0.52  # inches
SURE = 0.06  # of a share of games won: a wider interval makes no figure for a picture
ROOM = 0.75  # of a panel: words left of it have room


@dataclass(frozen=True)
class Args(ScriptArgs):
    """What to draw, and where; every field is an option of the command line."""

    ladder: Path = field(
        default=HERE / "ladder.json", metadata={"help": "the file of ladder.py --json"}
    )
    out: Path = field(
        default=HERE.parent / ".github" / "pictures",
        metadata={"help": "the folder of the pictures"},
    )


def load(path: Path) -> list[dict[str, Any]]:
    """The rows of a ladder; `OptionError` for a file that has none, or lacks what is drawn."""
    try:
        rungs: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["rungs"]
        for rung in rungs:
            stronger, weaker = rung["agents"]
            named = all(isinstance(name, str) for name in (rung["variant"], stronger, weaker))
            sum(rung["points_per_hand"][name] for name in ("mean", "low", "high"))
            words(rung, 0.0)
            if not named:
                raise ValueError("a name is no text")
        if not rungs:
            raise ValueError("it is empty")
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise OptionError(f"{path}: no rows of a ladder ({error})") from None
    return rungs


def draw(path: Path, rungs: list[dict[str, Any]]) -> None:
    """Write `path-light.svg` and `path-dark.svg` from the rows of the ladder."""
    save(path, lambda look: panels(rungs, look))


def panels(rungs: list[dict[str, Any]], look: Look) -> Figure:
    """A panel per variant, two side by side; a row per agent, the strongest at the top."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    variants = {rung["variant"]: steps_of(rungs, rung["variant"]) for rung in rungs}
    wide = min(len(variants), 2)
    steps = list(variants.values())
    rows = [max(map(len, steps[k : k + wide])) + 1 for k in range(0, len(steps), wide)]
    figure = Figure(figsize=(WIDTH, ROW * sum(rows) + 0.5 * len(rows) + 0.5), layout="constrained")
    FigureCanvasSVG(figure)
    ratios = [row + 0.5 for row in rows]
    axes = figure.subplots(len(rows), wide, squeeze=False, height_ratios=ratios).ravel()
    for axis, variant in zip(axes, variants, strict=False):
        panel(axis, variants[variant], look)
        axis.set_title(variant, fontsize=10)
    for axis in axes[len(variants) :]:
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


def steps_of(rungs: list[dict[str, Any]], variant: str) -> dict[str, list[dict[str, Any]]]:
    """The rungs of a variant by their stronger agent: first its step, then what else it played."""
    steps: dict[str, list[dict[str, Any]]] = {}
    for rung in rungs:
        if rung["variant"] == variant:
            steps.setdefault(rung["agents"][0], []).append(rung)
    return steps


def panel(axis: Any, steps: dict[str, list[dict[str, Any]]], look: Look) -> None:
    """One variant: each step as a bar that begins where that of the weaker agent ends."""
    lowest = next(iter(steps.values()))[0]["agents"][1]
    places, ends = {lowest: 0}, {lowest: 0.0}
    for agent, (rung, *_) in steps.items():
        places[agent] = len(places)
        ends[agent] = ends.get(rung["agents"][1], 0.0) + rung["points_per_hand"]["mean"]
    most = max(ends.values())
    widest = max(ends[agent] + half_of(rung) for agent, (rung, *_) in steps.items())
    axis.plot(0, 0, "o", color=look.soft, markersize=5)
    for agent, (rung, *others) in steps.items():
        weaker, place, end = rung["agents"][1], places[agent], ends[agent]
        start, half = ends.get(weaker, 0.0), half_of(rung)
        axis.plot([start] * 2, [places.get(weaker, 0), place], color=look.soft, linewidth=0.8)
        axis.barh(place, end - start, left=start, height=0.16, color=look.marks[0])
        axis.plot([end - half, end + half], [place] * 2, color=look.ink, linewidth=1.5)
        right = next((x for x in (start, end) if x > ROOM * most), most)
        write(axis, (right, place), 6, words(rung, half), look)
        for line, other in enumerate(others):
            write(axis, (right, place), -13 - 10 * line, against(other), look)
    axis.set_yticks(range(len(places)), places)
    axis.set_ylim(-0.4, len(places) - 0.25)
    axis.set_xlim(-0.02 * widest, 1.03 * widest)
    axis.tick_params(axis="y", length=0)
    axis.spines["left"].set_visible(False)


def write(axis: Any, place: tuple[float, int], above: int, text: str, look: Look) -> None:
    """Words that end at a place, so many points above it."""
    axis.annotate(
        text,
        place,
        (-4, above),
        textcoords="offset points",
        ha="right",
        va="bottom",
        fontsize=8,
        bbox={"facecolor": look.paper, "edgecolor": "none", "pad": 0.8},
    )


def half_of(rung: dict[str, Any]) -> float:
    """Half of the interval of the points per hand."""
    half: float = (rung["points_per_hand"]["high"] - rung["points_per_hand"]["low"]) / 2
    return half


def words(rung: dict[str, Any], half: float) -> str:
    """A step in words: its points, the games it wins, and the time of a decision."""
    ms = rung["ms_per_decision"][rung["agents"][0]]
    parts = [f"{rung['points_per_hand']['mean']:+.2f} ± {half:.2f}", *games_won(rung)]
    return ", ".join([*parts, duration(ms)])


def against(rung: dict[str, Any]) -> str:
    """What an agent makes of one that it does not stand on, in words."""
    mean = f"{rung['points_per_hand']['mean']:+.2f} ± {half_of(rung):.2f}"
    return ", ".join([f"{mean} over {rung['agents'][1]}", *games_won(rung)])


def games_won(rung: dict[str, Any]) -> list[str]:
    """The share of games won in words, if there are enough games for a figure."""
    won = rung.get("win_rate") or {}
    if won.get("mean") is None or won["high"] - won["low"] > SURE:
        return []
    return [f"wins {100 * won['mean']:.0f} % of games"]


def duration(milliseconds: float) -> str:
    """The time of a decision in the unit that suits it."""
    if milliseconds < 0.1:
        return f"{float(f'{1000 * milliseconds:.1g}'):g} µs"
    return f"{milliseconds:.2g} ms"


def main(args: Args) -> int:
    """Draw both looks."""
    rungs = load(args.ladder)
    try:
        draw(args.out / "ladder", rungs)
    except ImportError:
        raise OptionError(NEEDS_MATPLOTLIB) from None
    return 0


if __name__ == "__main__":
    sys.exit(run(main, Args))
