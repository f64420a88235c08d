"""Blocks of boards: the units of a match, each played by one worker.

A block does not depend on the number of processes: the plan fixes its boards, it has its own
tables, and agents that are made here are made again for it, seeded from the match's seed and the
block's first board. A and B have the same seed, so an agent against itself plays both tables in the
same way. The result of a board therefore depends on the plan alone. It does not depend on `at_once`
either if the agents are functions of their seed and their observations.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from multiprocessing.reduction import ForkingPickler
from typing import Any, TypeAlias

from bideuchre_env._checks import brief, is_whole
from bideuchre_env.agents import AgentSource, CompleteAgent, registry
from bideuchre_env.agents.inputs import digest
from bideuchre_env.agents.random_agents import CautiousAgent, RandomAgent
from bideuchre_env.agents.registry import files_of, freeze_files, in_one_line, parse
from bideuchre_env.agents.rule.agent import RuleAgent
from bideuchre_env.errors import OptionError
from bideuchre_env.evaluation.executors import pack
from bideuchre_env.evaluation.lockstep import LockstepRunner
from bideuchre_env.evaluation.recorder import Lines, TableRecorder
from bideuchre_env.evaluation.seeding import Partners, Side, first_seed, members_of, seat_side
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.jit import Array

AT_ONCE, QUICK_AT_ONCE = 256, 1024
"""Boards in lock step by default, and for agents that need less than a microsecond a decision."""
QUICK = (RandomAgent, CautiousAgent, RuleAgent)
BLOCKS_OF = 4
WARM_SECONDS = 2.0


Made: TypeAlias = tuple[CompleteAgent | Partners, CompleteAgent | Partners]


@dataclass(frozen=True)
class Plan:
    """The settings that determine the results of boards; `single` means boards of one hand.

    With `recorded`, the name of a variant, the boards are also written as records. A plan that is
    pickled contains the agents that are registered here, and the hashes of agents' files.
    """

    rules: Rules
    agents: tuple[Side, Side]
    seed: int
    single: bool
    at_once: int
    recorded: str | None = None

    @property
    def members(self) -> list[AgentSource]:
        """The agents of both sides, partners one by one."""
        return [agent for side in self.agents for agent in members_of(side)]

    def blocks(self, boards: int) -> list[range]:
        """Split boards 0 to `boards` - 1 into blocks, see `block_size`."""
        size = block_size(self.at_once)
        return [range(first, min(first + size, boards)) for first in range(0, boards, size)]

    def make_agents(self, place: int = 0) -> Made:
        """Return agents A and B for the block that begins with board `place`, which seeds them."""
        a, b = (seat_side(side, self.rules, self.seed, place, self.single) for side in self.agents)
        return a, b

    def runner(self, block: range) -> LockstepRunner:
        """Return a runner of the boards of a block, with new agents."""
        with freeze_files():  # as they were when the run began
            a, b = self.make_agents(block.start)
        at_once, seed = min(self.at_once, len(block)), first_seed(self.seed)
        recorder = None
        if self.recorded is not None:
            names = (a.name, b.name)
            recorder = TableRecorder(self.rules, self.recorded, names, seed, 2 * at_once)
        return LockstepRunner(
            self.rules, (a, b), block, seed, self.single, at_once, recorder, self.agents
        )

    def __reduce__(self) -> tuple[Any, ...]:
        names = [agent for agent in self.members if isinstance(agent, str)]
        files = [file for name in names for file in files_of(name)]
        hashes = tuple((file, file_hash(file)) for file in files)
        fields = tuple(getattr(self, name) for name in self.__dataclass_fields__)
        return unpacked, (pack((registered_agents(self.members), fields)), hashes)


def block_size(at_once: int) -> int:
    """Return the number of boards of a block: four times `at_once`, but at most 256 if possible.

    Small blocks are distributed evenly over the workers.
    """
    return max(at_once, min(BLOCKS_OF * at_once, AT_ONCE))


def registered_agents(members: list[AgentSource]) -> dict[str, Any]:
    """Return those of the agents that are registered here, by name.

    Raises `OptionError` if one of all the agents cannot be pickled.
    """
    sent: dict[str, Any] = {}
    for agent in members:
        own = parse(agent)[0] if isinstance(agent, str) else None
        if own in registry.registered:
            sent[own] = registry.registered[own]
        try:
            pack(sent.get(own, agent) if own else agent)
        except OptionError as error:
            label = f"{agent!r}, which is registered here," if own else brief(agent)
            raise OptionError(
                f"agent {label} cannot be sent to another process ({error}): name it by its file, "
                "as ./file.py:Agent, import it from a module, or play with workers=1"
            ) from None
    return sent


@lru_cache(maxsize=2)
def unpacked(packed: bytes, files: tuple[tuple[str, str], ...]) -> Plan:
    """Return a pickled plan on a worker; the first call registers its agents and warms up.

    Raises `OptionError` if one of its agents' `files` has another hash here.
    """
    for file, sent in files:
        if file_hash(file) != sent:
            raise OptionError(f"{brief(file)} is another file here: send the same to every node")
    try:
        own, fields = ForkingPickler.loads(packed)
    except Exception as error:
        raise OptionError(f"an agent cannot be read: {in_one_line(error)}") from None
    registry.registered.update(own)
    plan = Plan(*fields)
    plan.make_agents()  # reloads files that have changed on this worker
    warm_up(plan)
    return plan


def file_hash(file: str) -> str:
    """Return the hash of an agent's file; `OptionError` if the file is missing."""
    if (content := digest(file)) is None:
        raise OptionError(
            f"there is no file {brief(file)}: on Ray it lies at the same place on every node"
        )
    return content


