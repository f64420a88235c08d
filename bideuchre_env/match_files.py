"""A match on disk: the result as JSON, every board as CSV, and a picture."""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bideuchre_env import duel
from bideuchre_env._jit import Array, records
from bideuchre_env.errors import OptionError
from bideuchre_env.intervals import Interval
from bideuchre_env.records_io import PathLike
from bideuchre_env.scores import Scores
from bideuchre_env.selfplay import first_seed

if TYPE_CHECKING:
    from bideuchre_env.match import Match

COLUMNS = (
    *("kind", "board", "stream", "a", "b", "points_1", "points_2", "hands_1", "hands_2"),
    *("end_1", "end_2", "points_per_hand"),
)
COURSE_POINTS = 400
ENDS = ("", "a won", "b won", "drawn", "truncated")
NEEDS_MATPLOTLIB = 'a picture needs matplotlib: pip install "bideuchre_env[plot]"'


def check_new(path: PathLike, overwrite: bool = False) -> None:
    """Raise `OptionError` unless a file can be made here, and none is lost by it."""
    path = Path(path)
    if path.exists() and not overwrite:
        raise OptionError(f"{path} exists: choose another file, or replace it (--force)")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        there = path.exists()
        path.open("ab").close()
        if not there:
            path.unlink()
    except OSError as error:
        raise OptionError(f"{path} cannot be written: {error.strerror}") from None


def check_matplotlib() -> None:
    """Raise `OptionError` where there is no matplotlib to draw with."""
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError:
        raise OptionError(NEEDS_MATPLOTLIB) from None


def write_json(path: PathLike, match: Match) -> None:
    """The result as one JSON object."""
    Path(path).write_text(json.dumps(match.to_dict(), indent=2) + "\n", encoding="utf-8")


def write_csv(path: PathLike, match: Match) -> None:
    """A line a board, or pair of games: its stream, A's points minus B's at both tables, ends."""
    with Path(path).open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        for kind, rows in (("hand", match.board_rows), ("game", match.game_rows)):
            for row in rows:
                board, (p, q), (g, h) = int(row["board"]), row["points"], row["hands"]
                ends = [ENDS[int(end)] for end in row["ends"]]
                stream, mean = first_seed(match.seed) + board, int(p + q) / int(g + h)
                writer.writerow((kind, board, stream, *match.keys, p, q, g, h, *ends, mean))


def draw(path: PathLike, match: Match) -> None:
    """Points per hand as the boards came in, with their 95 % interval, and how boards scored.

    Raises `OptionError` without matplotlib.
    """
    check_matplotlib()
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    rows, unit = match.board_rows, "boards"
    if not len(rows):
        rows, unit = match.game_rows, "pairs of games"
    a, b = match.keys
    figure = Figure(figsize=(10, 4.2), layout="constrained")
    FigureCanvasAgg(figure)
    left, right = figure.subplots(1, 2)
    _draw_course(left, rows, match)
    left.set_xlabel(unit)
    left.set_ylabel(f"points per hand, {a} minus {b}")
    _draw_scores(right, rows)
    right.set_xlabel(f"points per hand of one of the {unit}")
    right.set_ylabel(unit)
    for axis in (left, right):
        axis.spines[["top", "right"]].set_visible(False)
    figure.suptitle(f"{a} against {b}, {match.variant}, seed {match.seed}")
    figure.savefig(Path(path), dpi=150)


def course(rows: Array, doubt: float) -> list[tuple[int, Interval]]:
    """Points per hand after so many boards, at up to 400 places from the second board on."""
    places = np.unique(np.linspace(2, len(rows), min(len(rows), COURSE_POINTS)).astype(int))
    told, totals = [], records(duel.TOTALS, 1)
    for start, stop in zip([0, *places.tolist()], places.tolist(), strict=False):
        duel.add_boards(rows[start:stop], totals)
        interval = Scores.of_totals(totals, doubt).points_per_hand
        assert interval is not None
        told.append((stop, interval))
    return told


def _draw_course(axis: Any, rows: Array, match: Match) -> None:
    axis.axhline(0, color="#999999", linewidth=1)
    if match.test is not None:
        for bound in (match.test.bounds.low, match.test.bounds.high):
            axis.axhline(bound, color="#b2182b", linewidth=1, linestyle=":")
    if len(rows) < 2:
        return
    told = course(rows, match.doubt)
    n = [boards for boards, _ in told]
    mean = np.array([interval.mean for _, interval in told])
    half = np.array([interval.half for _, interval in told])
    axis.plot(n, mean, color="#2166ac")
    axis.fill_between(n, mean - half, mean + half, color="#2166ac", alpha=0.2, linewidth=0)
    start = len(told) // 20  # the first boards say little, and widely
    low, high = (mean - half)[start:].min(), (mean + half)[start:].max()
    room = 0.1 * max(high - low, 0.1)
    axis.set_ylim(min(low, 0) - room, max(high, 0) + room)
    axis.set_title(f"{mean[-1]:+.3f} ± {half[-1]:.3f}", size=11)


def _draw_scores(axis: Any, rows: Array) -> None:
    means = rows["points"].sum(axis=1) / rows["hands"].sum(axis=1)
    width = (means.max() - means.min()) / 30 or 1.0
    if rows["hands"].max() == 1:  # a board of two hands scores in half points
        width = 0.5 * math.ceil(2 * width)
    edges = np.arange(means.min() - width / 2, means.max() + width, width)
    axis.hist(means, bins=edges.tolist(), color="#2166ac")
    axis.set_yscale("log")
    ties = int((rows["points"].sum(axis=1) == 0).sum())
    axis.set_title(f"{100 * ties / max(len(rows), 1):.1f} % tied", size=11)
