"""The report of a benchmark script, and its JSON file in `results/`."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bideuchre_env.bench import measure
from bideuchre_env.bench.measure import Figure

ORDER = ("throughput", "peers", "gpu", "solver", "startup")


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


def read_reports(folder: Path) -> list[Report]:
    """The reports in `folder/results`, in the order of the README."""
    paths = [folder / "results" / f"{name}.json" for name in ORDER]
    texts = [path.read_text(encoding="utf-8") for path in paths if path.exists()]
    return [Report.from_dict(json.loads(text)) for text in texts]
