"""Threads that share a piece of work: kernels run without the interpreter's lock.

And Ctrl-C where it is not to break into work: `ctrl_c`.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Iterator
from queue import SimpleQueue
from typing import Any

from bideuchre_env._checks import is_integer, shown
from bideuchre_env.errors import IllegalActionError, OptionError

Work = Callable[[int, int], Any]
Job = tuple[Work, Iterator[tuple[int, int]]]
LEAST_PART = 256  # rows that are worth a call of their own
PARTS_EACH = 4
MOST_THREADS = 1024


def check_threads(threads: Any, most: int = MOST_THREADS) -> int:
    """A number of threads; `OptionError` unless it is a whole number from 1 to `most`."""
    if not is_integer(threads) or not 1 <= threads <= most:
        raise OptionError(f"threads={shown(threads)}: a whole number from 1 to {most}")
    return int(threads)


class OneAtATime:
    """Keeps a second thread out while one is in: `with` it raises `IllegalActionError` for that.

    Kernels run without the interpreter's lock, so what one thread has checked another could change
    before it is carried out. A copy, pickled or not, is free.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()

    def __enter__(self) -> None:
        if not self._lock.acquire(blocking=False):
            raise IllegalActionError(
                "another thread is stepping this environment: give each an environment of its own"
            )

    def __exit__(self, *ignored: object) -> None:
        self._lock.release()

    def __reduce__(self) -> tuple[type[OneAtATime], tuple[()]]:
        return OneAtATime, ()


class _Helper:
    """A thread that waits, works on the parts of a job, and says that it is done."""

    def __init__(self) -> None:
        self.jobs: SimpleQueue[Job | None] = SimpleQueue()
        self.bell: SimpleQueue[None] = SimpleQueue()
        self.begun, self.finished = 0, 0
        self.error: BaseException | None = None
        threading.Thread(target=self._run, name="bideuchre", daemon=True).start()

    def _run(self) -> None:
        while (job := self.jobs.get()) is not None:
            work, parts = job
            try:
                for start, stop in parts:
                    work(start, stop)
            except BaseException as error:  # it is raised where the work was shared out
                self.error = error
            del job, work, parts  # at rest it keeps nobody's environment alive
            self.finished += 1
            self.bell.put(None)

    def begin(self, work: Work, parts: Iterator[tuple[int, int]]) -> None:
        """Set the thread to work."""
        self.begun += 1
        self.jobs.put((work, parts))


def _rest(helpers: list[_Helper]) -> None:
    """Wait until all threads are at rest; an interrupt meanwhile is raised after that."""
    interrupt: BaseException | None = None
    for helper in helpers:
        while helper.finished < helper.begun:
            try:
                helper.bell.get()
            except BaseException as error:
                interrupt = error
    if interrupt is not None:
        raise interrupt


def _let_go(helpers: list[_Helper], owner: int) -> None:
    """End the threads, in the process that started them."""
    if os.getpid() == owner:
        for helper in helpers:
            helper.jobs.put(None)
    helpers.clear()


class Threads:
    """What every team of threads is: up to `threads`, let go when asked, or when it is gone.

    A copy, pickled or forked, starts threads of its own: those here are of the process `_owner`.
    """

    def __init__(self, threads: int) -> None:
        self.threads = check_threads(threads)
        self._owner = 0
        self._end: Callable[[], Any] | None = None

    def close(self) -> None:
        """Let the threads go; they are started again when needed."""
        if self._end is not None:
            self._end()
            self._end, self._owner = None, 0

    def __getstate__(self) -> dict[str, int]:
        return {"threads": self.threads}

    def __setstate__(self, kept: dict[str, int]) -> None:
        self.__init__(kept["threads"])  # type: ignore[misc]


class Team(Threads):
    """Up to `threads` threads, the caller's own included; more are never started than needed."""

    def __init__(self, threads: int) -> None:
        super().__init__(threads)
        self._helpers: list[_Helper] = []

    def share(self, n: int, work: Work, least: int = LEAST_PART) -> None:
        """Call `work(start, stop)` on parts of `range(n)` at once; returns when all are done.

        No part is smaller than `least`, but for the last. The first exception is raised when every
        thread has come to rest.
        """
        size = max(least, -(-n // (self.threads * PARTS_EACH)))
        wanted = min(self.threads, -(-n // size)) - 1
        if wanted < 1:
            work(0, n)
            return
        bounds = [*range(0, n, size), n]
        parts = iter([(bounds[i], bounds[i + 1]) for i in range(len(bounds) - 1)])
        helpers = self._started(wanted)
        _rest(helpers)  # after an interrupt that came at a bad moment
        try:
            for helper in helpers:
                helper.begin(work, parts)
            for start, stop in parts:
                work(start, stop)
        finally:
            for _ in parts:
                pass  # after an exception nobody is to begin another part
            _rest(helpers)
        errors = [helper.error for helper in helpers if helper.error is not None]
        for helper in helpers:
            helper.error = None
        if errors:
            raise errors[0]

    def _started(self, wanted: int) -> list[_Helper]:
        if self._owner != os.getpid():  # a fork has none of its parent's threads
            self._helpers, self._owner = [], os.getpid()
            self._end = weakref.finalize(self, _let_go, self._helpers, self._owner)
        while len(self._helpers) < wanted:
            self._helpers.append(_Helper())
        return self._helpers[:wanted]
