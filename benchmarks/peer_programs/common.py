"""Shared by the measuring programs. Standard library only: each runs in a peer's own environment.

A program adds its tasks and serves: it runs a slice of every task, says what it has, and then
measures every task once for each line it is sent. So programs that run side by side take turns,
and their figures are of the same minutes of the same core.
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

# Steps of many games at once, by name: how many, and whether the draw of the actions counts.
VEC = {
    f"vec, {rows:,} row{'s' * (rows > 1)}, {way}": (rows, drawn)
    for rows in (1, 64, 1_024, 4_096, 65_536)
    for way, drawn in (("actions drawn", True), ("step alone", False))
}

warnings.simplefilter("ignore")
uniform = random.Random(0).random


class Program:
    """The tasks of one program; `seconds` is what a task gets in a round."""

    def __init__(self) -> None:
        self.seconds = float(sys.argv[1])
        self.tasks: dict[str, Task] = {}
        self.like: dict[str, str] = {}
        self.skipped: dict[str, str] = {}
        self.answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
        os.dup2(2, 1)  # what a library prints is no answer

    def add(self, name: str, like: str, make: Callable[[], Task]) -> None:
        """Add a task, which `make` makes and a first slice tries; `like` is ours to compare.

        One that cannot be made or run is skipped, and the reason kept.
        """
        try:
            task = make()
            task()
        except (Exception, SystemExit) as error:  # a library's own way to say no
            reason = (str(error).strip().splitlines() or [""])[0]
            self.skipped[name] = f"{type(error).__name__}: {reason}"[:200]
            return
        self.tasks[name] = task
        self.like[name] = like

    def serve(self, *packages: str) -> None:
        """Answer until there is nothing more to read; `packages` are those measured."""
        versions = {name: metadata.version(name) for name in packages}
        self.answer({"like": self.like, "skipped": self.skipped, "packages": versions})
        for _ in sys.stdin:
            self.answer({name: self.rate(task) for name, task in self.tasks.items()})

    def answer(self, message: object) -> None:
        """Send one line of JSON."""
        self.answers.write(json.dumps(message) + "\n")
        self.answers.flush()

    def rate(self, task: Task) -> float:
        """Decisions a second, over slices that take `seconds` or a little longer."""
        done, spent = task()
        while spent < self.seconds:
            more, longer = task()
            done, spent = done + more, spent + longer
        return done / max(spent, 1e-9)


def timed(play: Callable[[], int], clock: Callable[[], float] = time.process_time) -> Task:
    """The task of a function that plays some, and says how many decisions that took.

    The usual clock is that of the processor: other work on the machine does not count.
    """

    def run() -> tuple[int, float]:
        started = clock()
        done = play()
        return done, clock() - started

    return run
