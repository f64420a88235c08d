"""The heat maps of a tournament: a panel for each variant. They need matplotlib."""

from __future__ import annotations

from typing import Any

from bideuchre_env.evaluation.pictures import WIDTH, Look
from bideuchre_env.evaluation.tournament_tables import Scores, in_lines, length, scores


def panels(data: dict[str, Any], look: Look) -> Any:
    """A figure with a panel per variant, blue where the row is ahead, red where it is behind."""
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
    figure.suptitle(
        "Points per hand of the row's agents against the column's, ± 95 % interval\n"
        f"({length(data)} a pair; below each name its rating)",
        fontsize=10.5,
    )
    return figure


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


def signed(number: float, places: int) -> str:
    """A number with its sign, which is a real minus."""
    text = f"{number:+.{places}f}" if number else "0"
    return text.replace("-", "\N{MINUS SIGN}")
