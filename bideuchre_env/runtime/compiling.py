"""Report that kernels are being compiled: one log line, or the caller's display."""

from __future__ import annotations

import logging
import multiprocessing
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

Show = Callable[[str], None]
_log = logging.getLogger("bideuchre_env")


class Compiling:
    """Counts the kernels that this process has compiled; `show` displays the number.

    By default `show` logs one line, at the first kernel. `kernels` are the package's kernels,
    others do not count. `saved` says whether the compiled code is cached.
    """

    def __init__(self, kernels: list[Any], saved: bool) -> None:
        self.kernels = kernels
        self.count = 0
        self.show: Show = self._log_once
        self._saved = "saved for the next run" if saved else "not saved: no folder can be written"
        self._logged = False
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
        """Log once, in one process only, that kernels are being compiled; ignores `text`."""
        process = multiprocessing.current_process()
        first = multiprocessing.parent_process() is None
        if not self._logged and (first or process.name.endswith("-1")):  # only one of many workers
            self._logged = True
            _log.warning(
                "bideuchre_env: compiling kernels, which may take minutes; %s", self._saved
            )

    @contextmanager
    def shown_by(self, show: Show) -> Iterator[None]:
        """Context manager: call `show` with each new text, and with "" when compilation ends."""
        before, self.show = self.show, show
        try:
            yield
        finally:
            self.show = before
