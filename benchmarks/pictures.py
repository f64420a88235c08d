"""The pictures of the reports: peers as ratios, everything else as dots beside its target."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from reports import Report

from bideuchre_env.bench.measure import Figure as Measured
from bideuchre_env.bench.measure import amount
from bideuchre_env.evaluation.pictures import Theme, annotate, name_rows, new_figure, save

ROW, PANEL, EDGE = 0.21, 0.5, 0.75  # inches: a row, the rest of a panel, the rest of a picture
UNITS = {
    "decisions/s": "decisions per second",
    "deals/s": "deals per second",
    "means": "cards tried in the hardest deal of a hundred, times the mean",
    "s": "seconds",
    "MB": "megabytes",
    "B": "bytes",
    "B/s": "bytes per second",
    "of a copy's speed": "share of the speed of a copy",
}
WAYS = {  # what of ours a peer is compared with
    "AEC": "our env() or raw_env(), one game",
    "vec": "our vec, as many games",
    "rollouts": "our rollouts, whole hands in a kernel",
}
# What may be left out of a name where rows of one kind stand together.
VARIANT = re.compile(r",? \w+_v\d+$")
THREADS = re.compile(r", \d+ threads?$")
TAIL = ": cards tried by the 99th percentile, in means"
GAME = "cincinnati_v0"  # which stands for all variants
TARGET = "goal that the project set itself"


def draw(report: Report, path: Path) -> None:
    """Write the picture of a report, in both themes."""
    panels = peers if report.script == "peers" else speeds
    save(path, lambda theme: panels(report, theme))


def peers(report: Report, theme: Theme) -> Any:
    """A dot for each thing a peer does: how many times as fast ours is, best first."""
    compared = [row for row in report.figures if row.ratio is not None]
    groups = [list(rows) for _, rows in groupby(compared, key=lambda row: row.group)]
    figure, axes = page(report, groups, "Speed of bideuchre_env beside other packages")
    ratios = [row.ratio or 1.0 for row in compared]
    for axis, rows in zip(axes, groups, strict=True):
        rows.sort(key=lambda row: -(row.ratio or 1.0))
        prepare(axis, [row.name for row in rows], f"Beside {rows[0].group}", theme)
        axis.axvline(1, color=theme.ink, linewidth=1)
        for place, row in enumerate(rows):
            colour = theme.marks[way_of(row)]
            axis.plot(row.ratio, place, "o", color=colour, markersize=6)
            words = f"{amount(row.ratio or 1.0)}\N{MULTIPLICATION SIGN}"
            note(axis, row.ratio or 1.0, place, words, theme, left=(row.ratio or 1.0) < 1)
        limits(axis, [*ratios, min(ratios) / 1.8], room=0.15)
    axes[-1].set_xlabel("times as fast as (our decisions per second divided by theirs)")
    used = sorted({way_of(row) for row in compared})
    key(figure, [(list(WAYS.values())[way], theme.marks[way], "o") for way in used], theme)
    return figure


def way_of(row: Measured) -> int:
    """Which of `WAYS` a peer's figure is compared with."""
    return next((k for k, word in enumerate(WAYS) if str(row.against).startswith(word)), 0)


def speeds(report: Report, theme: Theme) -> Any:
    """A panel for each group and unit; rows that differ in variant or threads are one row."""
    units = list(dict.fromkeys(row.unit for row in report.figures))
    ordered = sorted(report.figures, key=lambda row: units.index(row.unit))
    panels = [
        merged(list(rows)) for _, rows in groupby(ordered, key=lambda row: (row.unit, row.group))
    ]
    figure, axes = page(report, panels, report.title)
    for axis, panel in zip(axes, panels, strict=True):
        first = panel[0][0]
        heading = f"{first.group}: {UNITS.get(first.unit, first.unit)}"
        prepare(axis, [label_of(rows) for rows in panel], heading, theme)
        for place, rows in enumerate(panel):
            draw_row(axis, place, rows, theme)
        limits(axis, [v for row in ordered if row.unit == first.unit for v in extent(row)])
    signs = [("median, with quartiles", theme.marks[0], "o")]
    if any(len(rows) > 1 for panel in panels for rows in panel):
        signs.append(("another variant, or one thread", theme.paper, "o"))
    if any(row.target for row in report.figures):
        signs.append((TARGET, theme.ink, "|"))
    if any(row.meets is False for row in report.figures):
        signs.append(("goal not met", theme.warning, "o"))
    key(figure, signs, theme)
    return figure


