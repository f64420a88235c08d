"""Who does the solving: a `Searcher` for each thread, stopped by Ctrl-C.

Deals are independent and each is solved from an empty table, so neither the number of threads
nor the size of the tables changes any answer.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from typing import Any

from bideuchre_env._checks import is_number, shown
from bideuchre_env.errors import OptionError
from bideuchre_env.runtime.interrupts import ctrl_c
from bideuchre_env.runtime.threads import check_threads
from bideuchre_env.solver.transpositions import Searcher, new_searcher

DEFAULT_MEMORY = 64
"""Megabytes of transposition table that a thread uses by default."""
MOST_MEMORY = 1 << 16
MOST_THREADS = 256
LOOK_UP_SECONDS = 0.2

Span = tuple[int, int]
_at_rest: list[Searcher] = []  # of the default size, for the next call


def check_memory(memory: Any) -> float:
    """Megabytes for each thread: the default for None; `OptionError` unless from 1 to 65,536."""
    if memory is None:
        return DEFAULT_MEMORY
    if not is_number(memory) or not 1 <= memory <= MOST_MEMORY:
        raise OptionError(f"memory={shown(memory)}: megabytes a thread, from 1 to {MOST_MEMORY}")
    return float(memory)


def threads_of(threads: Any) -> int:
    """A number of threads: all processors for None; `OptionError` unless from 1 to 256."""
    if threads is None:
        return min(os.cpu_count() or 1, MOST_THREADS)
    return check_threads(threads, MOST_THREADS)


def run(
    work: Callable[[Searcher, int, int], Any], spans: list[Span], memory: Any, threads: Any = 1
) -> list[Any]:
    """`work(searcher, first, last)` for every span, in threads; the results in order.

    Ctrl-C, or an error in the work, ends the searches that are under way and is raised.
    """
    size, n = check_memory(memory), threads_of(threads)
    searchers = [_searcher(size) for _ in range(min(n, max(1, len(spans))))]
    free = searchers.copy()

    def task(span: Span) -> Any:
        searcher = free.pop()
        try:
            return work(searcher, *span)
        finally:
            free.append(searcher)

    pool = ThreadPoolExecutor(len(searchers), thread_name_prefix="bideuchre-solver")
    try:
        with ctrl_c() as pressed:
            futures = [pool.submit(task, span) for span in spans]
            pending = set(futures)
            while pending:
                done, pending = wait(pending, LOOK_UP_SECONDS, FIRST_EXCEPTION)
                if pressed.is_set():
                    raise KeyboardInterrupt
                for future in done:
                    future.result()
    finally:
        for searcher in searchers:
            searcher.position["stop"] = 1
        pool.shutdown(wait=True, cancel_futures=True)
        if size == DEFAULT_MEMORY:
            _at_rest.extend(searchers)
    return [future.result() for future in futures]


def _searcher(memory: float) -> Searcher:
    try:
        searcher = _at_rest.pop() if memory == DEFAULT_MEMORY else new_searcher(memory)
    except IndexError:
        searcher = new_searcher(memory)
    searcher.position["stop"] = 0
    return searcher
