"""Run the blocks of a match in this process, in several processes or on Ray, with equal results.

Each process of `multiprocessing` has a pipe. `concurrent.futures` is not used: it returns only
complete blocks, which may take minutes, cannot cancel a running block, and does not know which
process has died.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, suppress
from functools import lru_cache
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from multiprocessing.reduction import ForkingPickler
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from bideuchre_env._checks import brief
from bideuchre_env.agents import registry
from bideuchre_env.agents.inputs import digest
from bideuchre_env.agents.registry import file_of, in_one_line, parse
from bideuchre_env.errors import AgentError, BidEuchreError, OptionError, WorkerError
from bideuchre_env.evaluation.blocks import Batch, Plan, Report, play_block, warm_up
from bideuchre_env.evaluation.boards import BOARD
from bideuchre_env.evaluation.lockstep import Stopped
from bideuchre_env.evaluation.ray_pool import RayPool
from bideuchre_env.evaluation.ray_worker import to_send
from bideuchre_env.runtime.interrupts import blocked, leave_to_parent

POLL_SECONDS = 0.1


def run_blocks(
    plan: Plan, blocks: Sequence[range], workers: int | RayPool, report: Report, stopped: Stopped
) -> None:
    """Play the blocks until all are done or `stopped()` is true.

    `report(batch)` is called in this thread with finished boards. On Ray a block is reported when
    it is complete, so a retried block counts once. Raises the errors of agents in any process, and
    `WorkerError` for a process that ends early.
    """
    if isinstance(workers, RayPool):
        for _, batch in workers.run(play_whole_block, Work.of(plan), blocks, stopped):
            report(batch)
        return
    if workers > 1:
        with start_processes(plan, min(workers, len(blocks))) as processes:
            distribute(blocks, processes, report, stopped)
        return
    for block in blocks:
        if not stopped():
            play_block(plan, block, report, stopped)


def distribute(
    blocks: Sequence[range],
    processes: dict[Connection, BaseProcess],
    report: Report,
    stopped: Stopped,
) -> None:
    """Send blocks to idle processes in order, and report finished boards.

    It ends when all blocks are played, or `stopped()` is true. Errors are those of `run_blocks`.
    """
    waiting, busy = iter(blocks), list(processes)
    while busy and not stopped():
        ready = wait(busy, POLL_SECONDS)
        for pipe in [pipe for pipe in busy if pipe in ready]:
            message = receive(pipe, processes)
            if isinstance(message, Batch):
                report(message)
            elif isinstance(message, BidEuchreError):
                raise message
            elif (block := next(waiting, None)) is None:
                busy.remove(pipe)
            else:
                with suppress(OSError):  # the process has ended: `receive` reports that
                    pipe.send(block)


def receive(pipe: Connection, processes: dict[Connection, BaseProcess]) -> Any:
    """Return the next message of a process; `WorkerError` if it has ended."""
    try:
        return pipe.recv()
    except (EOFError, OSError):
        process = processes[pipe]
        process.join()
        raise WorkerError(
            f"process {list(processes).index(pipe) + 1} of {len(processes)} ended with code "
            f"{process.exitcode} before its boards were played"
        ) from None


@contextmanager
def start_processes(plan: Plan, n: int) -> Iterator[dict[Connection, BaseProcess]]:
    """Context manager: start n processes that play a plan, yield them, terminate them at the end.

    They are yielded as a dict from pipe to process. Raises `OptionError` in a daemonic process, and
    as `pack_plan`.
    """
    if multiprocessing.current_process().daemon:
        raise OptionError("workers: expected 1, because a daemonic process cannot start others")
    spawn = multiprocessing.get_context("spawn")
    work = pack_plan(plan)
    processes: dict[Connection, BaseProcess] = {}
    try:
        with without_main(), blocked():
            for number in range(1, n + 1):
                pipe, end = spawn.Pipe()
                process = spawn.Process(
                    target=serve_blocks, args=(work, end), name=f"bideuchre-{number}", daemon=True
                )
                process.start()
                end.close()
                processes[pipe] = process
        yield processes
    finally:
        for worker in processes.values():
            worker.kill()
        for pipe, worker in processes.items():
            worker.join()
            pipe.close()


@contextmanager
def process_pool(processes: int) -> Iterator[ProcessPoolExecutor]:
    """Context manager: start processes that compute tasks, and yield their executor.

    This process handles Ctrl-C and SIGTERM. After an exception here, running tasks are killed.
    """
    spawn, others = multiprocessing.get_context("spawn"), set(multiprocessing.active_children())
    with ProcessPoolExecutor(processes, spawn, leave_to_parent) as pool:
        try:
            with blocked():  # these tasks start all processes
                list(pool.map(str, range(processes)))
            yield pool
        except BaseException:
            for process in set(multiprocessing.active_children()) - others:
                process.kill()
            raise


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


def pack_plan(plan: Plan) -> bytes:
    """Pickle a plan, and the registered agents that it names, for another process.

    Raises `OptionError` for an agent that cannot be pickled.
    """
    sent: dict[str, Any] = {}
    for agent in plan.members:
        own = parse(agent)[0] if isinstance(agent, str) else None
        if own in registry.registered:
            sent[own] = registry.registered[own]
        try:
            with without_main():
                ForkingPickler.dumps(sent.get(own, agent) if own else agent)
        except Exception as error:
            what = f"{agent!r}, which is registered here," if own else brief(agent)
            raise OptionError(
                f"agent {what} cannot be sent to another process ({in_one_line(error)}): name it "
                "by its file, as ./file.py:Agent, import it from a module, or play with workers=1"
            ) from None
    with without_main():
        return bytes(ForkingPickler.dumps((sent, plan)))


def unpack_plan(work: bytes) -> Plan:
    """Return the plan of `pack_plan`, and register its agents in this process.

    Raises `OptionError` if it cannot be unpickled here.
    """
    try:
        sent, plan = ForkingPickler.loads(work)
    except Exception as error:
        raise OptionError(f"an agent cannot be read: {in_one_line(error)}") from None
    registry.registered.update(sent)
    assert isinstance(plan, Plan)
    return plan


class Work(NamedTuple):
    """A pickled plan for another machine, and the hashes of the files of its agents."""

    plan: bytes
    files: tuple[tuple[str, str], ...]  # agents' files as the user named them, and their hashes

    @classmethod
    def of(cls, plan: Plan) -> Work:
        """Return the plan with the hashes of its agents' files; `OptionError` as `pack_plan`."""
        files = [file_of(agent) for agent in plan.members if isinstance(agent, str)]
        return cls(pack_plan(plan), tuple((file, file_hash(file)) for file in files if file))


