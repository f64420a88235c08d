"""The tables of a tournament as a picture."""

from __future__ import annotations

import io
import textwrap
from pathlib import Path
from typing import Any

from bideuchre_env._files import write_file
from bideuchre_env.evaluation.statistics.intervals import Interval

Scores = dict[tuple[str, str], tuple[float, float]]  # (row, column): points, half interval


def draw(
    path: Path,
    tables: dict[str, Scores],
    rated: dict[str, dict[str, Interval]],
    agents: tuple[str, ...],
    title: str,
) -> None:
    """A panel per variant, blue where the row is ahead, red where behind; needs matplotlib."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    n, columns = len(agents), min(3, len(tables))
    rows = -(-len(tables) // columns)
    cell = max(0.95, 2.9 / n)
    figure = Figure(
        figsize=(columns * (n * cell + 1.0) + 0.9, rows * (n * cell + 0.75) + 1.1),
        layout="constrained",
    )
    FigureCanvasAgg(figure)
    scale = max(abs(mean) for scores in tables.values() for mean, _ in scores.values()) or 1.0
    axes = figure.subplots(rows, columns, squeeze=False)
    for axis in axes.flat[len(tables) :]:
        axis.axis("off")
    for axis, (variant, scores) in zip(axes.flat, tables.items(), strict=False):
        image = panel(axis, scores, agents, variant, scale)
        axis.set_yticks(range(n), [labelled(a, rated.get(variant, {})) for a in agents])
    bar = figure.colorbar(image, ax=axes, shrink=0.6, aspect=30, pad=0.02)
    bar.set_label("points per hand, row minus column")
    bar.outline.set_visible(False)
    figure.suptitle(textwrap.fill(title, int(9 * figure.get_figwidth())))
    image = io.BytesIO()
    figure.savefig(image, format="png", dpi=150)
    write_file(path, image.getvalue())


def panel(
    axis: Any,
    scores: Scores,
    agents: tuple[str, ...],
    title: str,
    scale: float,
) -> Any:
    """One variant's table as coloured cells."""
    n = len(agents)
    means = [[scores.get((a, b), (float("nan"),))[0] for b in agents] for a in agents]
    axis.set_facecolor("#eeeeee")
    image = axis.imshow(means, cmap="RdBu", vmin=-scale, vmax=scale)
    for (a, b), (mean, half) in scores.items():
        ink = "white" if abs(mean) > 0.6 * scale else "#222222"
        x, y = agents.index(b), agents.index(a)
        axis.text(x, y - 0.1, _signed(mean), ha="center", va="center", color=ink, size=13)
        axis.text(x, y + 0.2, f"± {half:.2f}", ha="center", va="center", color=ink, size=9)
    axis.set_title(title, size=11)
    axis.set_xticks(range(n), [in_lines(agent) for agent in agents])
    axis.set_yticks(range(n), agents)
    axis.set_xticks([i - 0.5 for i in range(1, n)], minor=True)
    axis.set_yticks([i - 0.5 for i in range(1, n)], minor=True)
    axis.grid(which="minor", color="white", linewidth=2)
    axis.tick_params(which="both", length=0)
    axis.spines[:].set_visible(False)
    return image


def labelled(agent: str, rated: dict[str, Interval]) -> str:
    """An agent's name over its rating, where it has one."""
    return in_lines(agent) + (f"\n{rated[agent].mean:.0f}" if agent in rated else "")


def in_lines(agent: str) -> str:
    """An agent's name with each of its options in a line of its own."""
    return agent.replace(":", ":\n").replace(",", ",\n")


def _signed(mean: float) -> str:
    return f"{mean:+.2f}".replace("-", "\N{MINUS SIGN}")
