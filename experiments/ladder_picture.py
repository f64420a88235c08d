"""The picture of the ladder: the points per hand that each agent adds to the next weaker one.

    python experiments/ladder_picture.py
    python experiments/ladder_picture.py --ladder runs/ladder.json --out runs

It reads what `ladder.py --json` wrote, and writes `ladder-light.svg` and `ladder-dark.svg`.
It needs matplotlib.
"""

from __future__ import annotations

import bideuchre_env.runtime.quitting  # noqa: F401  # first: Ctrl-C is one line from now on

# isort: split
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
SEVERAL = 1.0  # points per hand: a longer step has room for its words


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
    """A panel per variant, side by side; a row per agent, the strongest at the top."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    variants = list(dict.fromkeys(rung["variant"] for rung in rungs))
    most = max(sum(rung["variant"] == variant for rung in rungs) for variant in variants)
    figure = Figure(figsize=(WIDTH, ROW * (most + 1) + 1.0), layout="constrained")
    FigureCanvasSVG(figure)
    axes = figure.subplots(1, len(variants), squeeze=False)[0]
    for axis, variant in zip(axes, variants, strict=True):
        panel(axis, [rung for rung in rungs if rung["variant"] == variant], look)
        axis.set_title(variant, fontsize=10)
    figure.suptitle(
        "Points per hand over random: the step that each agent adds to the one below it",
        fontsize=10.5,
    )
    figure.supxlabel(
        "points per hand, steps added up; each step with its 95 % interval, the share of whole\n"
        "games that the agent wins against the one below it, and its time for a decision",
        fontsize=9,
    )
    return figure


def panel(axis: Any, rungs: list[dict[str, Any]], look: Look) -> None:
    """One variant: each step as a bar that begins where the one below it ends."""
    agents = [rungs[0]["agents"][1], *(rung["agents"][0] for rung in rungs)]
    height = 0.0
    axis.plot(0, 0, "o", color=look.soft, markersize=5)
    for place, rung in enumerate(rungs, start=1):
        points = rung["points_per_hand"]
        start, height = height, height + points["mean"]
        half = (points["high"] - points["low"]) / 2
        axis.plot([start, start], [place - 1, place], color=look.soft, linewidth=0.8)
        axis.barh(place, height - start, left=start, height=0.16, color=look.marks[0])
        axis.plot([height - half, height + half], [place] * 2, color=look.ink, linewidth=1.5)
        axis.annotate(
            words(rung, half),
            (height, place),
            (-4, 6),
            textcoords="offset points",
            ha="right" if height > SEVERAL else "left",
            va="bottom",
            fontsize=8,
        )
    axis.set_yticks(range(len(agents)), agents)
    axis.set_ylim(-0.4, len(agents) - 0.25)
    axis.set_xlim(-0.02 * height, 1.03 * height)
    axis.tick_params(axis="y", length=0)
    axis.spines["left"].set_visible(False)


def words(rung: dict[str, Any], half: float) -> str:
    """A step in words: its points, the games it wins, and the time of a decision."""
    won, ms = rung.get("win_rate") or {}, rung["ms_per_decision"][rung["agents"][0]]
    parts = [f"{rung['points_per_hand']['mean']:+.2f} ± {half:.2f}"]
    if won.get("mean") is not None and won["high"] - won["low"] <= SURE:
        parts.append(f"wins {100 * won['mean']:.0f} % of games")
    return ", ".join([*parts, duration(ms)])


def duration(milliseconds: float) -> str:
    """The time of a decision in the unit that suits it."""
    if milliseconds < 0.1:
        return f"{1000 * milliseconds:.1g} µs"
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
