"""Low-latency threads that step the rows of a vector environment together.

A step of some thousand rows takes a fraction of a millisecond, less than it takes to wake a
thread and to acquire the GIL. So helper threads busy-wait for the next step inside a kernel for a
short time, and sleep only if none comes. A step is split into parts; an idle thread takes the
next part.
"""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable
from functools import partial
from queue import SimpleQueue
from typing import Any

import numpy as np

from bideuchre_env.core.rows import (
    NONE_ENDED,
    SOME_ENDED,
    Rows,
    step_all_rows,
    step_rows,
    take_rows,
)
from bideuchre_env.runtime.intrinsics import add_to_cell, read_cell, write_cell
from bideuchre_env.runtime.jit import Array, direct, entry_kernel
from bideuchre_env.runtime.threads import check_threads

LEAST_PART = 128  # smallest number of rows worth a part
PARTS_EACH = 4
SPINS = 200_000  # polls for work before a thread gives up: about 0.2 ms
NEXT, FINISHED = 0, 8  # cells: parts begun and parts done, in separate cache lines
N_CELLS = 16


@entry_kernel
def open_parts(cells: Array) -> None:
    """Offer the parts of a step, whose actions are ready, to every thread."""
    write_cell(cells, FINISHED, 0)
    write_cell(cells, NEXT, 0)


