"""What is shown of a run: a bar, the curve as CSV, TensorBoard's files."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from torch.utils.tensorboard import SummaryWriter

from bideuchre_env._files import write_file
from bideuchre_env.errors import OptionError
from ppo.measured import Strength

CURVE = "curve.csv"
EVERY = 20  # batches between points of TensorBoard
OWN = ("decisions", "hands", "batches", "seconds", "processor", "boards", "seed")


class Shown:
    """The bar and the files of a run in a folder that has come to this batch.

    Raises `OptionError` for a `curve.csv` that cannot be read.
    """

    def __init__(self, folder: Path, batch: int, opponents: tuple[str, ...]) -> None:
        self.path = folder / CURVE
        found = self._read()
        new = [f"{who} {each}" for who in opponents for each in Strength._fields]
        # those of an earlier part of the run stay, whoever it is measured by now
        self.names = list(dict.fromkeys([*OWN, *(found[0] if found else ()), *new]))
        self.rows = [row for row in found if int(row["batches"]) <= batch]
        self.writer = SummaryWriter(str(folder / "tensorboard"), purge_step=batch)
        self.bar = Progress(
            BarColumn(bar_width=20),
            TextColumn("{task.percentage:.1f} %  {task.fields[text]}"),
            TimeRemainingColumn(compact=True),
            console=Console(stderr=True),
            transient=True,
            disable=not sys.stderr.isatty(),
        )
        self.task = self.bar.add_task("training", total=1.0, text="starting")
        self.sums: dict[str, float] = {}
        self.n = 0

    def __enter__(self) -> Shown:
        self.bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.bar.stop()
        self.writer.close()

    def _read(self) -> list[dict[str, str]]:
        if not self.path.exists():
            return []
        try:
            with self.path.open(newline="", encoding="utf-8") as file:
                rows = list(csv.DictReader(file, strict=True))
            for row in rows:
                if None in row or None in row.values() or not all(row[name] for name in OWN):
                    raise ValueError("a row is torn")
                int(row["batches"])
        except (OSError, ValueError, KeyError, csv.Error) as error:
            raise OptionError(
                f"{self.path} is no curve of this trainer ({error}): move it away, "
                "or take another --out"
            ) from None
        return rows

    def batch(self, run: Any, found: Mapping[str, float]) -> None:
        """Enter what a batch came to."""
        for name, value in found.items():
            self.sums[name] = self.sums.get(name, 0.0) + value
        self.n += 1
        seconds = found["play_seconds"] + found["learn_seconds"]
        share = found["learn_seconds"] / seconds
        text = (
            f"{run.decisions / 1e6:.1f} M decisions, {run.decisions / run.seconds:,.0f}/s "
            f"({share:.0%} learning), entropy {found['entropy']:.2f}"
        )
        self.bar.update(self.task, completed=run.progress, text=text)
        if self.n == EVERY:
            for name, value in self.sums.items():
                self.writer.add_scalar(f"train/{name}", value / self.n, run.batch)
            rate = run.decisions / run.seconds
            self.writer.add_scalar("train/decisions_per_second", rate, run.batch)
            self.sums, self.n = {}, 0

    def strengths(self, run: Any, boards: int, seed: int, found: Mapping[str, Strength]) -> None:
        """Enter a measurement: a line on the screen, a row of the curve."""
        clock = round(run.seconds, 1), round(run.processor, 1)
        own = (run.decisions, run.hands, run.batch, *clock, boards, seed)
        row = {name: str(value) for name, value in zip(OWN, own, strict=True)}
        parts = []
        for who, strength in found.items():
            for name, value in strength._asdict().items():
                row[f"{who} {name}"] = f"{value:.4f}" if isinstance(value, float) else str(value)
            self.writer.add_scalar(f"over/{who}", strength.points, run.batch)
            half = (strength.high - strength.low) / 2
            parts.append(f"{who} {strength.points:+.3f} ± {half:.3f}")
            last = strength
        same = ("batches", "boards", "seed")  # measured before, and stopped before it was kept
        self.rows = [each for each in self.rows if any(each[k] != row[k] for k in same)] + [row]
        text = io.StringIO()
        table = csv.DictWriter(text, self.names, restval="")
        table.writeheader()
        table.writerows(self.rows)
        write_file(self.path, text.getvalue())
        line = f"{run.decisions / 1e6:7.1f} M {run.processor:6.0f} s  over " + ", ".join(parts)
        line += f"; of {last.contracts} contracts {last.made:.0%} made"
        line += f", of {last.lone} alone {last.lone_made}"
        line += f" (theirs {last.their_lone_made} of {last.their_lone})"
        self.bar.console.print(line, markup=False, highlight=False, soft_wrap=True)
        self.writer.flush()
