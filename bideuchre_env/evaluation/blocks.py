"""Blocks of boards: the units of a match, each played in one process.

A block does not depend on the number of processes: the plan fixes its boards, it has its own
tables, and agents that are made here are made again for it, seeded from the match's seed and the
block's first board. A and B have the same seed, so an agent against itself plays both tables in the
same way. The result of a board therefore depends on the plan alone. It does not depend on `at_once`
either if the agents are functions of their seed and their observations.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from bideuchre_env._checks import is_whole
from bideuchre_env.agents import AgentSource, CompleteAgent
from bideuchre_env.agents.registry import freeze_files
from bideuchre_env.errors import OptionError
from bideuchre_env.evaluation.boards import BOARD
from bideuchre_env.evaluation.lockstep import LockstepRunner, Stopped
from bideuchre_env.evaluation.seeding import (
    Partners,
    Side,
    first_seed,
    members_of,
    seat_side,
)
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.jit import Array

AT_ONCE = 64
BLOCKS_OF = 4
WARM_SECONDS = 2.0


Made: TypeAlias = tuple[CompleteAgent | Partners, CompleteAgent | Partners]


@dataclass(frozen=True)
class Plan:
    """The settings that determine the results of boards; `single` means boards of one hand."""

    rules: Rules
    agents: tuple[Side, Side]
    seed: int
    single: bool
    at_once: int

    @property
    def members(self) -> list[AgentSource]:
        """The agents of both sides, partners one by one."""
        return [agent for side in self.agents for agent in members_of(side)]

    def blocks(self, boards: int) -> list[range]:
        """Split boards 0 to `boards` - 1 into blocks of four times `at_once`."""
        size = BLOCKS_OF * self.at_once
        return [range(first, min(first + size, boards)) for first in range(0, boards, size)]

    def make_agents(self, place: int = 0) -> Made:
        """Return agents A and B for the block that begins with board `place`, which seeds them."""
        a, b = (seat_side(side, self.rules, self.seed, place, self.single) for side in self.agents)
        return a, b

    def runner(self, block: range) -> LockstepRunner:
        """Return a runner of the boards of a block, with new agents."""
        with freeze_files():  # as they were when the run began
            a, b = self.make_agents(block.start)
        at_once = min(self.at_once, len(block))
        return LockstepRunner(
            self.rules, (a, b), block, first_seed(self.seed), self.single, at_once
        )


@dataclass(frozen=True)
class Batch:
    """Finished boards, rows of `BOARD`, and the work of A and B since the last batch.

    `decisions` counts the decisions of each, `think_seconds` is the processor time they took.
    """

    rows: Array
    decisions: tuple[int, int]
    think_seconds: tuple[float, float]


Report = Callable[[Batch], None]


def play_block(plan: Plan, block: range, report: Report, stopped: Stopped) -> None:
    """Play a block until all boards are finished, or `stopped()` is true.

    `report(batch)` is called with boards as they finish; the last batch has no boards, but the
    remaining decisions.
    """
    runner = plan.runner(block)
    before: list[float] = [0, 0, 0.0, 0.0]

    def send(rows: Array) -> None:
        nonlocal before
        now = [*runner.decisions, *runner.think_seconds]
        a, b, a_seconds, b_seconds = (new - old for new, old in zip(now, before, strict=True))
        before = now
        report(Batch(rows, (int(a), int(b)), (a_seconds, b_seconds)))

    runner.run(watch=send, stopped=stopped)
    send(np.zeros(0, BOARD))


def warm_up(plan: Plan) -> None:
    """Compile the kernels of a match: play one board, and drop its result.

    Play ends after 2 seconds if the board is not finished; the first step is always played.
    """
    end = time.perf_counter() + WARM_SECONDS
    plan.runner(range(1)).run(stopped=lambda: time.perf_counter() > end)


def at_once_for(agents: Made) -> int:
    """Return the number of boards to play at a time: the least `at_once` of the agents.

    A slow agent sets its attribute `at_once` to a small number, so that the first boards finish
    soon; the default is 64. Raises `OptionError` unless it is a whole number from 1.
    """
    members = [each for side in agents for each in members_of(side)]
    sizes = [(agent.name, getattr(agent, "at_once", AT_ONCE)) for agent in members]
    for name, boards in sizes:
        if not is_whole(boards) or boards < 1:
            raise OptionError(
                f"agent {name!r} has at_once={boards!r}: expected a whole number, 1 or more"
            )
    return min(boards for _, boards in sizes)
