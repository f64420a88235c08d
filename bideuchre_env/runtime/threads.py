"""`OneAtATime`, a guard against concurrent calls, and `ThreadPool` for kernels without the GIL."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from functools import wraps
from itertools import starmap
from typing import Any, TypeVar, cast

from bideuchre_env._checks import brief, is_integer
from bideuchre_env.errors import IllegalActionError, OptionError
from bideuchre_env.runtime.interrupts import ctrl_c

Work = Callable[[int, int], Any]
Method = TypeVar("Method", bound=Callable[..., Any])
LEAST_PART = 256  # smallest number of rows worth a call
PARTS_EACH = 4
MOST_THREADS = 1024


def check_threads(threads: Any, most: int = MOST_THREADS) -> int:
    """Return the number of threads; `OptionError` unless it is a whole number from 1 to `most`."""
    if not is_integer(threads) or not 1 <= threads <= most:
        raise OptionError(f"threads={brief(threads)}: expected a whole number from 1 to {most}")
    return int(threads)


class OneAtATime:
    """State of the guard that rejects calls of `one_at_a_time` methods while one is running.

    Kernels run without the interpreter's lock, so another thread could change arguments after their
    check. `free` is False during a call. A copy, pickled or not, is free.
    """

    __slots__ = ("free",)

    def __init__(self) -> None:
        self.free = True

    def __reduce__(self) -> tuple[type[OneAtATime], tuple[()]]:
        return OneAtATime, ()


def one_at_a_time(method: Method) -> Method:
    """Decorate a method: it raises `IllegalActionError` while another such call is running.

    The other call may be of any decorated method of the same object, also in the same thread. The
    object's attribute `_alone`, an `OneAtATime`, is their guard.
    """

    @wraps(method)
    def guarded(self: Any, *arguments: Any, **keywords: Any) -> Any:
        alone, entered = self._alone, False
        try:
            # CPython switches threads and runs signal handlers only after calls and at jumps. This
            # swap and the release below have neither, so they are atomic; a lock needs a call.
            entered, alone.free = alone.free, False
            if not entered:
                raise IllegalActionError(
                    "this environment is busy in a step or reset, of another thread or of a "
                    "caller: use one environment per thread"
                )
            return method(self, *arguments, **keywords)
        finally:
            if entered:
                alone.free = True

    return cast(Method, guarded)


class ThreadPool:
    """Up to `threads` threads, including the caller's; they are started on demand.

    They end with `close` or with the pool. A copy, pickled or forked, starts its own threads.
    """

    def __init__(self, threads: int) -> None:
        self.threads = check_threads(threads)
        self._executor: ThreadPoolExecutor | None = None
        self._owner = 0  # the process that the threads are in

    def share(self, n: int, work: Work, least: int = LEAST_PART, *, whole: bool = False) -> None:
        """Call `work(start, stop)` on parts of `range(n)` in parallel; return when all are done.

        No part but the last is smaller than `least`; a single part, or a pool of one thread, means
        one call `work(0, n)` in this thread. After an error or Ctrl-C no further part
        starts, unless `whole`. The error, or `KeyboardInterrupt`, is raised when all threads are
        idle. If the system has no more threads, the existing ones do all the work.
        """
        size = max(least, -(-n // (self.threads * PARTS_EACH)))
        helpers = min(self.threads, -(-n // size)) - 1
        if helpers < 1:
            work(0, n)
            return
        spans = [(start, min(start + size, n)) for start in range(0, n, size)]
        parts, stopped = iter(spans), threading.Event()

        def until_stopped() -> Iterator[tuple[int, int]]:
            for part in parts:
                if stopped.is_set() or pressed.is_set():
                    return
                yield part

        def take_parts() -> None:
            try:
                # no bytecode between two parts of a kernel, so that no signal is handled there
                deque(starmap(work, parts if whole else until_stopped()), maxlen=0)
            except BaseException:
                stopped.set()
                raise

        futures: list[Future[None]] = []
        raised: BaseException | None = None
        with ctrl_c() as pressed:
            with suppress(RuntimeError):  # no thread can be started
                for _ in range(helpers):
                    futures.append(self._started().submit(take_parts))
            while True:
                try:
                    take_parts()
                    wait(futures)
                    break
                except BaseException as error:  # of the work, or of a signal's handler
                    raised = raised or error
        if pressed.is_set():
            raise KeyboardInterrupt from raised
        if raised is not None:
            raise raised
        for future in futures:
            future.result()

    def _started(self) -> ThreadPoolExecutor:
        """Return the executor of this process, made at the first call."""
        if self._executor is None or self._owner != os.getpid():  # a fork has no threads
            self._executor = ThreadPoolExecutor(max(1, self.threads - 1), "bideuchre")
            self._owner = os.getpid()
        return self._executor

    def close(self) -> None:
        """End the threads when they are idle, without waiting; `share` starts new ones."""
        if self._executor is not None and self._owner == os.getpid():
            self._executor.shutdown(wait=False)
        self._executor = None

    def __getstate__(self) -> dict[str, Any]:
        return {"threads": self.threads, "_executor": None, "_owner": 0}