@entry_kernel
def share_steps(cells: Array, leads: bool, spins: int, parts: int, job: Rows) -> bool:
    """Step parts of the rows, `step_rows`, as long as there are any.

    Returns True in the thread that `leads` when all parts are done, or False after `spins` polls
    without a part.
    """
    n, idle = len(job.states), 0
    while idle < spins:
        if read_cell(cells, NEXT) < parts:
            part = add_to_cell(cells, NEXT, 1)
            if part < parts:
                step_rows(job, n * part // parts, n * (part + 1) // parts)
                add_to_cell(cells, FINISHED, 1)
                idle = 0
                continue
        if leads and read_cell(cells, FINISHED) == parts:
            return True
        idle += 1
    return False


class _Helper:
    """A thread that takes parts of steps, and sleeps when no step has come for a while."""

    def __init__(self, cells: Array, parts: int, job: Rows) -> None:
        self.cells, self.parts, self.job = cells, parts, job
        self.asleep, self.ended = False, False
        self.bell: SimpleQueue[None] = SimpleQueue()
        threading.Thread(target=self._run, name="bideuchre", daemon=True).start()

    def _run(self) -> None:
        while not self.ended:
            share_steps(self.cells, False, SPINS, self.parts, self.job)
            self.asleep = True
            # a step offered in between may not have woken this thread
            if self.cells[NEXT] >= self.parts and not self.ended:
                self.bell.get()
            self.asleep = False

    def wake(self) -> None:
        """Wake the thread if it sleeps. Idempotent."""
        if self.asleep:
            self.asleep = False  # one wake-up is enough, however long it takes
            self.bell.put(None)


def _end_threads(helpers: list[_Helper], owner: int) -> None:
    """End the threads if this process, `owner`, started them; empty the list in any process."""
    for helper in helpers if os.getpid() == owner else ():
        helper.ended = True
        helper.bell.put(None)
    helpers.clear()


class Pace:
    """Choose between one thread and several, by measuring the time of steps.

    If another program uses a helper's core, all threads wait for that helper's part. So the
    unused mode is measured briefly at intervals, and the faster mode is used: `together` is True if
    the next step should use several threads.
    """

    SECONDS, STEPS = 0.1, 8  # minimum of a measurement: many time slices of a busy core
    MOMENTS = 64  # measurements from one trial of the other mode to the next
    WEIGHT = 0.25  # of the last measurement in the moving average
    GAIN = 0.97  # several threads must take less than this fraction of one's time

    def __init__(self) -> None:
        self.together = True
        self._seconds, self._steps, self._moments = 0.0, 0, 0
        self._means = {True: 0.0, False: 0.0}  # seconds per step; 0 is not measured yet

    def count(self, seconds: float) -> None:
        """Record the time of a step in the current mode; set `together` for the next step."""
        self._seconds += seconds
        self._steps += 1
        if self._seconds < self.SECONDS or self._steps < self.STEPS:
            return
        way, mean = self.together, self._seconds / self._steps
        if self._means[way]:
            mean = self._means[way] + self.WEIGHT * (mean - self._means[way])
        self._means[way] = mean
        self._seconds, self._steps, self._moments = 0.0, 0, self._moments + 1
        if self._moments == self.MOMENTS:
            self._means[not way] = 0.0
        other = self._means[not way]
        if other < mean * (1.0 if way else self.GAIN):
            self.together, self._moments = not way, 0


class StepPool:
    """Up to `threads` threads, including the caller's, that step the same rows.

    Only the caller's is used while that is faster, see `Pace`. The others are started by the first
    step that is large enough, and end with `close` or with the pool. A copy, pickled or forked,
    starts its own.
    """

    def __init__(self, threads: int) -> None:
        self.threads = check_threads(threads)
        self._owner = 0  # the process that the threads are in
        self._end: Callable[[], Any] | None = None
        self._helpers: list[_Helper] = []
        self._cells = np.zeros(N_CELLS, np.int64)
        self._step_all: Callable[..., int] | None = None
        self._pace = Pace()

    def step(self, rows: Rows, actions: Array) -> int:
        """Apply one action, int64 (n,), in every row.

        Return `SOME_ENDED` or `NONE_ENDED`, depending on whether an episode ended. If an action is
        illegal, no row changes, and the first such row is returned. The result does not depend on
        the number of threads. An interrupt such as Ctrl-C is raised after the step, when no thread
        uses the rows.
        """
        step_all = self._step_all
        if step_all is None:
            step_all = self._step_all = direct(step_all_rows, rows, actions)
        if self.threads == 1:
            return step_all(rows, actions)
        parts = min(self.threads * PARTS_EACH, len(rows.keys) // LEAST_PART)
        if parts < 2:
            return step_all(rows, actions)
        started = time.perf_counter()
        if self._pace.together:
            row = self._step_together(parts, rows, actions)
        else:
            row = step_all(rows, actions)
        if row < 0:
            self._pace.count(time.perf_counter() - started)
        return row

    def _step_together(self, parts: int, rows: Rows, actions: Array) -> int:
        if self._owner != os.getpid():  # a fork has none of its parent's threads
            self._begin(parts, rows)
        row = self._take(rows, actions)
        if row >= 0:
            return row
        rest = iter(partial(self._share, self._cells, True, SPINS, parts, rows), True)
        try:
            open_parts(self._cells)
            for helper in self._helpers:
                helper.wake()
        finally:
            # no bytecode until all parts are done, so that no interrupt is raised before
            deque(rest, maxlen=0)
        return SOME_ENDED if rows.ended.any() else NONE_ENDED

    def _begin(self, parts: int, job: Rows) -> None:
        """Start all threads, or none after an error, so that the next step tries again."""
        owner, cells = os.getpid(), np.full(N_CELLS, parts, np.int64)
        helpers: list[_Helper] = []
        end = weakref.finalize(self, _end_threads, helpers, owner)
        try:
            for _ in range(min(self.threads, parts) - 1):
                helpers.append(_Helper(cells, parts, job))
        except BaseException:
            end()
            raise
        self._share = direct(share_steps, cells, True, SPINS, parts, job)
        self._take = direct(take_rows, job, job.actions)
        self._cells, self._helpers, self._end, self._owner = cells, helpers, end, owner

    def close(self) -> None:
        """End the threads; the next step that needs them starts new ones."""
        if self._end is not None:
            self._end()
            self._end, self._owner = None, 0

    def __str__(self) -> str:
        return f"{self.threads} threads"

    def __getstate__(self) -> dict[str, int]:
        return {"threads": self.threads}

    def __setstate__(self, state: dict[str, int]) -> None:
        self.__init__(state["threads"])  # type: ignore[misc]
