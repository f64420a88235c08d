"""The progress bar of what takes a while: on stderr, if that is a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

REDRAW_SECONDS = 0.1

Progress = Callable[[int, int, int], None]


@contextmanager
def progress_bar(title: str, unit: str) -> Iterator[Progress]:
    """A bar with rate and time left on stderr, if that is a terminal; else next to nothing."""
    if not sys.stderr.isatty():
        yield lambda done, total, decisions: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar
    from rich.table import Column

    from bideuchre_env.runtime import jit

    one_line = Column(no_wrap=True)
    bar = Bar(
        TextColumn("{task.description}", markup=False, table_column=one_line),
        BarColumn(bar_width=None),
        TextColumn("{task.fields[text]}", table_column=one_line),
        TimeRemainingColumn(compact=True),
        console=Console(stderr=True),
        transient=True,
        expand=True,
    )
    task = bar.add_task(title, total=None, text="starting")
    started = drawn = 0.0

    def update(done: int, total: int, decisions: int) -> None:
        nonlocal started, drawn
        now = time.perf_counter()
        if decisions == 0:
            return
        started = started or now
        if now - drawn < REDRAW_SECONDS and done < total:
            return
        drawn = now
        rate = decisions / max(now - started, 1e-3)
        text = f"{done:,}/{total:,} {unit}  {rate:,.0f} decisions/s"
        bar.update(task, completed=done, total=total, text=text)

    def compiling(part: str, done: int, total: int) -> None:
        text = f"compiling {part}, {done} of {total} kernels"
        bar.update(task, completed=done, total=total, text=text)

    with bar, jit.compiling.shown_by(compiling):
        yield update