def draw_row(axis: Any, place: int, rows: Sequence[Measured], theme: Theme) -> None:
    """The last of these figures as a dot with its quartiles and target; hollow ones for others."""
    *others, main = rows
    colour = theme.warning if main.meets is False else theme.marks[0]
    for row in others:
        axis.plot(row.median, place, "o", markersize=5, color=theme.paper, markeredgecolor=colour)
    axis.plot([main.low, main.high], [place, place], color=colour, linewidth=2)
    axis.plot(main.median, place, "o", color=colour, markersize=6)
    if main.target is not None:
        axis.plot(main.target, place, "|", color=theme.ink, markersize=11, markeredgewidth=2)
    words = amount(main.median)
    if all(VARIANT.search(row.name) for row in rows) and GAME not in main.name:
        medians = [row.median for row in rows]
        words = f"{amount(min(medians))} to {amount(max(medians))}"
    if main.target is not None:
        words += f"  (goal: {main.verdict.partition(':')[0]})"
    note(axis, max(v for row in rows for v in extent(row)), place, words, theme)


def merged(rows: Sequence[Measured]) -> list[list[Measured]]:
    """Figures of one kind together, the one that stands for them last."""
    kinds: dict[str, list[Measured]] = {}
    for row in rows:
        kinds.setdefault(THREADS.sub("", VARIANT.sub("", row.name)), []).append(row)
    for kind in kinds.values():
        if VARIANT.search(kind[-1].name):
            kind.reverse()  # Cincinnati, which is measured first, stands for the variants
    return list(kinds.values())


def label_of(rows: Sequence[Measured]) -> str:
    """The name of a row: that of its last figure, without what the heading says."""
    name = rows[-1].name.replace(TAIL, "")
    if len(rows) == 1 or not VARIANT.search(rows[0].name):
        return name
    return VARIANT.sub("" if GAME in name else ", other variants", name)


def extent(row: Measured) -> tuple[float, ...]:
    """The values a figure's marks stand at."""
    return (row.low, row.median, row.high, *([] if row.target is None else [row.target]))


def page(report: Report, panels: Sequence[Sequence[Any]], title: str) -> tuple[Any, list[Any]]:
    """A picture with an empty panel for each list of rows, one below another."""
    heights = [ROW * len(panel) + PANEL for panel in panels]
    figure, axes = new_figure(sum(heights) + EDGE, len(panels), height_ratios=heights)
    facts = f"{title} ({report.machine['processor']}, {report.machine['date']})"
    figure.suptitle(facts, fontsize=11, fontweight="bold")
    return figure, list(axes[:, 0])


def prepare(axis: Any, names: Sequence[str], heading: str, theme: Theme) -> None:
    """Set up a panel: a name and a faint line for each row, a heading above them."""
    name_rows(axis, names)
    axis.set_ylim(len(names) - 0.4, -0.6)
    axis.set_xscale("log")
    axis.grid(axis="y", color=theme.faint, linewidth=0.8)
    axis.set_axisbelow(True)
    axis.set_title(heading, loc="left", fontsize=10)


def limits(axis: Any, values: Sequence[float], room: float = 0.35) -> None:
    """The ends and the plain numbers of a panel's axis, with room for the notes at the right."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    low, high = min(values), max(values)
    wide = high / low > 200
    axis.set_xlim(low / 1.4, high * (2 * high / low) ** (room if wide else 0.6))
    axis.xaxis.set_major_locator(LogLocator(subs=(1.0,) if wide else (1.0, 2.0, 5.0)))
    axis.xaxis.set_major_formatter(FuncFormatter(lambda value, _: tick(value)))
    axis.xaxis.set_minor_locator(NullLocator())


def tick(value: float) -> str:
    """A number of an axis: 0.5, 20, 10 k."""
    return f"{value:g}" if value < 1e3 else re.sub(r"\.0+", "", amount(value))


def note(axis: Any, at: float, place: int, words: str, theme: Theme, left: bool = False) -> None:
    """Words to the right of a row's marks, or to the left."""
    style = {"ha": "right" if left else "left", "va": "center", "fontsize": 8.5}
    annotate(axis, words, (at, place), (-7 if left else 7, 0), theme, **style)


def key(figure: Any, signs: Sequence[tuple[str, str, str]], theme: Theme) -> None:
    """What the marks mean, below all panels: words, colour, mark."""
    from matplotlib.lines import Line2D

    marks = [
        Line2D(
            [],
            [],
            linestyle="",
            marker=mark,
            color=colour,
            markersize=7,
            markeredgewidth=2 if mark == "|" else 1,
            markeredgecolor=theme.marks[0] if colour == theme.paper else colour,
        )
        for _, colour, mark in signs
    ]
    names = [name for name, _, _ in signs]
    figure.legend(marks, names, loc="outside lower center", ncols=len(signs), frameon=False)
