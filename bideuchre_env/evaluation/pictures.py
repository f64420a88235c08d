"""SVG pictures of results in a light and a dark theme, and the heat maps of tournaments.

Text is stored as text, so that files are small. The same data give byte-identical files. Drawing
needs matplotlib.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bideuchre_env._files import write_file
from bideuchre_env.evaluation.field_tables import pair_scores
from bideuchre_env.evaluation.tournament_tables import Scores, in_lines, length, scores

_METADATA = ("Date", "Creator", "Format", "Type")  # left out of the file
WIDTH = 9.2  # inches: at 96 dots per inch as wide as a page of GitHub


@dataclass(frozen=True)
class Theme:
    """The colours of a picture; `suffix` is added to the names of its files.

    They are `paper` (background), `ink` (text), `soft` (axes), `faint` and `marks`.
    """

    suffix: str
    paper: str
    ink: str
    soft: str
    faint: str
    marks: tuple[str, ...]


ON_LIGHT = ("#0969da", "#bc4c00", "#1a7f37", "#8250df")
ON_DARK = ("#4493f8", "#f0883e", "#3fb950", "#ab7df8")
LIGHT = Theme("-light", "#ffffff", "#1f2328", "#59636e", "#d8dee4", ON_LIGHT)
DARK = Theme("-dark", "#0d1117", "#f0f6fc", "#9198a1", "#30363d", ON_DARK)


def files(path: Path) -> tuple[Path, Path]:
    """Return the paths of both themes of a picture: `path` with -light.svg and -dark.svg added."""
    light, dark = (path.with_name(f"{path.name}{theme.suffix}.svg") for theme in (LIGHT, DARK))
    return light, dark


def save(path: Path, draw: Callable[[Theme], Any]) -> None:
    """Write both files of a picture; `draw` returns its matplotlib figure for a theme.

    Raises `ImportError` without matplotlib, `OutputError` for a file that cannot be written.
    """
    import matplotlib

    for theme, file in zip((LIGHT, DARK), files(path), strict=True):
        settings: Any = {
            "svg.fonttype": "none",
            "svg.hashsalt": path.name,
            "font.family": "sans-serif",
            "font.size": 9,
            "text.color": theme.ink,
            "axes.labelcolor": theme.ink,
            "axes.edgecolor": theme.soft,
            "axes.facecolor": theme.paper,
            "figure.facecolor": theme.paper,
            "xtick.color": theme.soft,
            "xtick.labelcolor": theme.ink,
            "ytick.color": theme.soft,
            "ytick.labelcolor": theme.ink,
            "axes.spines.top": False,
            "axes.spines.right": False,
        }
        with matplotlib.rc_context(settings):
            text = io.StringIO()
            draw(theme).savefig(text, format="svg", metadata=dict.fromkeys(_METADATA))
        write_file(file, _shortened(text.getvalue()))


def _shortened(text: str) -> str:
    """Shorten an SVG file: numbers to one decimal, three fonts, no indentation."""
    text = re.sub(r"<[^>]*>", lambda tag: re.sub(r"(\d\.\d)\d+", r"\1", tag[0]), text)
    text = re.sub(r"('DejaVu Sans'), [^;\"]*(sans-serif)", r"\1, Verdana, \2", text)
    return re.sub(r"\n\s+", "\n", text)


def markdown(path: str, alt: str) -> str:
    """Return the HTML of a picture for a README; `path` is its files' path without -light.svg."""
    light, dark = (f"{path}{theme.suffix}.svg" for theme in (LIGHT, DARK))
    return (
        f'<picture>\n<source media="(prefers-color-scheme: dark)" srcset="{dark}">\n'
        f'<img alt="{alt}" src="{light}">\n</picture>'
    )


def new_figure(height: float, rows: int = 1, columns: int = 1, **options: Any) -> tuple[Any, Any]:
    """Return a figure of `WIDTH` by `height` inches, and the axes of its subplots.

    The axes are a numpy array of shape (rows, columns). `options` go to `Figure.subplots`.
    """
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH, height), layout="constrained")
    FigureCanvasSVG(figure)
    return figure, figure.subplots(rows, columns, squeeze=False, **options)


def name_rows(axis: Any, names: Sequence[str]) -> None:
    """Label the rows 0, 1, ... of an axis, and hide its left spine."""
    axis.set_yticks(range(len(names)), names)
    axis.tick_params(axis="y", length=0)
    axis.spines["left"].set_visible(False)


