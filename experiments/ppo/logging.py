"""Evaluation on duplicate boards, and logging to a progress bar, `curve.csv` and TensorBoard."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from torch.utils.tensorboard import SummaryWriter

from bideuchre_env._files import write_file
from bideuchre_env.agents.learned.ppo import PpoAgent
from bideuchre_env.cli.progress import progress_bar
from bideuchre_env.errors import OptionError
from bideuchre_env.evaluation.match import match
from bideuchre_env.rules.rules import Rules
from ppo.networks import Networks, agent_weights

CURVE = "curve.csv"
EVERY = 20  # batches between points of TensorBoard
OWN = ("decisions", "hands", "batches", "seconds", "processor", "boards", "seed")
AT_ONCE = 256


Strength = dict[str, float]
"""Points per hand over an opponent, with a 95 % interval, and contract counts of both sides; keys
are columns of the curve. `made` is a fraction of `contracts`."""


class _Stopped(Exception):
    """Raised by the progress callback to end a match early."""


def measure(
    rules: Rules,
    networks: Networks,
    opponent: str,
    boards: int,
    seed: int,
    stopped: Callable[[], bool],
) -> Strength | None:
    """Return the strength of the networks over an opponent, on duplicate boards of one hand.

    None if `stopped()` becomes true before the end.
    """

    def progress(*_: object) -> None:  # the trainer handles Ctrl-C: the match does not see it
        if stopped():
            raise _Stopped

    agent = PpoAgent(rules, weights=agent_weights(rules, networks, {}))
    try:
        result = match(
            rules, agent, opponent, boards=boards, seed=seed, at_once=AT_ONCE, progress=progress
        )
    except _Stopped:
        return None
    if result.interrupted or stopped():
        return None
    points = result.boards.points_per_hand
    ours, theirs = result.boards.contracts
    return {
        "points": points.mean,
        "low": points.low,
        "high": points.high,
        "contracts": ours["bid"],
        "made": ours["made"] / max(ours["bid"], 1),
        "lone": ours["lone_bid"],
        "lone_made": ours["lone_made"],
        "their_contracts": theirs["bid"],
        "their_lone": theirs["lone_bid"],
        "their_lone_made": theirs["lone_made"],
    }


class Log(ExitStack):
    """The progress bar of a run, and the logs in its folder: `curve.csv` and `tensorboard/`.

    A context manager, which closes the bar and TensorBoard's file.
    `batch` is the number of batches when the run resumes: later entries of the logs are dropped.
    Raises `OptionError` if `curve.csv` cannot be read.
    """

    def __init__(self, folder: Path, batch: int) -> None:
        super().__init__()
        self.path = folder / CURVE
        self.rows = [row for row in read_curve(self.path) if int(row["batches"]) <= batch]
        self.writer = SummaryWriter(str(folder / "tensorboard"), purge_step=batch)
        self.callback(self.writer.close)
        self.progress = self.enter_context(progress_bar("training", "decisions"))
        self.sums: dict[str, float] = {}
        self.n = 0
        self.first: int | None = None  # decisions at the first batch of this process

    def batch(self, run: Any, statistics: Mapping[str, float]) -> None:
        """Advance the progress bar, and log the statistics of a batch.

        TensorBoard gets the means over every `EVERY` batches.
        """
        self.first = run.decisions if self.first is None else self.first
        total = round(1e6 * run.args.millions)
        self.progress(min(run.decisions, total), total, run.decisions - self.first)
        for name, value in statistics.items():
            self.sums[name] = self.sums.get(name, 0.0) + value
        self.n += 1
        if self.n == EVERY:
            for name, value in self.sums.items():
                self.writer.add_scalar(f"train/{name}", value / self.n, run.batch)
            rate = run.decisions / run.seconds
            self.writer.add_scalar("train/decisions_per_second", rate, run.batch)
            self.sums, self.n = {}, 0

    def strengths(
        self, run: Any, boards: int, seed: int, strengths: Mapping[str, Strength]
    ) -> None:
        """Log a measurement, by opponent: a line on stderr, a row of the curve, TensorBoard.

        `strengths` has at least one opponent; stderr has the contracts against the last one. A row
        with the same batch, boards and seed is replaced.
        """
        times = round(run.seconds, 1), round(run.processor, 1)
        own = (run.decisions, run.hands, run.batch, *times, boards, seed)
        row = {name: str(value) for name, value in zip(OWN, own, strict=True)}
        parts = []
        for who, strength in strengths.items():
            for name, value in strength.items():
                row[f"{who} {name}"] = f"{value:.4f}" if isinstance(value, float) else str(value)
            self.writer.add_scalar(f"over/{who}", strength["points"], run.batch)
            half = (strength["high"] - strength["low"]) / 2
            parts.append(f"{who} {strength['points']:+.3f} ± {half:.3f}")
        same = ("batches", "boards", "seed")  # a resumed run may repeat a measurement
        self.rows = [each for each in self.rows if any(each[k] != row[k] for k in same)] + [row]
        # keep columns of opponents that are no longer measured
        names = list(dict.fromkeys(name for each in self.rows for name in each))
        text = io.StringIO()
        table = csv.DictWriter(text, names, restval="")
        table.writeheader()
        table.writerows(self.rows)
        write_file(self.path, text.getvalue())
        self.writer.flush()
        of_last = (
            "of {contracts} contracts {made:.0%} made, of {lone} alone {lone_made} "
            "(theirs {their_lone_made} of {their_lone})"
        ).format(**strength)
        clock = f"{run.decisions / 1e6:7.1f} M {run.processor:6.0f} s"
        print(f"{clock}  over {', '.join(parts)}; {of_last}", file=sys.stderr)


def read_curve(path: Path) -> list[dict[str, str]]:
    """Return the rows of a curve, [] without a file; raise `OptionError` if it is damaged."""
    if not path.exists():
        return []
    try:
        with path.open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file, strict=True))
        for row in rows:
            if None in row or None in row.values() or not all(row[name] for name in OWN):
                raise ValueError("a row is incomplete")
            int(row["batches"])
    except (OSError, ValueError, KeyError, csv.Error) as error:
        raise OptionError(
            f"{path} is no curve of this trainer ({error}): move it away, or take another --out"
        ) from None
    return rows
