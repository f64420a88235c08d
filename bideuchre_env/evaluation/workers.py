"""Plays the blocks of a match here or in several processes; the boards are the same either way.

The processes are those of `multiprocessing`, each with a pipe. A pool (`concurrent.futures`) hands
over whole blocks only, which may take minutes, cannot end one under way, and does not know which
process has died.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from multiprocessing.reduction import ForkingPickler
from types import ModuleType
from typing import Any

from bideuchre_env._checks import shown
from bideuchre_env.agents import registry
from bideuchre_env.agents.loading import in_one_line
from bideuchre_env.agents.naming import split
from bideuchre_env.errors import AgentError, BidEuchreError, OptionError, WorkerError
from bideuchre_env.evaluation.blocks import Batch, Plan, Report, play_block, warm_up
from bideuchre_env.evaluation.lockstep import Stopped

POLL_SECONDS = 0.1


def run_blocks(
    plan: Plan, blocks: Sequence[range], workers: int, report: Report, stopped: Stopped
) -> None:
    """Play the blocks until all are done or `stopped`; `report` is called from this thread.

    Raises what an agent's bad choice raises, wherever it was played, and `WorkerError` for a
    process that ends before its time.
    """
    if workers > 1:
        with started(plan, min(workers, len(blocks))) as processes:
            share(blocks, processes, report, stopped)
        return
    for block in blocks:
        if not stopped():
            play_block(plan, block, report, stopped)


def share(
    blocks: Sequence[range],
    processes: dict[Connection, BaseProcess],
    report: Report,
    stopped: Stopped,
) -> None:
    """Give out blocks in order, as processes become free, and report what they play."""
    waiting, busy = iter(blocks), list(processes)
    while busy and not stopped():
        ready = wait(busy, POLL_SECONDS)
        for pipe in [pipe for pipe in busy if pipe in ready]:
            message = received(pipe, processes)
            if isinstance(message, Batch):
                report(message)
            elif isinstance(message, BidEuchreError):
                raise message
            elif (block := next(waiting, None)) is None:
                busy.remove(pipe)
            else:
                with suppress(OSError):  # it has ended: there is nothing more to receive
                    pipe.send(block)


def received(pipe: Connection, processes: dict[Connection, BaseProcess]) -> Any:
    """The next message of a process; `WorkerError` if it has ended."""
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
def started(plan: Plan, n: int) -> Iterator[dict[Connection, BaseProcess]]:
    """Processes that play by this plan, by the pipe to each; they are ended afterwards."""
    if multiprocessing.current_process().daemon:
        raise OptionError(f"workers={n}: a daemonic process starts no others, play with workers=1")
    spawn = multiprocessing.get_context("spawn")
    work = packed(plan)
    processes: dict[Connection, BaseProcess] = {}
    try:
        with undisturbed():
            for number in range(1, n + 1):
                pipe, end = spawn.Pipe()
                process = spawn.Process(
                    target=serve, args=(work, end), name=f"bideuchre-{number}", daemon=True
                )
                process.start()
                end.close()
                processes[pipe] = process
        yield processes
    finally:
        for worker in processes.values():
            worker.terminate()
        for pipe, worker in processes.items():
            worker.join()
            pipe.close()


@contextmanager
def undisturbed() -> Iterator[None]:
    """Processes that are started meanwhile leave the main module alone, and Ctrl-C to this one.

    A process would run the script again that started it, and a script need not expect that. Ctrl-C
    reaches every process of a terminal: it is held back here until they have all begun.
    """
    with without_main():
        if sys.platform == "win32":
            yield
            return
        from multiprocessing import resource_tracker

        resource_tracker.ensure_running()  # which lets Ctrl-C through, where it starts
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def without_main() -> Iterator[None]:
    """Hide the main module, which no other process has."""
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


def packed(plan: Plan) -> bytes:
    """A plan, and the registered agents it names, as another process reads them.

    Raises `OptionError` for an agent that cannot be sent there.
    """
    sent: dict[str, Any] = {}
    for agent in plan.agents:
        own = split(agent)[0] if isinstance(agent, str) else None
        if own in registry.registered:
            sent[own] = registry.registered[own]
        try:
            with without_main():
                ForkingPickler.dumps(sent.get(own, agent) if own else agent)
        except Exception as error:
            what = f"{agent!r}, which is registered here," if own else shown(agent)
            raise OptionError(
                f"agent {what} cannot be sent to another process ({in_one_line(error)}): name it "
                "by its file, as ./file.py:Agent, import it from a module, or play with workers=1"
            ) from None
    with without_main():
        return bytes(ForkingPickler.dumps((sent, plan)))


def unpacked(work: bytes) -> Plan:
    """The plan, in the process that plays by it."""
    try:
        sent, plan = ForkingPickler.loads(work)
    except Exception as error:
        raise OptionError(f"an agent cannot be read: {in_one_line(error)}") from None
    registry.registered.update(sent)
    found: Plan = plan
    return found


def serve(work: bytes, pipe: Connection) -> None:
    """Play the blocks that come through the pipe, and hand boards back through it as they finish.

    None asks for the next block.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it is for the process that started this one
    os.dup2(2, 1)  # what an agent prints is not part of the match's output
    try:
        try:
            plan = unpacked(work)
            warm_up(plan)
            while True:
                _send(pipe, None)
                play_block(plan, _block(pipe), partial(_send, pipe), lambda: False)
        except _Closed:
            raise
        except OptionError as error:
            _send(pipe, OptionError(f"{error} (in a process of its own)"))
        except BidEuchreError as error:
            _send(pipe, error)
        except (Exception, SystemExit) as error:
            _send(pipe, AgentError(f"in a process of its own: {in_one_line(error)}"))
    except _Closed:
        return


class _Closed(Exception):
    """The other end of the pipe is closed: there is nobody to play for."""


def _send(pipe: Connection, message: Any) -> None:
    try:
        pipe.send(message)
    except ConnectionError:
        raise _Closed from None


def _block(pipe: Connection) -> range:
    try:
        block: range = pipe.recv()
    except (EOFError, ConnectionError):
        raise _Closed from None
    return block
