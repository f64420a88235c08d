"""What is being compiled, and how far: a bar on a terminal, elsewhere a line per part."""

from __future__ import annotations

import logging
import multiprocessing
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from numba.core import event as _event

from bideuchre_env.runtime.kernel_files import is_kept

event: Any = _event
Show = Callable[[str, int, int], None]

PARTS = {
    "rules": "the game",
    "runtime": "the game",
    "core": "the game",
    "envs": "the environments",
    "records": "game records",
    "solver": "the solver",
    "learning": "the tools of learning",
    "agents": "the random players",
    "agents.advice": "the advice",
    "agents.rule": "the rule player",
    "agents.expert": "the expert",
    "agents.learned": "the learned agents",
    "agents.search": "the search",
    "evaluation": "self-play",
}
_FEW = 5  # kernels that are not worth a line, unless it is the first
_log = logging.getLogger("bideuchre_env")


def part_of(compiled: Any) -> str:
    """The part of the package that a kernel belongs to, in words."""
    module = compiled.py_func.__module__
    rooms = module.split(".")[1:]
    return PARTS.get(".".join(rooms[:2])) or PARTS.get(".".join(rooms[:1]), module)


class Compiling(event.Listener):  # type: ignore[misc]
    """Follows what numba compiles of these kernels, and shows it.

    A kernel begins to be compiled before those it calls, and ends after them: with the outermost
    one all that it reaches and that is not compiled yet is known to be compiled now.
    """

    def __init__(self, kernels: list[Any], kept: bool) -> None:
        self.kernels = kernels
        self.show: Show = _Teller(kept)
        self.compiled: set[Any] = set()
        """What this process has compiled of them."""
        self._running = 0
        self._part, self._total, self._missing = "", 0, set[Any]()

    def on_start(self, event: Any) -> None:
        """A function is about to be compiled; it may be somebody else's."""
        compiled = event.data["dispatcher"]
        if compiled in self.kernels:
            if not self._running:
                self._begin(part_of(compiled), self.missing([compiled]) | {compiled})
            self._running += 1

    def on_end(self, event: Any) -> None:
        """It is compiled, or has failed."""
        compiled = event.data["dispatcher"]
        if compiled in self.kernels:
            self._running -= 1
            self.compiled |= {compiled} if compiled.overloads else set()
            self._missing.discard(compiled)
            done = self._total if not self._running else self._total - len(self._missing)
            self.show(self._part, done, self._total)

    def _begin(self, part: str, missing: set[Any]) -> None:
        self._part, self._total, self._missing = part, len(missing), missing
        self.show(part, 0, self._total)

    @contextmanager
    def whole(self, part: str, kernels: Iterable[Any]) -> Iterator[None]:
        """Count what these kernels reach as one part, whose kernels are compiled meanwhile."""
        self._running += 1
        self._begin(part, self.missing(kernels))
        try:
            yield
        finally:
            self._running -= 1
            self.show(part, self._total, self._total)

    @contextmanager
    def shown_by(self, show: Show) -> Iterator[None]:
        """Have it shown by calls of `show(part, done, total)` meanwhile."""
        before, self.show = self.show, show
        try:
            yield
        finally:
            self.show = before

    def missing(self, kernels: Iterable[Any]) -> set[Any]:
        """These kernels and all that they call, but for those that are compiled or kept."""
        known = {compiled.py_func: compiled for compiled in self.kernels}
        reached: set[Any] = set()
        frontier = list(kernels)
        while frontier:
            compiled = frontier.pop()
            if compiled not in reached:
                reached.add(compiled)
                function = compiled.py_func
                called = (function.__globals__.get(name) for name in function.__code__.co_names)
                frontier += [each for each in called if getattr(each, "py_func", None) in known]
        return {each for each in reached if not each.overloads and not is_kept(each)}


class _Teller:
    """What shows it where nobody else does: on stderr, as a bar if that is a terminal."""

    def __init__(self, kept: bool) -> None:
        self._kept = (
            "they are kept for the next time"
            if kept
            else "they are not kept: no folder can be written"
        )
        self._bar: Any = None
        self._quiet = False

    def __call__(self, part: str, done: int, total: int) -> None:
        """Show it; nothing more once stderr cannot be written."""
        if self._quiet:
            return
        try:
            self._tell(part, done, total)
        except (ValueError, OSError, AttributeError):  # it is closed, or no stream as others are
            self._quiet = True
            if self._bar is not None:
                with suppress(Exception):
                    self._bar.stop()
                self._bar = None

    def _tell(self, part: str, done: int, total: int) -> None:
        process = multiprocessing.current_process()
        alone = multiprocessing.parent_process() is None
        if alone and sys.stderr is not None and sys.stderr.isatty():
            self._draw(f"compiling {part}, {done} of {total} kernels", done, total)
        elif done == 0 and (self._kept or total >= _FEW) and (alone or process.name.endswith("-1")):
            more = f"; {self._kept}" if self._kept else ""
            self._kept = ""  # said
            number = "1 kernel" if total == 1 else f"{total} kernels"
            _log.warning("bideuchre_env: compiling %s, %s%s", part, number, more)

    def _draw(self, text: str, done: int, total: int) -> None:
        if self._bar is None and done < total:
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn

            columns = TextColumn("{task.description}", markup=False), BarColumn(bar_width=None)
            console = Console(stderr=True)
            self._bar = Progress(*columns, console=console, transient=True, expand=True)
            self._bar.add_task(text, total=total)
            self._bar.start()
        if self._bar is not None:
            self._bar.update(0, description=text, completed=done, total=total)
            if done == total:
                self._bar.stop()
                self._bar = None
