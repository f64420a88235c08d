"""Play boards in lock step: kernels play the agents that they contain, and ask the others."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from bideuchre_env._checks import whole_numbers
from bideuchre_env.agents import AgentSource, CompleteAgent
from bideuchre_env.agents.registry import in_one_line, parse
from bideuchre_env.agents.rule.agent import RuleAgent
from bideuchre_env.agents.table.parts import AgentPart, KernelPart, Part, call, kinds_of, part_of
from bideuchre_env.core.phases.deal import split_seed
from bideuchre_env.core.table.answers import continue_rows, list_rows
from bideuchre_env.core.table.loop import DONE, MOVING, PAUSED, new_table
from bideuchre_env.errors import AgentError, BidEuchreError
from bideuchre_env.evaluation.boards import BOARD, close_boards, open_boards
from bideuchre_env.evaluation.recorder import Lines, TableRecorder
from bideuchre_env.evaluation.seeding import Partners, members_of
from bideuchre_env.rules.cards import N_SEATS
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.jit import Array, new_rows

BY_ROW = ("random", "cautious")
"""Agents whose choices are drawn from the streams of the rows, if they are made from a name."""


class LockstepRunner:
    """Plays the boards with the numbers `boards`, `at_once` at a time, each at two tables.

    When both tables of a board are over, its pair of rows takes the next board. Board i is dealt
    from seed `seed` + i; `single` means boards of one hand, not games. `sources` are the agents as
    the caller named them, by default `agents`. `decisions` and `think_seconds` are each agent's
    decisions and their processor time in this process, without its child processes. For an agent
    that a kernel contains, the time includes that for applying its actions and dealing.
    """

    def __init__(
        self,
        rules: Rules,
        agents: tuple[CompleteAgent | Partners, CompleteAgent | Partners],
        boards: range,
        seed: int,
        single: bool,
        at_once: int,
        recorder: TableRecorder | None = None,
        sources: tuple[Any, Any] | None = None,
    ) -> None:
        self.rules, self.boards, self.single = rules, boards, single
        self.low, self.high = split_seed(seed)
        self.table = new_table(rules, 2 * at_once, sums=True)
        self.table.setup["by_hand"] = single
        self.table.setup["pause"] = recorder is not None
        self.table.seating["stage"] = DONE
        self.board_of = np.zeros(at_once, np.int64)
        self.opened = self.done = 0
        self.decisions = [0, 0]
        self.think_seconds = [0.0, 0.0]
        self._recorder = recorder
        self._pairs, self._rows = np.zeros(at_once, np.int64), new_rows(BOARD, at_once)
        self._paused = np.zeros(2 * at_once, np.int64)
        self._seat(agents, sources or agents)

    def _seat(self, agents: tuple[Any, Any], sources: tuple[Any, Any]) -> None:
        """Number the players 0 to 3 (side + 2 x partner), and make a part for each."""
        self._parts: list[tuple[int, Part]] = []
        self._players = np.zeros((2, N_SEATS), np.int64)
        self._with_rule = any(type(m) is RuleAgent for each in agents for m in members_of(each))
        for side in range(2):
            members = members_of(agents[side])
            for partner, agent in enumerate(members):
                source = members_of(sources[side])[partner]
                self._parts.append((side, self._part(side, partner, agent, source)))
            for swapped in range(2):
                for seat in range(side ^ swapped, N_SEATS, 2):
                    partner = len(members) - 1 if seat >= 2 else 0
                    self._players[swapped, seat] = side + 2 * partner
        self._called = any(isinstance(part, AgentPart) for _, part in self._parts)
        self._outside = kinds_of(4, {})

    def _part(self, side: int, partner: int, agent: CompleteAgent, source: AgentSource) -> Part:
        number = side + 2 * partner
        by_row = isinstance(source, str) and parse(source)[0] in BY_ROW

        def ask(observations: Array, masks: Array) -> Array:
            began = time.process_time()  # other work on the machine does not count
            choices = choices_of(agent, observations, masks)
            self.think_seconds[side] += time.process_time() - began
            return choices

        def where(j: int, i: int) -> str:
            return f"agent {agent.name!r}, row {j} ({self._place(i)})"

        asking = AgentPart(self.table, self.rules, number, 4, ask, where)
        return part_of(agent, asking, by_row=by_row, with_rule=self._with_rule)

    def play(self) -> Iterator[tuple[Array, list[Lines]]]:
        """Play until every board is finished; yield the newly finished ones after each step.

        They are a copy of their rows (`boards.BOARD`), and their records if there is a recorder.
        Raises `AgentError`, see `choices_of`, and `IllegalActionError` for an illegal action.
        """
        self._open(np.arange(len(self.board_of)))
        while self.done < len(self.boards):
            yield self._step()

    def _open(self, pairs: Array) -> None:
        """Start the next boards, as long as there are any, in these free pairs of rows."""
        pairs = pairs[: len(self.boards) - self.opened]
        boards = self.boards.start + np.arange(self.opened, self.opened + len(pairs))
        self.board_of[pairs] = boards
        rest = self._players, pairs, boards, self.low, self.high, self.single
        call(open_boards, self.table, *rest)
        self._continue(np.concatenate([2 * pairs, 2 * pairs + 1]))
        self.opened += len(pairs)

    def _step(self) -> tuple[Array, list[Lines]]:
        """Play a round: each agent acts where it is its turn. Replace finished boards.

        Returns the rows and records of these boards.
        """
        for side, part in self._parts:
            began = time.process_time()
            self.decisions[side] += part.play()
            if isinstance(part, KernelPart):
                self.think_seconds[side] += time.process_time() - began
        table, lines = self.table, []
        if self._recorder is not None:
            paused = self._paused[: int(list_rows(table.seating, PAUSED, 0, self._paused))]
            self._recorder.hands_ended(table.states, paused)
            self._continue(paused)
        finished = call(close_boards, table, self.board_of, self.single, self._pairs, self._rows)
        pairs, rows = self._pairs[:finished], self._rows[:finished].copy()
        if finished:
            self.done += finished
            if self._recorder is not None:
                lines = self._recorder.lines(table.states, pairs, rows["board"])
            self._open(pairs)
        return rows, lines

    def _continue(self, index: Array) -> None:
        """Continue new rows and rows that have paused, up to the agents called from Python."""
        self.table.seating["stage"][index] = MOVING
        if self._called:  # otherwise this kernel need not be compiled
            call(continue_rows, self.table, self._outside, index)

    def _place(self, row: int) -> str:
        return f"board {self.board_of[row // 2]}, table {row % 2 + 1}"


def choices_of(agent: CompleteAgent, observations: Array, masks: Array) -> Array:
    """Return the actions of an agent's `act_rows`, int64 (m,), not checked for legality.

    Raises `IllegalActionError` unless they are m whole numbers, and `AgentError` for any error of
    the agent that is not a `BidEuchreError`.
    """
    try:
        answer = agent.act_rows(observations, masks)
    except BidEuchreError:
        raise
    except (Exception, SystemExit) as error:  # any error: agents may be user code
        raise AgentError(f"agent {agent.name!r}: {in_one_line(error)}") from error
    return whole_numbers(f"agent {agent.name!r}: act_rows", answer, len(masks))