@lru_cache(maxsize=2)
def prepare_plan(work: Work) -> Plan:
    """Return the plan on a Ray worker; the first call checks the agents' files and warms up.

    Raises `OptionError` if a file differs from the sender's.
    """
    for file, sent in work.files:
        if file_hash(file) != sent:
            raise OptionError(f"{brief(file)} is another file here: send the same to every node")
    plan = unpack_plan(work.plan)
    plan.make_agents()  # reloads files that have changed on this worker
    warm_up(plan)
    return plan


def play_whole_block(work: Work, block: range) -> Batch:
    """Play a block on a Ray worker, and return all of its boards as one batch."""
    parts: list[Batch] = []
    play_block(prepare_plan(work), block, parts.append, lambda: False)
    rows = np.zeros(sum(len(part.rows) for part in parts), BOARD)
    np.concatenate([part.rows for part in parts], out=rows)
    decisions = np.sum([part.decisions for part in parts], axis=0).tolist()
    seconds = np.sum([part.think_seconds for part in parts], axis=0).tolist()
    return Batch(rows, (decisions[0], decisions[1]), (seconds[0], seconds[1]))


def file_hash(file: str) -> str:
    """Return the hash of an agent's file; `OptionError` if the file is missing."""
    if (content := digest(file)) is None:
        raise OptionError(
            f"there is no file {brief(file)}: on Ray it lies at the same place on every node"
        )
    return content


def serve_blocks(work: bytes, pipe: Connection) -> None:
    """Play the blocks received through the pipe, in a process of its own, until it is terminated.

    It sends None to request a block, a `Batch` as boards finish, or an error, after which it ends.
    """
    leave_to_parent()
    os.dup2(2, 1)  # output of an agent is not part of the match's output
    try:
        plan = unpack_plan(work)
        warm_up(plan)
        while True:
            pipe.send(None)
            play_block(plan, pipe.recv(), pipe.send, lambda: False)
    except (Exception, SystemExit) as error:
        with suppress(OSError):  # the other end is closed: the result is no longer needed
            pipe.send(to_send(error, "in a process of its own", AgentError))
