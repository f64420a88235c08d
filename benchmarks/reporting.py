"""Shared by the benchmark scripts: their options, files, picture, and the README they write.

A script measures, makes a `Report` and calls `publish`: `results/NAME.json`, a picture beside it,
and a README assembled from every report there is, with `notes.md` at its head.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

from bideuchre_env.bench import measure
from bideuchre_env.bench.measure import Figure, amount
from bideuchre_env.cli.screen import script_help

HERE = Path(__file__).resolve().parent
REPEATS, SECONDS = 5, 0.3
ORDER = ("throughput", "peers", "solver", "startup")
HEAD = "<!-- written by the scripts of this folder; edit notes.md instead -->"


@dataclass(frozen=True)
class Report:
    """The figures of one script; `how` says in a sentence how they were measured."""

    script: str
    title: str
    how: str
    figures: list[Figure]
    skipped: list[str] = field(default_factory=list)
    packages: dict[str, str] = field(default_factory=dict)
    machine: dict[str, Any] = field(default_factory=measure.machine)

    def to_dict(self) -> dict[str, Any]:
        """The JSON object of a report."""
        return {**vars(self), "figures": [row.to_dict() for row in self.figures]}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Report:
        """A report from its JSON object."""
        return cls(**{**data, "figures": [Figure(**row) for row in data["figures"]]})


def options(doc: str | None, seconds: float | None = SECONDS) -> argparse.ArgumentParser:
    """A parser with the options every script has; no `--seconds` where `seconds` is None.

    `doc` is the script's docstring, which has its examples.
    """
    parser = argparse.ArgumentParser(**script_help(doc))
    parser.add_argument(
        "--repeats", type=int, default=REPEATS, metavar="N", help="rounds (default: %(default)s)"
    )
    if seconds is not None:
        parser.add_argument(
            "--seconds",
            type=float,
            default=seconds,
            metavar="S",
            help="time for each figure in a round (default: %(default)s)",
        )
    parser.add_argument(
        "--core", type=int, metavar="C", help="the core to run on (default: the last one)"
    )
    parser.add_argument(
        "--out",
        type=Path,
        default=HERE,
        metavar="FOLDER",
        help="where results/ and README.md are written (default: beside this script)",
    )
    parser.add_argument("--no-plot", action="store_true", help="draw no picture")
    parser.add_argument(
        "--json", action="store_true", help="print the report as one JSON object, not as a table"
    )
    return parser


def pinning(core: int | None) -> str:
    """The words for where it was measured."""
    return "not pinned: this system cannot" if core is None else f"one pinned core ({core})"


def announce(name: str) -> None:
    """Say on stderr what is being prepared."""
    print(f"  {name}", file=sys.stderr, flush=True)


def publish(report: Report, args: argparse.Namespace) -> None:
    """Write the report's files and the README anew, and print the report."""
    results = args.out / "results"
    results.mkdir(parents=True, exist_ok=True)
    text = json.dumps(report.to_dict(), indent=1)
    (results / f"{report.script}.json").write_text(text + "\n", encoding="utf-8")
    picture = results / f"{report.script}.png"
    picture.unlink(missing_ok=True)  # a picture of other figures
    if not args.no_plot:
        try:
            draw(report, picture)
        except ImportError as error:
            reason = f"no picture: {error} (pip install -e '.[plot]' brings matplotlib)"
            print(reason, file=sys.stderr)
    write_readme(args.out)
    if args.json:
        print(json.dumps(report.to_dict()))
        return
    print(f"{report.title}: {report.how}\n{measure.machine_line(report.machine)}\n")
    print(measure.table(report.figures))
    for line in report.skipped:
        print(f"skipped: {line}")


def read_reports(folder: Path) -> list[Report]:
    """The reports in `folder/results`, in the order of the README."""
    paths = [folder / "results" / f"{name}.json" for name in ORDER]
    texts = [path.read_text(encoding="utf-8") for path in paths if path.exists()]
    return [Report.from_dict(json.loads(text)) for text in texts]


