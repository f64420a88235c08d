"""Plays the blocks of a match here or in several processes; the boards are the same either way."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from bideuchre_env import errors
from bideuchre_env.errors import BidEuchreError, OptionError, WorkerError
from bideuchre_env.match_rooms import Plan, Report, play_block
from bideuchre_env.match_worker import plan_line, read_batch

POLL_SECONDS = 0.1
START = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from bideuchre_env.match_worker import main; sys.exit(main())"
)


def run_blocks(
    plan: Plan, blocks: Sequence[range], workers: int, report: Report, stopped: threading.Event
) -> None:
    """Play the blocks until all are done or `stopped` is set; `report` is called from this thread.

    Raises what an agent's bad choice raises, wherever it was played, and `WorkerError` for a
    process that ends before its time.
    """
    if workers == 1:
        for block in blocks:
            if stopped.is_set():
                return
            play_block(plan, block, report, stopped)
        return
    crew = Crew(plan, min(workers, len(blocks)))
    try:
        crew.run(list(blocks), report, stopped)
    finally:
        crew.close()


class Crew:
    """Processes that each play one block after another, and hand boards over as they finish."""

    def __init__(self, plan: Plan, workers: int) -> None:
        self._told: queue.Queue[tuple[int, dict[str, Any] | None]] = queue.Queue()
        # found where this process found them, whatever the working folder holds
        paths = json.dumps([*sys.path, str(Path(__file__).resolve().parent.parent)])
        self._processes = [
            subprocess.Popen(
                [sys.executable, "-c", START, paths],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                encoding="utf-8",
                start_new_session=os.name == "posix",  # Ctrl-C reaches this process alone
            )
            for _ in range(workers)
        ]
        for worker in range(workers):
            self._tell(worker, plan_line(plan))
            threading.Thread(target=self._listen, args=(worker,), daemon=True).start()

    def run(self, blocks: list[range], report: Report, stopped: threading.Event) -> None:
        """Give out blocks in order, as processes become free."""
        blocks.reverse()
        at_work = set(range(len(self._processes)))
        while at_work and not stopped.is_set():
            try:
                worker, told = self._told.get(timeout=POLL_SECONDS)
            except queue.Empty:
                continue
            if told is None:
                raise WorkerError(
                    f"process {worker + 1} of {len(self._processes)} ended with code "
                    f"{self._processes[worker].wait()} before its boards were played"
                )
            if "error" in told:
                raise _as_raised(told)
            if "rows" in told:
                report(read_batch(told))
            elif blocks:
                block = blocks.pop()
                self._tell(worker, f"[{block.start}, {block.stop}]\n")
            else:
                at_work.discard(worker)

    def close(self) -> None:
        """End every process; nothing that was handed over is lost."""
        for process in self._processes:
            process.terminate()
        for process in self._processes:
            process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    with suppress(BrokenPipeError, ValueError):  # unsent words, or its reader's
                        pipe.close()

    def _tell(self, worker: int, line: str) -> None:
        pipe = self._processes[worker].stdin
        assert pipe is not None
        with suppress(BrokenPipeError):  # its end is on the way from `_listen`
            pipe.write(line)
            pipe.flush()

    def _listen(self, worker: int) -> None:
        """Pass on what a process says, and None at its end."""
        pipe = self._processes[worker].stdout
        assert pipe is not None
        with suppress(ValueError):  # half a line, or a pipe that was closed: the end either way
            for line in pipe:
                self._told.put((worker, json.loads(line)))
        self._told.put((worker, None))


def _as_raised(told: dict[str, Any]) -> BidEuchreError:
    """The error a process met, as the class it was."""
    kind = getattr(errors, told["error"], BidEuchreError)
    note = " (in a process of its own, which knows the package's agents only)"
    raised: BidEuchreError = kind(told["text"] + (note if kind is OptionError else ""))
    return raised