@dataclass(frozen=True)
class Batch:
    """Finished boards, rows of `BOARD`, and the work of A and B since the last batch.

    `lines` has the records of each board, if they are wanted. `decisions` counts the decisions of A
    and B, `think_seconds` is the processor time they took.
    """

    rows: Array
    lines: list[Lines]
    decisions: tuple[int, int]
    think_seconds: tuple[float, float]


def play_block(plan: Plan, block: range) -> Iterator[Batch | None]:
    """Play the boards of a block; yield them as they finish, and None after each other step."""
    runner = plan.runner(block)
    before: list[float] = [0, 0, 0.0, 0.0]
    for rows, lines in runner.play():
        if not len(rows):
            yield None
            continue
        now = [*runner.decisions, *runner.think_seconds]
        a, b, a_seconds, b_seconds = (new - old for new, old in zip(now, before, strict=True))
        before = now
        yield Batch(rows, lines, (int(a), int(b)), (a_seconds, b_seconds))


def warm_up(plan: Plan) -> None:
    """Compile the kernels of a match: play one board, and drop its result.

    Play ends after 2 seconds if the board is not finished; the first step is always played.
    """
    end = time.perf_counter() + WARM_SECONDS
    for _ in plan.runner(range(1)).play():
        if time.perf_counter() > end:
            break


def at_once_for(agents: Made) -> int:
    """Return the number of boards to play at a time: the least `at_once` of the agents.

    A slow agent sets its attribute `at_once` to a small number, so that the first boards finish
    soon; the default is 256, or 1,024 for `QUICK` agents. Raises `OptionError` unless it is a whole
    number from 1.
    """
    sizes = []
    for agent in (each for side in agents for each in members_of(side)):
        usual = QUICK_AT_ONCE if type(agent) in QUICK else AT_ONCE
        boards = getattr(agent, "at_once", usual)
        if not is_whole(boards) or boards < 1:
            raise OptionError(
                f"agent {agent.name!r} has at_once={boards!r}: expected a whole number, 1 or more"
            )
        sizes.append(boards)
    return min(sizes)
