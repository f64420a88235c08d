"""Export of a match: every board as CSV, and a picture.

Each file is written atomically, to a path or to an `Output` reserved for it (`OutputError`).
"""

from __future__ import annotations

import csv
import io
import math
import os
from typing import Any

import numpy as np

from bideuchre_env._files import Output, PathLike, write_file
from bideuchre_env._install import how_to_install
from bideuchre_env.errors import OptionError
from bideuchre_env.evaluation.boards import TOTALS, add_boards
from bideuchre_env.evaluation.results import Result
from bideuchre_env.evaluation.seeding import first_seed
from bideuchre_env.evaluation.statistics.intervals import Interval
from bideuchre_env.evaluation.statistics.scores import Scores
from bideuchre_env.runtime.jit import Array, new_rows

COLUMNS = (
    *("kind", "board", "stream", "a", "b", "points_1", "points_2", "hands_1", "hands_2"),
    *("end_1", "end_2", "points_per_hand"),
)
COURSE_POINTS = 400
GAME_ENDS = ("", "a won", "b won", "drawn", "truncated")
NEEDS_MATPLOTLIB = f"a picture needs matplotlib: {how_to_install('plot')}"


def check_picture(path: PathLike) -> str:
    """Return the format of a picture from its name's ending ("png" without one).

    Raises `OptionError` for an unsupported format, or without matplotlib.
    """
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
    except ImportError:
        raise OptionError(NEEDS_MATPLOTLIB) from None
    form = os.path.splitext(path)[1][1:].lower() or "png"
    if form not in (formats := FigureCanvasAgg.get_supported_filetypes()):
        raise OptionError(f"{path}: expected one of the endings {', '.join(sorted(formats))}")
    return form


def rows_of(result: Result) -> tuple[Array, Array]:
    """Return the rows (`boards.BOARD`) of a match's boards and of its pairs of games.

    Raises `OptionError` for the result of a tournament or rollout, which has none.
    """
    if result.board_rows is None or result.game_rows is None:
        raise OptionError(f"result of mode {result.mode!r}: expected the result of a match")
    return result.board_rows, result.game_rows


def write_csv(place: PathLike | Output, result: Result) -> None:
    """Write a CSV file with a line per board and per pair of games (`COLUMNS`).

    `stream` is the seed of the deals. Fields with suffix 1 or 2 are of one table: A's points minus
    B's, hands, and how a game ended. Raises `OptionError` unless it is the result of a match.
    """
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(COLUMNS)
    for kind, rows in zip(("hand", "game"), rows_of(result), strict=True):
        for row in rows:
            board, points, hands = int(row["board"]), row["points"], row["hands"]
            ends = [GAME_ENDS[int(end)] for end in row["game_ends"]]
            stream, mean = (
                first_seed(result.seed or 0) + board,
                int(points.sum()) / int(hands.sum()),
            )
            writer.writerow((kind, board, stream, *result.keys, *points, *hands, *ends, mean))
    write_file(place, text.getvalue())


def draw(place: PathLike | Output, result: Result) -> None:
    """Write a picture: points per hand of the first n boards, see `course`, and a histogram.

    The histogram has the points per hand of single boards. Without boards, both parts are drawn for
    pairs of games. The ending of the name sets the format. Raises `OptionError` without matplotlib,
    for an unsupported picture format, and unless it is the result of a match.
    """
    form = check_picture(place.path if isinstance(place, Output) else place)
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    boards, pairs = rows_of(result)
    rows, name = (boards, "boards") if len(boards) else (pairs, "pairs of games")
    a, b = result.keys
    figure = Figure(figsize=(10, 4.2), layout="constrained")
    FigureCanvasAgg(figure)
    left, right = figure.subplots(1, 2)
    _draw_course(left, rows, result)
    left.set_xlabel(name)
    left.set_ylabel(f"points per hand, {a} minus {b}")
    _draw_scores(right, rows)
    right.set_xlabel(f"points per hand of one of the {name}")
    right.set_ylabel(name)
    for axis in (left, right):
        axis.spines[["top", "right"]].set_visible(False)
    figure.suptitle(f"{a} against {b}, {result.variant}, seed {result.seed}")
    image = io.BytesIO()
    figure.savefig(image, format=form, dpi=150)
    write_file(place, image.getvalue())


def course(rows: Array, tie_margin: float) -> list[tuple[int, Interval]]:
    """Return (n, points per hand over the first n boards) for up to 400 values of n from 2 on.

    `tie_margin` is that of `Scores`.
    """
    places = np.unique(np.linspace(2, len(rows), min(len(rows), COURSE_POINTS)).astype(int))
    intervals, totals = [], new_rows(TOTALS, 1)
    for start, stop in zip([0, *places.tolist()], places.tolist(), strict=False):
        add_boards(rows[start:stop], totals)
        interval = Scores.of_totals(totals, tie_margin).points_per_hand
        assert interval is not None
        intervals.append((stop, interval))
    return intervals


def _draw_course(axis: Any, rows: Array, result: Result) -> None:
    axis.axhline(0, color="#999999", linewidth=1)
    if result.test is not None:
        for bound in (result.test.bounds.low, result.test.bounds.high):
            axis.axhline(bound, color="#b2182b", linewidth=1, linestyle=":")
    if len(rows) < 2:
        return
    intervals = course(rows, result.scores.tie_margin)
    n = [boards for boards, _ in intervals]
    mean = np.array([interval.mean for _, interval in intervals])
    half = np.array([interval.half for _, interval in intervals])
    axis.plot(n, mean, color="#2166ac")
    axis.fill_between(n, mean - half, mean + half, color="#2166ac", alpha=0.2, linewidth=0)
    start = len(intervals) // 20  # the first intervals are too wide for the scale
    low, high = (mean - half)[start:].min(), (mean + half)[start:].max()
    margin = 0.1 * max(high - low, 0.1)
    axis.set_ylim(min(low, 0) - margin, max(high, 0) + margin)
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
