"""Who plays while the learner learns: processes here, each with a pipe, or workers on Ray."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from typing import Any

import torch

from bideuchre_env.agents.loading import in_one_line
from bideuchre_env.errors import WorkerError
from bideuchre_env.evaluation.ray_pool import TRIES, RayPool
from bideuchre_env.evaluation.workers import undisturbed
from bideuchre_env.learning.pairs import Pool


@contextmanager
def pool_of(workers: int, ray: bool, ray_address: str | None) -> Iterator[Pool | None]:
    """The workers, if any; they are ended afterwards."""
    if ray or ray_address is not None:
        with RayPool(ray_address) as pool:
            yield pool
    elif workers:
        processes = Processes(workers)
        try:
            yield processes
        finally:
            processes.close()
    else:
        yield None


class Processes:
    """Processes of this machine, each of which computes one of so many blocks.

    One that dies is begun again, and computes its block again.
    """

    def __init__(self, n: int) -> None:
        self._all: list[tuple[Any, Connection]] = []
        with undisturbed():
            for _ in range(n):
                self._all.append(begun())

    def in_order(
        self, function: Callable[[Any, Any], Any], shared: Any, blocks: Iterable[Any]
    ) -> Iterator[Any]:
        """`function(shared, block)` of each block, in order; as many blocks as processes."""
        work = [(function, shared, block) for block in blocks]
        for (_, pipe), each in zip(self._all, work, strict=True):
            with suppress(ConnectionError):  # it has died, as is seen below
                pipe.send(each)
        for k, each in enumerate(work):
            answer = self._answer(k, each)
            if isinstance(answer, WorkerError):
                raise answer
            yield answer

    def _answer(self, k: int, work: Any) -> Any:
        """What process k makes of its work; `WorkerError` if it dies of that again and again."""
        for left in reversed(range(TRIES + 1)):
            process, pipe = self._all[k]
            with suppress(EOFError, ConnectionError):
                return pipe.recv()
            process.join()
            pipe.close()
            if left:
                with undisturbed():
                    self._all[k] = begun()
                with suppress(ConnectionError):
                    self._all[k][1].send(work)
        raise WorkerError(
            f"a process that plays ended with code {process.exitcode}, {TRIES + 1} times at the "
            "same hands; the same command goes on from the last checkpoint"
        )

    def close(self) -> None:
        """End the processes."""
        for process, pipe in self._all:
            process.terminate()
            process.join()
            pipe.close()


def begun() -> tuple[Any, Connection]:
    """A process that serves, and the pipe to it."""
    spawn = multiprocessing.get_context("spawn")
    pipe, end = spawn.Pipe()
    process = spawn.Process(target=serve, args=(end,), daemon=True)
    process.start()
    end.close()
    return process, pipe


def serve(pipe: Connection) -> None:
    """Compute the blocks that come through the pipe."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it is for the process that started this one
    os.dup2(2, 1)
    torch.set_num_threads(1)
    while True:
        try:
            function, shared, block = pipe.recv()
            pipe.send(answer_of(function, shared, block))
        except (EOFError, ConnectionError):  # there is nobody to play for
            return


def answer_of(function: Callable[[Any, Any], Any], shared: Any, block: Any) -> Any:
    """What a block comes to, or a `WorkerError` of what goes wrong with it."""
    try:
        return function(shared, block)
    except Exception as error:
        return WorkerError(f"a process that plays: {in_one_line(error)}")
