"""How a match is cut into blocks of boards, and how a block is played, in whatever process.

A block is the same for any number of processes: its boards are fixed by the plan alone, it is
played in a room of its own, and agents made by name begin it anew, seeded from the match's seed
and the block's first board. A and B have the same seed, so that an agent against itself does the
same at both tables. What a board comes to therefore depends on nothing but the plan; and where an
agent is a function of its seed and what it observes, not on `at_once` either.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bideuchre_env import duel
from bideuchre_env._jit import Array
from bideuchre_env.agents.base import Agent
from bideuchre_env.errors import OptionError, is_whole
from bideuchre_env.rules import Rules
from bideuchre_env.selfplay import first_seed, seat_agent
from bideuchre_env.table_room import Room

AT_ONCE = 64
BLOCKS_OF = 4
WARM_SECONDS = 2.0


@dataclass(frozen=True)
class Plan:
    """All that decides what the boards of a match come to; `single` hands or whole games."""

    rules: Rules
    agents: tuple[str | Agent, str | Agent]
    seed: int
    single: bool
    at_once: int

    def blocks(self, boards: int) -> list[range]:
        """Boards 0 to `boards` - 1 in blocks, each four times what is played at once."""
        size = BLOCKS_OF * self.at_once
        return [range(first, min(first + size, boards)) for first in range(0, boards, size)]

    def room(self, block: range) -> Room:
        """A room with agents for these boards."""
        a, b = (seat_agent(agent, self.rules, self.seed, block.start) for agent in self.agents)
        at_once = min(self.at_once, len(block))
        return Room(self.rules, (a, b), block, first_seed(self.seed), self.single, at_once)


@dataclass(frozen=True)
class Batch:
    """Finished boards, rows of `duel.BOARD`, and what agents A and B decided since the last."""

    rows: Array
    decided: tuple[int, int]
    thought: tuple[float, float]  # seconds


Report = Callable[[Batch], None]


def play_block(plan: Plan, block: range, report: Report, stopped: threading.Event) -> None:
    """Play these boards, telling of each as it is finished, until `stopped` is set."""
    room = plan.room(block)
    decided, thought = (0, 0), (0.0, 0.0)

    def tell(rows: Array) -> None:
        nonlocal decided, thought
        before, spent = decided, thought
        decided = (room.decided[0], room.decided[1])
        thought = (room.thought[0], room.thought[1])
        report(
            Batch(
                rows,
                (decided[0] - before[0], decided[1] - before[1]),
                (thought[0] - spent[0], thought[1] - spent[1]),
            )
        )

    room.run(watch=tell, stopped=stopped)
    tell(np.zeros(0, duel.BOARD))


def warm_up(plan: Plan) -> None:
    """Play a board that does not count, for two seconds at most: what compiles does so now."""
    room, stopped = plan.room(range(1)), threading.Event()
    end = time.perf_counter() + WARM_SECONDS

    def stop_in_time(done: int, total: int, decisions: int) -> None:
        if time.perf_counter() > end:
            stopped.set()

    room.run(stop_in_time, stopped=stopped)


def at_once_for(agents: tuple[Agent, Agent]) -> int:
    """How many boards to play at a time: what the slower agent asks for, or 64.

    An agent that takes long over a decision says so with an attribute `at_once`, a small number:
    then the first boards are finished, and safe, soon. Raises `OptionError` if it is no number.
    """
    asked = [(agent.name, getattr(agent, "at_once", AT_ONCE)) for agent in agents]
    for name, boards in asked:
        if not is_whole(boards) or boards < 1:
            raise OptionError(f"agent {name!r} has at_once={boards!r}: a whole number, 1 or more")
    return min(boards for _, boards in asked)
