"""Saved results of the benchmark scripts: a `Report` for each script."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

from bideuchre_env.bench import measure
from bideuchre_env.bench.measure import Figure

ORDER = ("throughput", "peers", "gpu", "solver", "startup")
"""The scripts in the order of the README."""


@dataclass(frozen=True)
class Report:
    """The figures of one script, and the conditions of their measurement."""

    script: str  # file name without .py
    title: str
    how: str  # the conditions in a sentence
    figures: list[Figure]
    skipped: list[str] = field(default_factory=list)  # tasks that were not measured, and why
    packages: dict[str, str] = field(default_factory=dict)  # version by name
    machine: dict[str, Any] = field(default_factory=measure.machine)

    def to_dict(self) -> dict[str, Any]:
        """Return the report as a JSON object."""
        return {**vars(self), "figures": [row.to_dict() for row in self.figures]}

    def groups(self) -> list[list[Figure]]:
        """Return the figures as a list for each group."""
        return [list(rows) for _, rows in groupby(self.figures, key=lambda row: row.group)]


def read_reports(folder: Path) -> list[Report]:
    """Return the saved reports in `folder/results`, in the order of the README."""
    paths = [folder / "results" / f"{name}.json" for name in ORDER]
    reports = [json.loads(path.read_text(encoding="utf-8")) for path in paths if path.exists()]
    return [
        Report(**{**data, "figures": [Figure(**row) for row in data["figures"]]})
        for data in reports
    ]