def annotate(
    axis: Any,
    text: str,
    place: tuple[float, float],
    offset: tuple[float, float],
    theme: Theme,
    **options: Any,
) -> None:
    """Write text on a background box at `offset`, in points, from a place in data coordinates.

    `options` go to `axis.annotate`.
    """
    box = {"facecolor": theme.paper, "edgecolor": "none", "pad": 0.8}
    axis.annotate(text, place, offset, textcoords="offset points", bbox=box, **options)


# --- tournaments ----------------------------------------------------------------------------------


def heat_maps(data: dict[str, Any], theme: Theme) -> Any:
    """Return the figure of a tournament's results, the object of its `results.json`.

    It has a panel per variant; a cell is blue if the row's agent is ahead, red if it is behind. In
    cross-play, the agents of a cell are partners.
    """
    from matplotlib.colors import SymLogNorm

    is_crossplay = data.get("kind") == "crossplay"
    tables = pair_scores(data) if is_crossplay else scores(data)
    agents = data["entrants" if is_crossplay else "agents"]
    columns = min(3, len(tables))
    rows, cell = -(-len(tables) // columns), (WIDTH - 1.0) / columns - 0.75
    figure, axes = new_figure(rows * (cell + 0.55) + 0.6, rows, columns)
    most = max(abs(mean) for table in tables.values() for mean, _ in table.values()) or 1.0
    norm = SymLogNorm(linthresh=1.0, vmin=-most, vmax=most, base=10)
    for axis in axes.flat[len(tables) :]:
        axis.axis("off")
    for axis, (variant, table) in zip(axes.flat, tables.items(), strict=False):
        image = _heat_map(axis, table, agents, norm)
        axis.set_title(variant, fontsize=10)
        ratings = {} if is_crossplay else data["ratings"].get(variant, {})
        names = [
            in_lines(agent) + (f"\n{ratings[agent]['mean']:.0f}" if agent in ratings else "")
            for agent in agents
        ]
        axis.set_yticks([k + 0.5 for k in range(len(agents))], names)
        axis.set_facecolor(theme.faint)
    bar = figure.colorbar(image, ax=axes, shrink=0.6, aspect=30, pad=0.02)
    bar.set_ticks(ticks := [x for x in (-20, -5, -1, 0, 1, 5, 20) if abs(x) <= most])
    bar.set_ticklabels([_signed(x, 0) for x in ticks])
    bar.set_label("points per hand")
    bar.outline.set_visible(False)
    pairs, note = "agents against the column's", "a pair; below each name its rating"
    if is_crossplay:
        pairs, note = "agent and the column's as partners", f"against {', '.join(data['field'])}"
    title = f"Points per hand of the row's {pairs}, ± 95 % interval\n({length(data)} {note})"
    figure.suptitle(title, fontsize=10.5)
    return figure


def _heat_map(axis: Any, table: Scores, agents: list[str], norm: Any) -> Any:
    """Draw a variant's table as coloured cells; return matplotlib's mesh."""
    n = len(agents)
    means = [[table.get((a, b), (float("nan"),))[0] for b in agents] for a in agents]
    image = axis.pcolormesh(means, cmap="RdBu", norm=norm, edgecolors="white", linewidth=1)
    for (a, b), (mean, half) in table.items():
        ink = "white" if abs(norm(mean) - 0.5) > 0.3 else "#1f2328"
        x, y = agents.index(b) + 0.5, agents.index(a) + 0.5
        axis.text(x, y - 0.12, _signed(mean, 2), ha="center", va="center", color=ink, size=8.5)
        axis.text(x, y + 0.22, f"± {half:.2f}", ha="center", va="center", color=ink, size=7)
    axis.set_aspect("equal")
    axis.invert_yaxis()
    names = [in_lines(agent) for agent in agents]
    axis.set_xticks([k + 0.5 for k in range(n)], names)
    if max(len(line) for name in names for line in name.split("\n")) > 16:  # wider than a cell
        axis.tick_params(axis="x", labelrotation=90)
    axis.tick_params(which="both", length=0, labelsize=8)
    axis.spines[:].set_visible(False)
    return image


def _signed(number: float, places: int) -> str:
    """Format a number with its sign; a minus is a minus sign, not a hyphen."""
    text = f"{number:+.{places}f}" if number else "0"
    return text.replace("-", "\N{MINUS SIGN}")
