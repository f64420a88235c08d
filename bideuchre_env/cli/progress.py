"""Progress bars on stderr, if that is a terminal; the estimated time to compile kernels."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager

REDRAW_SECONDS = 0.1

Progress = Callable[[int, int, int], None]


@contextmanager
def progress_bar(title: str, unit: str, rated: str = "decisions") -> Iterator[Progress]:
    """Show a bar with rate and remaining time on stderr, if that is a terminal.

    Yields the function `update(done, total, count)`, which does nothing without a terminal. `done`
    and `total` are in `unit`; `count` is in units `rated`, from which the rate is computed.
    """
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
        text = f"{done:,}/{total:,} {unit}  {rate:,.0f} {rated}/s"
        bar.update(task, completed=done, total=total, text=text)

    with bar, jit.compiling.shown_by(lambda text: bar.update(task, text=text)):
        yield update


def announce_compiling(parts: Iterable[str]) -> None:
    """Print on stderr how long these parts (`SECONDS`) compile, if any is not compiled yet.

    This imports no kernels, so that the estimate is printed before these imports.
    """
    from bideuchre_env.evaluation.kernel_parts import compile_notice

    if notice := compile_notice(parts):
        print(notice, file=sys.stderr, flush=True)


@contextmanager
def compiling_bar(parts: Sequence[str]) -> Iterator[None]:
    """Context manager: after its body, compile the parts that are not compiled yet.

    Meanwhile a bar shows the estimated time left. The body can check options, and compile other
    kernels.
    """
    from bideuchre_env.evaluation.kernel_parts import compile_seconds, is_compiled
    from bideuchre_env.runtime import jit

    seconds, started = compile_seconds(parts), time.perf_counter()
    with progress_bar("compiling", "seconds", "kernels") as update, ExitStack() as stack:

        def show(text: str) -> None:
            spent = min(round(time.perf_counter() - started), seconds)
            update(spent, seconds, jit.compiling.count)

        if seconds:  # announced: without a terminal nothing is logged, either
            stack.enter_context(jit.compiling.shown_by(show))
        yield
        if missing := [part for part in parts if not is_compiled(part)]:
            from bideuchre_env.evaluation.warm_up import compile_part

            for part in missing:
                compile_part(part)


class Bars(ExitStack):
    """Progress bars of a match, one for each unit: the boards, then the games."""

    def __init__(self, title: str = "", rated: str = "decisions") -> None:
        super().__init__()
        self._rated = rated
        self._shown = (title, "")
        self._update: Progress | None = None

    def show(self, unit: str, done: int, total: int, decisions: int) -> None:
        """Update the bar of this unit, as `update` of `progress_bar`; a new unit gets a new bar."""
        self.show_titled(self._shown[0], unit, done, total, decisions)

    def show_titled(self, title: str, unit: str, done: int, total: int, decisions: int) -> None:
        """Show the progress of one of several matches; each gets new bars."""
        if (title, unit) != self._shown or self._update is None:
            self.close()
            self._shown = title, unit
            self._update = self.enter_context(progress_bar(title, unit, self._rated))
        self._update(done, total, decisions)
