"""Shared by the benchmark scripts: their options, files, picture, and the README they write.

A script measures, makes a `Report` and calls `publish`: `results/NAME.json`, a picture beside it,
and a README assembled from every report there is, with `notes.md` at its head.
"""

from __future__ import annotations

import argparse
import json
import sys
from itertools import groupby
from pathlib import Path

import pictures
from reports import Report, read_reports

from bideuchre_env._files import write_file
from bideuchre_env.bench import measure
from bideuchre_env.bench.measure import Figure, amount
from bideuchre_env.cli.screen import script_help
from bideuchre_env.errors import OptionError
from bideuchre_env.evaluation.pictures import files
from bideuchre_env.evaluation.pictures import markdown as shown

HERE = Path(__file__).resolve().parent
REPEATS, SECONDS = 5, 0.3
HEAD = "<!-- written by the scripts of this folder; edit notes.md instead -->"


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
        "--redraw", action="store_true", help="measure nothing: draw the report there is again"
    )
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
    """Write the report's files and the README anew, and print the report, come what may."""
    try:
        write_report(report, args)
    finally:
        show(report, args)


def write_report(report: Report, args: argparse.Namespace) -> None:
    """Write the report's files and the README; `OutputError` for one that cannot be written."""
    results = args.out / "results"
    text = json.dumps(report.to_dict(), indent=1)
    write_file(results / f"{report.script}.json", text + "\n")
    picture = results / report.script
    for file in files(picture):
        file.unlink(missing_ok=True)  # a picture of other figures
    if not args.no_plot:
        try:
            pictures.draw(report, picture)
        except ImportError as error:
            reason = f"no picture: {error} (pip install -e '.[plot]' brings matplotlib)"
            print(reason, file=sys.stderr)
    write_readme(args.out)


def show(report: Report, args: argparse.Namespace) -> None:
    """Print the report."""
    if args.json:
        print(json.dumps(report.to_dict()))
        return
    print(f"{report.title}: {report.how}\n{measure.machine_line(report.machine)}\n")
    print(measure.table(report.figures))
    for line in report.skipped:
        print(f"skipped: {line}")


def redraw(script: str, folder: Path) -> int:
    """Draw the report that a script wrote before, and write the README anew; the exit code."""
    report = next((each for each in read_reports(folder) if each.script == script), None)
    if report is None:
        raise OptionError(f"--redraw: there is no {folder / 'results' / script}.json")
    pictures.draw(report, folder / "results" / script)
    write_readme(folder)
    return 0


def write_readme(folder: Path) -> None:
    """Write `folder/README.md` from the reports in it and the notes beside this script."""
    notes = (HERE / "notes.md").read_text(encoding="utf-8").strip()
    parts = [HEAD, notes]
    for report in read_reports(folder):
        drawn = all(file.exists() for file in files(folder / "results" / report.script))
        parts.append(section(report, drawn))
    write_file(folder / "README.md", "\n\n".join(parts) + "\n")


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
        lines += ["", shown(f"results/{report.script}", f"{report.title}, drawn")]
    return "\n".join(lines)


def markdown(group: str, rows: list[Figure]) -> list[str]:
    """A table of one group; columns for targets and ratios only where there are any."""
    heads = [group, "median", "quartiles", ""]
    targets = any(row.target is not None for row in rows)
    ratios = any(row.ratio is not None for row in rows)
    heads += ["target"] * targets + ["ours, times as fast"] * ratios
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
