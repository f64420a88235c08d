"""Threads that share the rows of one piece of work: kernels run without the interpreter's lock."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from bideuchre_env.errors import OptionError, shown


class Team:
    """Up to `threads` threads, the caller's own included; more are never started than needed.

    A copy of it, pickled or forked, starts threads of its own.
    """

    def __init__(self, threads: int) -> None:
        whole = isinstance(threads, int) and not isinstance(threads, bool)
        if not whole or not 1 <= threads <= 1024:
            raise OptionError(f"threads={shown(threads)}: a whole number from 1 to 1024")
        self.threads = threads
        self._pool: ThreadPoolExecutor | None = None
        self._owner = 0

    def share(self, n: int, work: Callable[[int, int], Any]) -> None:
        """Call `work(start, stop)` on equal parts of `range(n)` at once; returns when all are done.

        The first exception of a part is raised when every part has ended.
        """
        parts = max(1, min(self.threads, n))
        if parts == 1:
            work(0, n)
            return
        bounds = [n * part // parts for part in range(parts + 1)]
        pool = self._started()
        others = [pool.submit(work, bounds[i], bounds[i + 1]) for i in range(1, parts)]
        try:
            work(0, bounds[1])
        finally:
            errors = [other.exception() for other in others]
        for error in errors:
            if error is not None:
                raise error

    def _started(self) -> ThreadPoolExecutor:
        if self._pool is None or self._owner != os.getpid():
            self._pool = ThreadPoolExecutor(self.threads - 1, "bideuchre")
            self._owner = os.getpid()
        return self._pool

    def close(self) -> None:
        """Let the threads go; they are started again when needed."""
        if self._pool is not None and self._owner == os.getpid():
            self._pool.shutdown(wait=False)
        self._pool = None

    def __getstate__(self) -> dict[str, int]:
        return {"threads": self.threads}

    def __setstate__(self, kept: dict[str, int]) -> None:
        self.__init__(kept["threads"])  # type: ignore[misc]