def write_readme(folder: Path) -> None:
    """Write `folder/README.md` from the reports in it and the notes beside this script."""
    notes = (HERE / "notes.md").read_text(encoding="utf-8").strip()
    parts = [HEAD, notes]
    for report in read_reports(folder):
        parts.append(section(report, (folder / "results" / f"{report.script}.png").exists()))
    (folder / "README.md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def section(report: Report, drawn: bool) -> str:
    """One report in Markdown: machine, a table a group, what was skipped, the picture."""
    lines = [f"## {report.title}", "", f"`python benchmarks/{report.script}.py`: {report.how}", ""]
    lines += [f"{report.machine['date']}, {measure.machine_line(report.machine)}."]
    if report.packages:
        lines += ["", "Against: " + ", ".join(f"{k} {v}" for k, v in report.packages.items()) + "."]
    for group, members in groupby(report.figures, key=lambda row: row.group):
        lines += ["", *markdown(group, list(members))]
    if report.skipped:
        lines += ["", *(f"- skipped: {line}" for line in report.skipped)]
    if drawn:
        lines += ["", f"![{report.title}](results/{report.script}.png)"]
    return "\n".join(lines)


def markdown(group: str, rows: list[Figure]) -> list[str]:
    """A table of one group; columns for targets and ratios only where there are any."""
    heads = [group, "median", "quartiles", ""]
    targets = any(row.target is not None for row in rows)
    ratios = any(row.ratio is not None for row in rows)
    heads += ["target"] * targets + ["ours, times this"] * ratios
    lines = [
        "| " + " | ".join(heads) + " |",
        "|---" + "|---:" * 2 + "|---" * (len(heads) - 3) + "|",
    ]
    for row in rows:
        cells = [row.name, amount(row.median), f"{amount(row.low)} to {amount(row.high)}", row.unit]
        if targets:
            cells.append(row.verdict.replace("NOT met", "**not met**"))
        if ratios:
            cells.append("" if row.ratio is None else f"{amount(row.ratio)} ({row.against})")
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def draw(report: Report, path: Path) -> None:
    """A picture of bars with quartiles on a logarithmic axis, a panel for each unit."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as Picture

    units = list(dict.fromkeys(row.unit for row in report.figures))
    panels = [[row for row in report.figures if row.unit == unit] for unit in units]
    heights = [len(panel) + 2.5 for panel in panels]
    picture = Picture(figsize=(10, 0.24 * sum(heights) + 0.6), layout="constrained")
    FigureCanvasAgg(picture)
    axes = picture.subplots(len(panels), 1, squeeze=False, height_ratios=heights)[:, 0]
    for axis, panel, unit in zip(axes, panels, units, strict=True):
        bars(axis, panel, unit)
    picture.suptitle(f"{report.title} ({report.machine['processor']})", fontsize=11)
    picture.savefig(path, dpi=110)


def bars(axis: Any, rows: Sequence[Figure], unit: str) -> None:
    """One panel: a bar per figure, coloured by group, its number at its end."""
    groups = list(dict.fromkeys(row.group for row in rows))
    for place, row in enumerate(rows):
        quartiles = [[row.median - row.low], [row.high - row.median]]
        colour = f"C{groups.index(row.group) % 10}"
        label = row.group if row in [next(r for r in rows if r.group == row.group)] else None
        axis.barh(place, row.median, color=colour, label=label, xerr=quartiles, ecolor="0.3")
        axis.annotate(
            amount(row.median), (row.high, place), (4, 0), textcoords="offset points", va="center"
        )
        if row.target is not None:
            axis.plot([row.target] * 2, [place - 0.4, place + 0.4], color="k", lw=2)
    axis.set_yticks(range(len(rows)), [row.name for row in rows], fontsize=8)
    axis.set_ylim(len(rows) - 0.4, -0.6)
    axis.set_xscale("log")
    least, most = min(row.low for row in rows), max(row.high for row in rows)
    axis.set_xlim(10 ** math.floor(math.log10(least) - 0.1), most * 4)
    axis.set_xlabel(unit)
    axis.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize=8, frameon=False)
    axis.spines[["top", "right"]].set_visible(False)
