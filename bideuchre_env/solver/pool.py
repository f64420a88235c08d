"""Who does the solving: boards with a transposition table each, one to a thread, stopped by Ctrl-C.

Deals are independent and each is solved from an empty table, so neither the number of threads
nor the size of the tables changes any answer.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from typing import Any

from bideuchre_env._checks import shown
from bideuchre_env.errors import OptionError
from bideuchre_env.runtime.interrupts import ctrl_c
from bideuchre_env.runtime.jit import Array
from bideuchre_env.runtime.threads import check_threads
from bideuchre_env.solver.position import new_board
from bideuchre_env.solver.transpositions import new_memory

DEFAULT_MEMORY = 64
"""Megabytes of transposition table a thread may use, unless told otherwise."""
MOST_MEMORY = 1 << 16
MOST_THREADS = 256
LOOK_UP_SECONDS = 0.2


class Worker:
    """A board and a transposition table of at most `memory` megabytes, for one thread at a time."""

    def __init__(self, memory: float) -> None:
        self.boards = new_board()
        self.heads, self.entries = new_memory(memory)

    @property
    def room(self) -> tuple[Array, Array, Array]:
        """What kernels take: boards (one row), heads, entries."""
        return self.boards, self.heads, self.entries


class _Bench:
    """Workers at rest, by the memory they have."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._free: dict[float, list[Worker]] = {}

    def take(self, memory: float) -> Worker:
        with self._lock:
            free = self._free.get(memory)
            worker = free.pop() if free else None
        worker = worker or Worker(memory)
        worker.boards["stop"] = 0
        return worker

    def give(self, memory: float, worker: Worker) -> None:
        """Take a worker back; one of the default size is kept for the next call."""
        if memory == DEFAULT_MEMORY:
            with self._lock:
                self._free.setdefault(memory, []).append(worker)


_bench = _Bench()

Task = Callable[[Array, Array, Array], Any]


def check_memory(memory: Any) -> float:
    """Megabytes for each thread: the default for None; `OptionError` unless from 1 to 65,536."""
    if memory is None:
        return DEFAULT_MEMORY
    whole = isinstance(memory, (int, float)) and not isinstance(memory, bool)
    if not whole or not 1 <= memory <= MOST_MEMORY:
        raise OptionError(f"memory={shown(memory)}: megabytes a thread, from 1 to {MOST_MEMORY}")
    return float(memory)


def threads_of(threads: Any) -> int:
    """A number of threads: all processors for None; `OptionError` unless from 1 to 256."""
    if threads is None:
        return min(os.cpu_count() or 1, MOST_THREADS)
    return check_threads(threads, MOST_THREADS)


def run(tasks: list[Task], memory: Any, threads: Any = 1) -> list[Any]:
    """Carry out tasks (each given boards, heads and entries) in threads; their results in order.

    Ctrl-C, or an error in a task, ends the searches that are under way and is raised.
    """
    size, n = check_memory(memory), threads_of(threads)
    team = [_bench.take(size) for _ in range(min(n, max(1, len(tasks))))]
    results: list[Any] = [None] * len(tasks)
    turns, lock, stopped = iter(range(len(tasks))), threading.Lock(), threading.Event()

    def work(worker: Worker) -> None:
        while not stopped.is_set():
            with lock:
                turn = next(turns, None)
            if turn is None:
                return
            results[turn] = tasks[turn](*worker.room)

    pool = ThreadPoolExecutor(len(team), thread_name_prefix="bideuchre-solver")
    try:
        with ctrl_c() as pressed:
            _wait_for([pool.submit(work, worker) for worker in team], pressed)
    finally:
        stopped.set()
        for worker in team:
            worker.boards["stop"] = 1
        pool.shutdown(wait=True, cancel_futures=True)
        for worker in team:
            _bench.give(size, worker)
    return results


def _wait_for(futures: list[Future[None]], pressed: threading.Event) -> None:
    """Wait for all, looking up now and then; raises the first error, or Ctrl-C."""
    pending = set(futures)
    while pending:
        done, pending = wait(pending, timeout=LOOK_UP_SECONDS, return_when=FIRST_EXCEPTION)
        if pressed.is_set():
            raise KeyboardInterrupt
        for future in done:
            future.result()
