"""Executors compute blocks of work in this process, in other processes or on Ray.

The results do not depend on the executor. `Serial` and `Processes` are here, `ray_pool.RayPool` is
the third. `concurrent.futures` is not used: it returns only complete blocks, which may take
minutes, cannot cancel a running block, and does not know which process has died.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from itertools import islice
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from multiprocessing.reduction import ForkingPickler
from types import GeneratorType, ModuleType
from typing import Any

from bideuchre_env._checks import brief, is_whole
from bideuchre_env.agents.registry import in_one_line
from bideuchre_env.errors import BidEuchreError, OptionError, WorkerError
from bideuchre_env.runtime.interrupts import blocked, leave_to_parent

MOST_WORKERS = 256
POLL_SECONDS = 0.1

Function = Callable[[Any, Any], Any]
"""`function(shared, block)` returns an answer, or is a generator of answers; None is no answer."""
Stopped = Callable[[], bool]
Results = Iterator[tuple[int, Any]]


def never() -> bool:
    """Return False: the default of `stopped`."""
    return False


class Executor(ABC):
    """A number of `workers` that compute blocks; a context manager that ends them."""

    @property
    @abstractmethod
    def workers(self) -> int:
        """Current number of workers."""

    @abstractmethod
    def run(
        self, function: Function, shared: Any, blocks: Iterable[Any], stopped: Stopped = never
    ) -> Results:
        """Yield (number of the block, answer) for each answer, until all are computed or `stopped`.

        Answers of different blocks come in any order. Unless the executor is `Serial`, `function`
        must be in a module that workers can import, every block gets a new copy of `shared`, and
        closing the iterator cancels the blocks in progress.

        Raises the function's error if it is a `BidEuchreError`, `OptionError` for a value that
        cannot be pickled, and `WorkerError` for any other error.
        """

    def in_order(
        self, function: Function, shared: Any, blocks: Iterable[Any], stopped: Stopped = never
    ) -> Iterator[Any]:
        """Return the answers of `run`, one for each block, in the order of the blocks.

        Answers that come early are buffered; those after a missing block are dropped.
        """
        results = self.run(function, shared, blocks, stopped)

        def ordered() -> Iterator[Any]:
            early: dict[int, Any] = {}
            due = 0
            for number, answer in results:
                early[number] = answer
                while due in early:
                    yield early.pop(due)
                    due += 1

        return ordered()

    def close(self) -> None:  # noqa: B027 (`Serial` has nothing to close)
        """End the workers. Idempotent."""

    def __enter__(self) -> Executor:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class Serial(Executor):
    """Computes block after block in this process, with `shared` itself."""

    @property
    def workers(self) -> int:
        """1, this process."""
        return 1

    def run(
        self, function: Function, shared: Any, blocks: Iterable[Any], stopped: Stopped = never
    ) -> Results:
        """See `Executor.run`; `stopped` also ends a block, after any value of a generator."""
        for number, block in enumerate(blocks):
            if stopped():
                return
            for answer in answers(function, shared, block):
                if answer is not None:
                    yield number, answer
                if stopped():
                    return


class Processes(Executor):
    """Up to `workers` processes of this machine, started when they are needed.

    This process handles Ctrl-C and SIGTERM. Raises `OptionError` in a daemonic process.
    """

    def __init__(self, workers: int) -> None:
        if multiprocessing.current_process().daemon:
            raise OptionError("workers: expected 1, because a daemonic process cannot start others")
        self._workers = workers
        self._processes: dict[Connection, BaseProcess] = {}
        self._starting: list[Connection] = []
        self._idle: list[Connection] = []

    @property
    def workers(self) -> int:
        """Number of processes, if there are as many blocks."""
        return self._workers

    def run(
        self, function: Function, shared: Any, blocks: Iterable[Any], stopped: Stopped = never
    ) -> Results:
        """See `Executor.run`; `WorkerError` for a process that dies."""
        return self._results(pack((function, shared)), enumerate(blocks), stopped)

    def _results(
        self, common: bytes, waiting: Iterator[tuple[int, Any]], stopped: Stopped
    ) -> Results:
        queue: deque[tuple[int, Any]] = deque()
        busy: dict[Connection, int] = {}
        try:
            while not stopped():
                queue.extend(islice(waiting, self._workers - len(busy) - len(queue)))
                while queue and self._idle:
                    pipe = self._idle.pop()
                    busy[pipe], block = queue.popleft()
                    with suppress(OSError):  # the process has ended: `_receive` reports that
                        pipe.send((common, block))
                while len(self._starting) < len(queue):
                    self._starting.append(self._start())
                if not busy and not queue:
                    return
                ready = wait([*busy, *self._starting], POLL_SECONDS)
                for pipe in [pipe for pipe in [*busy, *self._starting] if pipe in ready]:
                    answer, error = self._receive(pipe)
                    if answer is not None:
                        yield busy[pipe], answer
                        continue
                    if pipe in self._starting:
                        self._starting.remove(pipe)
                    busy.pop(pipe, None)
                    self._idle.append(pipe)
                    if error is not None:
                        raise error
        finally:
            for pipe in self._processes.keys() & busy:
                self._end(pipe)

    def _start(self) -> Connection:
        """Start a process, and return its pipe."""
        spawn = multiprocessing.get_context("spawn")
        pipe, end = spawn.Pipe()
        name = f"bideuchre-{len(self._processes) + 1}"
        with without_main(), blocked():
            process = spawn.Process(target=serve, args=(end,), name=name, daemon=True)
            process.start()
        end.close()
        self._processes[pipe] = process
        return pipe

    def _receive(self, pipe: Connection) -> Any:
        """Return the next message of a process; `WorkerError` if it has ended."""
        try:
            return pipe.recv()
        except (EOFError, OSError):
            process, number = self._processes[pipe], list(self._processes).index(pipe) + 1
            process.join()
            self._end(pipe)
            raise WorkerError(
                f"process {number} of {self._workers} ended with code {process.exitcode} before "
                "its work was done, perhaps for want of memory"
            ) from None

    def _end(self, pipe: Connection) -> None:
        if pipe in self._starting:
            self._starting.remove(pipe)
        process = self._processes.pop(pipe)
        process.kill()
        process.join()
        pipe.close()

    def close(self) -> None:
        """Kill the processes."""
        self._idle.clear()
        for pipe in list(self._processes):
            self._end(pipe)


def executor_of(workers: Any) -> AbstractContextManager[Executor]:
    """Return an executor, which the caller has opened, or a new one with `workers` processes.

    The context manager closes a new one. Raises `OptionError` for another argument.
    """
    if isinstance(workers, Executor):
        return nullcontext(workers)
    if not is_whole(workers) or not 1 <= workers <= MOST_WORKERS:
        raise OptionError(
            f"workers={brief(workers)}: expected a whole number from 1 to {MOST_WORKERS}"
        )
    return Processes(workers) if workers > 1 else Serial()


def answers(function: Function, shared: Any, block: Any) -> Iterator[Any]:
    """Yield the values of a generator function for a block, or its one result."""
    result = function(shared, block)
    if isinstance(result, GeneratorType):
        yield from result
    else:
        yield result


def serve(pipe: Connection) -> None:
    """Compute the blocks received through the pipe, in a process of its own, until it is killed.

    It sends (None, None) when it has started, (answer, None) for each answer, then (None, None) or
    (None, error).
    """
    leave_to_parent()
    os.dup2(2, 1)  # output of an agent is not part of the program's output
    with suppress(EOFError, OSError):  # the parent has ended
        pipe.send((None, None))
        while True:
            common, block = pipe.recv()
            error = None
            try:
                function, shared = ForkingPickler.loads(common)
                for answer in answers(function, shared, block):
                    if answer is not None:
                        pipe.send((answer, None))
            except (Exception, SystemExit) as raised:
                error = to_send(raised, "in a process of its own")
            pipe.send((None, error))


def to_send(error: BaseException, where: str) -> BidEuchreError:
    """Convert an error of any class to a `BidEuchreError`, which can be pickled.

    An `OptionError` gets `where`, which names the worker, in its message. Any other
    `BidEuchreError` is returned unchanged; an error of another class becomes a `WorkerError` with
    `where`.
    """
    if isinstance(error, OptionError):
        return OptionError(f"{error} ({where})")
    if isinstance(error, BidEuchreError):
        return error
    return WorkerError(f"{where}: {in_one_line(error)}")


def pack(value: Any) -> bytes:
    """Pickle a value for a worker; `OptionError` for a value that cannot be pickled."""
    try:
        with without_main():
            return bytes(ForkingPickler.dumps(value))
    except BidEuchreError:
        raise
    except Exception as error:
        raise OptionError(f"this cannot be sent between workers: {in_one_line(error)}") from None


@contextmanager
def without_main() -> Iterator[None]:
    """Context manager that hides the main module, which other processes must not load.

    A spawned process would otherwise run the user's script again, which may have no main guard.
    """
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main
