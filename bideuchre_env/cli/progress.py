"""Progress bars on stderr, if that is a terminal; the estimated time to compile kernels."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

REDRAW_SECONDS = 0.1
COMPILE_SECONDS = {"rule": 30, "ppo": 45, "expert": 90, "net": 125, "pimc": 270, "inference": 300}
"""Approximate processor seconds to compile a game with an agent, on one core of an AMD EPYC. Agents
with more seconds share most kernels of those with less."""

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


def compile_seconds(names: Iterable[str]) -> int:
    """Return the estimated seconds to compile the kernels of agents; 0 if code of all is cached.

    This imports no kernels, so that the estimate is available before these imports.
    """
    from bideuchre_env.agents.registry import BUILT_IN, parse
    from bideuchre_env.runtime import jit

    folders = {own: f"{BUILT_IN[own].split('.')[2]}_*/*.nbi" for own in COMPILE_SECONDS}
    cache = Path(jit.CACHE_FOLDER)
    cached = {own for own in folders if jit.CACHE_FOLDER and any(cache.glob(folders[own]))}
    missing = {parse(name)[0] for name in names} & COMPILE_SECONDS.keys() - cached
    most = max((COMPILE_SECONDS[own] for own in missing if jit.JIT), default=0)
    return most - max((n for n in map(COMPILE_SECONDS.get, cached) if n and n < most), default=0)


def announce_compiling(names: Iterable[str]) -> None:
    """Print on stderr how long the kernels of agents compile, if they are not compiled yet."""
    from bideuchre_env.runtime import jit

    if seconds := compile_seconds(names):
        print(f"Compiling kernels, once: about {seconds} s left", file=sys.stderr, flush=True)
        jit.compiling.show = lambda text: None  # in place of its log line


@contextmanager
def compiling_bar(names: Iterable[str]) -> Iterator[None]:
    """Context manager: show a bar with the estimated time left while kernels of agents compile."""
    from bideuchre_env.runtime import jit

    seconds, started = compile_seconds(names), time.perf_counter()
    with progress_bar("compiling", "seconds", "kernels") as update, ExitStack() as stack:

        def show(text: str) -> None:
            spent = min(round(time.perf_counter() - started), seconds)
            update(spent, seconds, jit.compiling.count)

        if seconds and sys.stderr.isatty():
            stack.enter_context(jit.compiling.shown_by(show))
        yield


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
