"""Report that kernels are being compiled: one log line, or the caller's display."""

from __future__ import annotations

import logging
import multiprocessing
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

Show = Callable[[str], None]
_log = logging.getLogger("bideuchre_env")


_logged: set[str] = set()
"""Messages that this process has logged."""


def warn_once(message: str, detail: object) -> None:
    """Log a warning, if this process has not yet; only one of many worker processes logs."""
    is_main = multiprocessing.parent_process() is None
    if message not in _logged and (
        is_main or multiprocessing.current_process().name.endswith("-1")
    ):
        _logged.add(message)
        _log.warning(f"bideuchre_env: {message}", detail)


class Compiling:
    """Counts the kernels that this process has compiled; `show` displays the number.

    By default `show` logs one line, at the first kernel. `kernels` are the package's kernels,
    others do not count. `is_saved()` returns whether the compiled code is cached.
    """

    def __init__(self, kernels: list[Any], is_saved: Callable[[], bool]) -> None:
        self.kernels = kernels
        self.count = 0
        self.show: Show = self._log_once
        self._is_saved = is_saved
        self._depth = 0  # of nested compilations: a kernel waits for those that it calls

    def begin(self, compiled: Any) -> None:
        """Call `show` before numba compiles the dispatcher `compiled`, if it is in `kernels`."""
        if compiled in self.kernels:
            self._depth += 1
            self.show(self._text())

    def end(self, compiled: Any) -> None:
        """Count a compilation that has ended or failed, and call `show`.

        Does nothing unless the dispatcher `compiled` is in `kernels`.
        """
        if compiled in self.kernels:
            self._depth -= 1
            self.count += 1
            self.show(self._text())

    def _text(self) -> str:
        """Return the text to display; "" if nothing is being compiled."""
        return f"compiling kernels, {self.count} done" if self._depth else ""

    def _log_once(self, text: str) -> None:
        """Log once that kernels are being compiled; ignores `text`."""
        saved = "; they are saved for the next run" if self._is_saved() else ""
        warn_once("compiling kernels, which may take minutes%s", saved)

    @contextmanager
    def shown_by(self, show: Show) -> Iterator[None]:
        """Context manager: call `show` with each new text, and with "" when compilation ends."""
        before, self.show = self.show, show
        try:
            yield
        finally:
            self.show = before
