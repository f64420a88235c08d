"""The heat maps of a tournament, from the `results.json` that it wrote.

    python experiments/tournament_picture.py
    python experiments/tournament_picture.py --results runs/tournament/results.json

A panel for each variant; `tournament.py` draws the same when it is done. It needs matplotlib.
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
Scores = dict[tuple[str, str], tuple[float, float]]  # (row, column): points, half interval


@dataclass(frozen=True)
class Args(ScriptArgs):
    """What to draw; every field is an option of the command line."""

    results: Path = field(
        default=HERE / "results" / "tournament" / "results.json",
        metadata={"help": "the file of a tournament; the pictures lie beside it"},
    )


def load(path: Path) -> dict[str, Any]:
    """The object of a `results.json`; `OptionError` for a file that lacks what is drawn."""
    try:
        data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        agents, tables = data["agents"], scores(data)
        if not tables:
            raise ValueError("no matches")
        pairs = [pair for table in tables.values() for pair in table]
        if not all(isinstance(name, str) and name in agents for pair in pairs for name in pair):
            raise ValueError("a match of somebody else")
        for rated in data["ratings"].values():
            for agent in agents:
                named(agent, rated)
        f"{data['sprt']}, {data['boards']:,}"
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise OptionError(f"{path}: no results of a tournament ({error})") from None
    return data


def draw(path: Path, data: dict[str, Any]) -> None:
    """Write `path-light.svg` and `path-dark.svg` from the object of a `results.json`."""
    save(path, lambda look: panels(data, look))


def panels(data: dict[str, Any], look: Look) -> Figure:
    """A panel per variant, blue where the row is ahead, red where it is behind."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.colors import SymLogNorm
    from matplotlib.figure import Figure

    tables, agents = scores(data), data["agents"]
    columns = min(3, len(tables))
    rows, cell = -(-len(tables) // columns), (WIDTH - 1.0) / columns - 0.75
    figure = Figure(figsize=(WIDTH, rows * (cell + 0.55) + 0.6), layout="constrained")
    FigureCanvasSVG(figure)
    most = max(abs(mean) for table in tables.values() for mean, _ in table.values()) or 1.0
    norm = SymLogNorm(linthresh=1.0, vmin=-most, vmax=most, base=10)
    axes = figure.subplots(rows, columns, squeeze=False)
    for axis in axes.flat[len(tables) :]:
        axis.axis("off")
    for axis, (variant, table) in zip(axes.flat, tables.items(), strict=False):
        image = panel(axis, table, agents, norm)
        axis.set_title(variant, fontsize=10)
        rated = data["ratings"].get(variant, {})
        axis.set_yticks([k + 0.5 for k in range(len(agents))], [named(a, rated) for a in agents])
        axis.set_facecolor(look.faint)
    bar = figure.colorbar(image, ax=axes, shrink=0.6, aspect=30, pad=0.02)
    bar.set_ticks(ticks := [x for x in (-20, -5, -1, 0, 1, 5, 20) if abs(x) <= most])
    bar.set_ticklabels([signed(x, 0) for x in ticks])
    bar.set_label("points per hand")
    bar.outline.set_visible(False)
    boards = f"{'up to ' if data['sprt'] else ''}{data['boards']:,} duplicate boards"
    figure.suptitle(
        "Points per hand of the row's agents against the column's, ± 95 % interval\n"
        f"({boards} a pair; below each name its rating)",
        fontsize=10.5,
    )
    return figure


def scores(data: dict[str, Any]) -> dict[str, Scores]:
    """By variant: (row, column) to the row's points per hand and half the width of the interval."""
    tables: dict[str, Scores] = {}
    for match in data["matches"]:
        (a, b), points = match["agents"], match["points_per_hand"]
        half, table = (points["high"] - points["low"]) / 2, tables.setdefault(match["variant"], {})
        table[a, b], table[b, a] = (points["mean"], half), (-points["mean"], half)
    return tables


def panel(axis: Any, table: Scores, agents: list[str], norm: Any) -> Any:
    """One variant's table as coloured cells."""
    n = len(agents)
    means = [[table.get((a, b), (float("nan"),))[0] for b in agents] for a in agents]
    image = axis.pcolormesh(means, cmap="RdBu", norm=norm, edgecolors="white", linewidth=1)
    for (a, b), (mean, half) in table.items():
        ink = "white" if abs(norm(mean) - 0.5) > 0.3 else "#1f2328"
        x, y = agents.index(b) + 0.5, agents.index(a) + 0.5
        axis.text(x, y - 0.12, signed(mean, 2), ha="center", va="center", color=ink, size=8.5)
        axis.text(x, y + 0.22, f"± {half:.2f}", ha="center", va="center", color=ink, size=7)
    axis.set_aspect("equal")
    axis.invert_yaxis()
    axis.set_xticks([k + 0.5 for k in range(n)], [in_lines(agent) for agent in agents])
    axis.tick_params(which="both", length=0, labelsize=8)
    axis.spines[:].set_visible(False)
    return image


def named(agent: str, rated: dict[str, Any]) -> str:
    """An agent's name over its rating, where it has one."""
    return in_lines(agent) + (f"\n{rated[agent]['mean']:.0f}" if agent in rated else "")


def in_lines(agent: str) -> str:
    """An agent's name with each of its options in a line of its own."""
    return agent.replace(":", ":\n").replace(",", ",\n")


def signed(number: float, places: int) -> str:
    """A number with its sign, which is a real minus."""
    text = f"{number:+.{places}f}" if number else "0"
    return text.replace("-", "\N{MINUS SIGN}")


def main(args: Args) -> int:
    """Draw both looks."""
    data = load(args.results)
    try:
        draw(args.results.with_suffix(""), data)
    except ImportError:
        raise OptionError(NEEDS_MATPLOTLIB) from None
    return 0


if __name__ == "__main__":
    sys.exit(run(main, Args))
