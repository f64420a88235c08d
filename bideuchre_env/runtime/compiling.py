"""Show that kernels are being compiled: a status line on a terminal, elsewhere one log line."""

from __future__ import annotations

import logging
import multiprocessing
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

Show = Callable[[str], None]
_log = logging.getLogger("bideuchre_env")


class Compiling:
    """Counter of the kernels that this process has compiled; `show` displays it."""

    def __init__(self, kernels: list[Any], saved: bool) -> None:
        self.kernels = kernels
        self.count = 0
        self.show: Show = _Status(saved)
        self._depth = 0  # of nested compilations: a kernel waits for those that it calls

    def begin(self, compiled: Any) -> None:
        """A function is about to be compiled; it may be another package's."""
        if compiled in self.kernels:
            self._depth += 1
            self.show(self._text())

    def end(self, compiled: Any) -> None:
        """A function has been compiled, or has failed to."""
        if compiled in self.kernels:
            self._depth -= 1
            self.count += 1
            self.show(self._text())

    def _text(self) -> str:
        return f"compiling kernels, {self.count} done" if self._depth else ""

    @contextmanager
    def shown_by(self, show: Show) -> Iterator[None]:
        """Call `show` with each new text, and with "" when compilation ends."""
        before, self.show = self.show, show
        try:
            yield
        finally:
            self.show = before


class _Status:
    """A status line if stderr is a terminal; else one line of the log, for the first text."""

    def __init__(self, saved: bool) -> None:
        self._saved = "saved for the next run" if saved else "not saved: no folder can be written"
        self._line: Any = None
        self._logged = False

    def __call__(self, text: str) -> None:
        process = multiprocessing.current_process()
        first = multiprocessing.parent_process() is None
        if first and _is_terminal():
            self._draw(text)
        elif not self._logged and (first or process.name.endswith("-1")):  # one of many workers
            self._logged = True
            _log.warning("bideuchre_env: compiling kernels, up to a minute; %s", self._saved)

    def _draw(self, text: str) -> None:
        if text and self._line is None:
            from rich.console import Console

            self._line = Console(stderr=True).status(text)
            self._line.start()
        elif text:
            self._line.update(text)
        elif self._line is not None:
            self._line.stop()
            self._line = None


def _is_terminal() -> bool:
    try:
        return sys.stderr.isatty()
    except (AttributeError, ValueError):  # no stream, or a closed one
        return False
