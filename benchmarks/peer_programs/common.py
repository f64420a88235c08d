"""Protocol of the measuring programs. Standard library only: each runs in a peer's environment.

A program adds its tasks, and then serves `peers.py` over stdin and stdout, with JSON lines. It
first sends its tasks, the skipped tasks and the versions of packages. Then, for each line that it
reads, it measures every task once and sends the rates. So programs take turns, and their figures
come from the same minutes of the same core.
"""

from __future__ import annotations

import json
import os
import random
import sys
import time
import warnings
from collections.abc import Callable
from importlib import metadata

Task = Callable[[], tuple[int, float]]
"""Plays a slice of decisions; returns their number and the time in seconds."""

# Steps of many games at once, by name: rows, and whether the time of drawing actions counts.
VEC = {
    f"vec, {rows:,} row{'s' * (rows > 1)}, {way}": (rows, drawn)
    for rows in (1, 64, 1_024, 4_096, 65_536)
    for way, drawn in (("actions drawn", True), ("step alone", False))
}

warnings.simplefilter("ignore")
uniform = random.Random(0).random


class Program:
    """The tasks of one measuring program, by name, and its answers to `peers.py`.

    The first argument of the command line, `seconds`, is the least time of a task in a round. The
    constructor redirects stdout to stderr, so that libraries cannot print into the answers.
    """

    def __init__(self) -> None:
        self.seconds = float(sys.argv[1])
        self.tasks: dict[str, Task] = {}
        self.like: dict[str, str] = {}
        self.skipped: dict[str, str] = {}
        self.answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
        os.dup2(2, 1)

    def add(self, name: str, like: str, make: Callable[[], Task]) -> None:
        """Add the task that `make` returns, and run it once, which may compile.

        `like` is the name of this package's task to compare with. A task that cannot be created or
        run is skipped, and the reason is stored.
        """
        try:
            task = make()
            task()
        except (Exception, SystemExit) as error:  # some libraries exit
            reason = (str(error).strip().splitlines() or [""])[0]
            self.skipped[name] = f"{type(error).__name__}: {reason}"[:200]
            return
        self.tasks[name] = task
        self.like[name] = like

    def serve(self, *packages: str) -> None:
        """Send the tasks and the versions of `packages`; then, for each input line, the rates."""
        versions = {name: metadata.version(name) for name in packages}
        self.answer({"like": self.like, "skipped": self.skipped, "packages": versions})
        for _ in sys.stdin:
            self.answer({name: self.rate(task) for name, task in self.tasks.items()})

    def answer(self, message: object) -> None:
        """Send a message as one line of JSON."""
        self.answers.write(json.dumps(message) + "\n")
        self.answers.flush()

    def rate(self, task: Task) -> float:
        """Return decisions per second; the task is repeated until it has taken `seconds`."""
        done, spent = task()
        while spent < self.seconds:
            more, longer = task()
            done, spent = done + more, spent + longer
        return done / max(spent, 1e-9)


def timed(play: Callable[[], int], clock: Callable[[], float] = time.process_time) -> Task:
    """Return a task that calls `play`, which returns its number of decisions, and times it."""

    def run() -> tuple[int, float]:
        started = clock()
        done = play()
        return done, clock() - started

    return run
