"""Measure this package in the same rounds as the peers."""

from __future__ import annotations

from common import VEC, Program

import bideuchre_env
from bideuchre_env.bench import tasks


def main() -> None:
    """Serve the tasks that are compared with a task of a peer."""
    program = Program()
    game = bideuchre_env.cincinnati_v0
    for name, wrapped in (("AEC raw_env()", False), ("AEC env()", True)):
        program.add(name, "", lambda wrapped=wrapped: tasks.aec(game, wrapped=wrapped))
    for name, (rows, drawn) in VEC.items():
        program.add(name, "", lambda r=rows, d=drawn: tasks.vec(game, r, sampled=d))
    for name, observe in (("rollouts", False), ("rollouts, observing", True)):
        program.add(name, "", lambda observe=observe: tasks.rollouts(game, observe=observe))
    program.serve("bideuchre_env")


if __name__ == "__main__":
    main()
