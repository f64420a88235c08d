"""Functions shared by the benchmark scripts: options, reports, pictures, and pages.

A script measures, creates a `Report` and calls `publish`. That writes `results/NAME.json`, the
picture `results/NAME-light.svg` and `-dark.svg`, and the tables of the pages (see `summary`).
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import summary
from reports import ORDER, Report, read_reports

from bideuchre_env._files import write_file
from bideuchre_env._install import how_to_install
from bideuchre_env.bench import measure
from bideuchre_env.bench.measure import amount
from bideuchre_env.cli.options import argument
from bideuchre_env.cli.screen import script_help
from bideuchre_env.errors import OptionError
from bideuchre_env.evaluation import pictures
from bideuchre_env.evaluation.pictures import Theme

HERE = Path(__file__).resolve().parent
REPEATS, SECONDS = 5, 0.3
PAGES = ("README.md", "notes.md", "results/README.md")

ROW, PANEL, EDGE = 0.21, 0.5, 0.75  # inches: a row, a panel's and the picture's margin
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
WAYS = {  # by prefix of `against`: our side of the comparison
    "AEC": "our env() or raw_env(), one game",
    "vec": "our vec, as many games",
    "rollouts": "our rollouts, whole hands in a kernel",
}
NOT_DRAWN = re.compile(r" (?!cincinnati)\w+_v\d+$|, 1 thread$")  # only in the tables


def options(doc: str | None, seconds: float | None = SECONDS) -> argparse.ArgumentParser:
    """Return a parser with the shared options; without `--seconds` if `seconds` is None."""
    parser = argparse.ArgumentParser(**script_help(doc))
    argument(parser, "--repeats N", "rounds", int, REPEATS)
    if seconds is not None:
        argument(parser, "--seconds S", "time for each figure in a round", float, seconds)
    argument(parser, "--core C", "the core to run on (default: the last one)", int)
    add_output_options(parser)
    return parser


def add_output_options(parser: argparse.ArgumentParser) -> None:
    """Add the options for the files and the format of the output."""
    argument(parser, "--out FOLDER", "where results/ and the pages are written", Path, HERE)
    argument(parser, "--no-plot", "draw no picture")
    argument(parser, "--redraw", "measure nothing: draw the report there is again")
    argument(parser, "--json", "print JSON, not a table")


def pinning(core: int | None) -> str:
    """Return a phrase on the core of a measurement; `core` is None if it was not pinned."""
    return "not pinned: this system cannot" if core is None else f"one pinned core ({core})"


def announce(name: str) -> None:
    """Print a progress line on stderr."""
    print(f"  {name}", file=sys.stderr, flush=True)


def publish(report: Report, args: argparse.Namespace) -> None:
    """Write the report's JSON file and picture, and the pages, into the folder `args.out`.

    Print the report, as a table or with `--json` as JSON, even if writing fails. Without
    matplotlib no picture is drawn. An outdated picture is deleted.
    """
    try:
        path = args.out / "results" / report.script
        write_file(path.with_suffix(".json"), json.dumps(report.to_dict(), indent=1) + "\n")
        for file in pictures.files(path):
            file.unlink(missing_ok=True)  # an outdated picture
        if not args.no_plot:
            try:
                draw(report, path)
            except ImportError as error:
                print(f"no picture: {error} ({how_to_install('plot')})", file=sys.stderr)
        write_pages(args.out)
    finally:
        if args.json:
            print(json.dumps(report.to_dict()))
        else:
            print(f"{report.title}: {report.how}\n{measure.machine_line(report.machine)}\n")
            print(measure.table(report.figures))
            print("".join(f"skipped: {line}\n" for line in report.skipped), end="")


def redraw(script: str, folder: Path) -> int:
    """Draw the picture of a script's saved report again, and write the pages; return 0.

    `OptionError` if there is no saved report.
    """
    report = next((each for each in read_reports(folder) if each.script == script), None)
    if report is None:
        raise OptionError(f"--redraw: there is no {folder / 'results' / script}.json")
    draw(report, folder / "results" / script)
    write_pages(folder)
    return 0


# --- pages ----------------------------------------------------------------------------------------


def write_pages(folder: Path) -> None:
    """Write the pages of `pages` into a folder."""
    for name, text in pages(folder).items():
        write_file(folder / name, text)


def pages(folder: Path) -> dict[str, str]:
    """Return the text of the pages by path, with the reports and pictures of `folder`.

    The prose comes from those in this package's `benchmarks/`.
    """
    reports, drawn = read_reports(folder), {}
    for script in ORDER:
        exists = all(file.exists() for file in pictures.files(folder / "results" / script))
        drawn[script] = f"{pictures.markdown(script, f'{script}, drawn')}\n" if exists else ""
    texts = {name: (HERE / name).read_text(encoding="utf-8") for name in PAGES}
    return {name: summary.fill(text, reports, drawn) for name, text in texts.items()}


# --- pictures: peers as ratios, everything else as dots -------------------------------------------


def draw(report: Report, path: Path) -> None:
    """Write the picture of a report as two files: `path` with `-light.svg` and `-dark.svg`."""
    panels = draw_peers if report.script == "peers" else draw_figures
    pictures.save(path, lambda theme: panels(report, theme))


def draw_peers(report: Report, theme: Theme) -> Any:
    """Return a figure with a panel for each peer; a dot for each task that has a ratio.

    The ratio is our speed divided by the peer's. In a panel the largest is at the top.
    """
    groups = [[row for row in rows if row.ratio is not None] for rows in report.groups()]
    groups = [sorted(rows, key=lambda row: -(row.ratio or 1.0)) for rows in groups if rows]
    figure, axes = page(report, groups, "Speed of bideuchre_env beside other packages")
    ratios = [row.ratio or 1.0 for rows in groups for row in rows]
    colours = dict(zip(WAYS, theme.marks, strict=False))
    for axis, rows in zip(axes, groups, strict=True):
        prepare(axis, [row.name for row in rows], f"Beside {rows[0].group}", theme)
        axis.axvline(1, color=theme.ink, linewidth=1)
        for place, row in enumerate(rows):
            ratio, way = row.ratio or 1.0, re.split(r"\W", str(row.against))[0]
            axis.plot(ratio, place, "o", color=colours.get(way, theme.ink), markersize=6)
            note(axis, ratio, place, f"{amount(ratio)}\N{MULTIPLICATION SIGN}", theme, ratio < 1)
        limits(axis, [*ratios, min(ratios) / 1.8], room=0.15)
    axes[-1].set_xlabel("times as fast as (our decisions per second divided by theirs)")
    key(figure, [(words, colours[way], "o") for way, words in WAYS.items()])
    return figure


def draw_figures(report: Report, theme: Theme) -> Any:
    """Return a figure with a panel for each group and unit; a dot for each median.

    A line marks the quartiles. Figures that match `NOT_DRAWN` are left out.
    """
    drawn = [row for row in report.figures if not NOT_DRAWN.search(row.name)]
    units = list(dict.fromkeys(row.unit for row in drawn))
    drawn.sort(key=lambda row: units.index(row.unit))
    panels = [list(rows) for _, rows in groupby(drawn, key=lambda row: (row.unit, row.group))]
    figure, axes = page(report, panels, report.title)
    for axis, rows in zip(axes, panels, strict=True):
        unit = rows[0].unit
        heading = f"{rows[0].group}: {UNITS.get(unit, unit)}"
        prepare(axis, [row.name for row in rows], heading, theme)
        for place, row in enumerate(rows):
            axis.plot([row.low, row.high], [place, place], color=theme.marks[0], linewidth=2)
            axis.plot(row.median, place, "o", color=theme.marks[0], markersize=6)
            note(axis, row.high, place, amount(row.median), theme)
        limits(axis, [end for row in drawn if row.unit == unit for end in (row.low, row.high)])
    key(figure, [("median, with quartiles", theme.marks[0], "o")])
    return figure


def page(report: Report, panels: Sequence[Sequence[Any]], title: str) -> tuple[Any, list[Any]]:
    """Return a new figure, and its axes: an empty panel for each of `panels`, from top to bottom.

    The height of a panel depends on its number of rows. `title` is printed with the machine.
    """
    heights = [ROW * len(panel) + PANEL for panel in panels]
    figure, axes = pictures.new_figure(sum(heights) + EDGE, len(panels), height_ratios=heights)
    facts = f"{title} ({report.machine['processor']}, {report.machine['date']})"
    figure.suptitle(facts, fontsize=11, fontweight="bold")
    return figure, list(axes[:, 0])


def prepare(axis: Any, names: Sequence[str], heading: str, theme: Theme) -> None:
    """Set up a panel: a name and a faint line for each row, a heading above them."""
    pictures.name_rows(axis, names)
    axis.set_ylim(len(names) - 0.4, -0.6)
    axis.set_xscale("log")
    axis.grid(axis="y", color=theme.faint, linewidth=0.8)
    axis.set_axisbelow(True)
    axis.set_title(heading, loc="left", fontsize=10)


def limits(axis: Any, values: Sequence[float], room: float = 0.35) -> None:
    """Set the limits and tick labels of a panel's logarithmic axis, to show all `values`.

    The axis extends to the right, for notes, by the factor (2 * high / low) ** `room`; if
    high / low is at most 200, the exponent is 0.6 instead.
    """
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    low, high = min(values), max(values)
    wide = high / low > 200
    axis.set_xlim(low / 1.4, high * (2 * high / low) ** (room if wide else 0.6))
    axis.xaxis.set_major_locator(LogLocator(subs=(1.0,) if wide else (1.0, 2.0, 5.0)))
    axis.xaxis.set_major_formatter(
        FuncFormatter(lambda x, _: f"{x:g}" if x < 1e3 else re.sub(r"\.0+", "", amount(x)))
    )
    axis.xaxis.set_minor_locator(NullLocator())


def note(axis: Any, at: float, place: int, words: str, theme: Theme, left: bool = False) -> None:
    """Write `words` to the right of the mark at x = `at`, y = `place`; if `left`, to its left."""
    style = {"ha": "right" if left else "left", "va": "center", "fontsize": 8.5}
    pictures.annotate(axis, words, (at, place), (-7 if left else 7, 0), theme, **style)


def key(figure: Any, signs: Sequence[tuple[str, str, str]]) -> None:
    """Draw the legend below all panels from (name, colour, mark)."""
    from matplotlib.lines import Line2D

    marks = [
        Line2D([], [], linestyle="", marker=mark, color=colour, markersize=7)
        for _, colour, mark in signs
    ]
    names = [name for name, _, _ in signs]
    figure.legend(marks, names, loc="outside lower center", ncols=len(signs), frameon=False)
