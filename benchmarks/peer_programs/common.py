"""Protocol of the measuring programs. Standard library only: each runs in a peer's environment.

A program adds its tasks, which runs a slice of each, and serves: it sends their names, and then
measures every task once for each line that it reads. Programs therefore take turns, and their
figures come from the same minutes of the same core.
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

# Steps of many games at once, by name: rows, and whether the time of drawing actions counts.
VEC = {
    f"vec, {rows:,} row{'s' * (rows > 1)}, {way}": (rows, drawn)
    for rows in (1, 64, 1_024, 4_096, 65_536)
    for way, drawn in (("actions drawn", True), ("step alone", False))
}

warnings.simplefilter("ignore")
uniform = random.Random(0).random


class Program:
    """The tasks of one program; `seconds` is the time of a task in a round."""

    def __init__(self) -> None:
        self.seconds = float(sys.argv[1])
        self.tasks: dict[str, Task] = {}
        self.like: dict[str, str] = {}
        self.skipped: dict[str, str] = {}
        self.answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
        os.dup2(2, 1)  # keeps output of libraries out of the answers

    def add(self, name: str, like: str, make: Callable[[], Task]) -> None:
        """Add the task that `make` returns, and run a slice; `like` is our task to compare with.

        A task that cannot be created or run is skipped, and the reason is stored.
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
        """Answer until the end of the input; `packages` are the measured ones."""
        versions = {name: metadata.version(name) for name in packages}
        self.answer({"like": self.like, "skipped": self.skipped, "packages": versions})
        for _ in sys.stdin:
            self.answer({name: self.rate(task) for name, task in self.tasks.items()})

    def answer(self, message: object) -> None:
        """Send one line of JSON."""
        self.answers.write(json.dumps(message) + "\n")
        self.answers.flush()

    def rate(self, task: Task) -> float:
        """Return decisions per second, over slices of at least `seconds` in total."""
        done, spent = task()
        while spent < self.seconds:
            more, longer = task()
            done, spent = done + more, spent + longer
        return done / max(spent, 1e-9)


def timed(play: Callable[[], int], clock: Callable[[], float] = time.process_time) -> Task:
    """Return the task that times `play`, which returns its number of decisions."""

    def run() -> tuple[int, float]:
        started = clock()
        done = play()
        return done, clock() - started

    return run
