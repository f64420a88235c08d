"""Play boards in lock step: agents act on batches of observations, kernels do the rest."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from bideuchre_env.agents import CompleteAgent
from bideuchre_env.agents.registry import in_one_line
from bideuchre_env.core.legality import legal_names
from bideuchre_env.core.observation.layout import layout_of
from bideuchre_env.core.phases.deal import split_seed
from bideuchre_env.core.rows import apply_rows, deal_rows, encode_rows
from bideuchre_env.core.state import Phase, new_states
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.errors import AgentError, BidEuchreError, IllegalActionError
from bideuchre_env.evaluation.boards import (
    BOARD,
    TABLE_TALLY,
    close_tables,
    ended_hands,
    finished_pairs,
    first_illegal,
    open_boards,
    settle_pairs,
    tally_hands,
    to_act,
)
from bideuchre_env.evaluation.recorder import Lines, TableRecorder
from bideuchre_env.evaluation.seeding import Partners
from bideuchre_env.rules import actions
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.jit import Array, new_rows


class LockstepRunner:
    """Plays the boards with the numbers `boards`, `at_once` at a time, each at two tables.

    When both tables of a board are over, its pair of slots takes the next board. Board i is dealt
    from seed `seed` + i; `single` means boards of one hand, not games. `decisions` and
    `think_seconds` are each agent's decisions and the processor time of its `act_rows` in this
    process, without its child processes.
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
    ) -> None:
        self.rules, self.agents, self.boards, self.single = rules, agents, boards, single
        self.low, self.high = split_seed(seed)
        self.tables = compile_tables(rules)
        layout = layout_of(rules)
        self.offsets = layout.offsets
        n = 2 * at_once
        self.states = new_states(n)
        self.states["phase"] = Phase.OVER
        self.tallies = new_rows(TABLE_TALLY, n)
        self.board_of = np.zeros(at_once, np.int64)
        self.opened = self.done = 0
        self.decisions = [0, 0]
        self.think_seconds = [0.0, 0.0]
        self._slots = np.zeros((2, n), np.int64)
        self._counts = np.zeros(2, np.int64)
        self._ended = np.zeros(n, np.int64)
        self._pairs = np.zeros(at_once, np.int64)
        self._rows = new_rows(BOARD, at_once)
        self._recorder = recorder
        self._observations = np.zeros((n, layout.size), np.int8)
        self._masks = np.zeros((n, actions.of(rules).n), np.int8)

    def play(self) -> Iterator[tuple[Array, list[Lines]]]:
        """Play until every board is finished; yield the newly finished ones after each step.

        They are a copy of their rows (`boards.BOARD`), and their records if there is a recorder.
        Raises `AgentError` and `IllegalActionError`, see `answer_of` and `checked`.
        """
        self._open(np.arange(len(self.board_of)))
        self._settle(0)  # compiles kernels that the first step does not reach
        while self.done < len(self.boards):
            yield self._step()

    def _open(self, pairs: Array) -> None:
        """Start the next boards, as long as there are any, in these free pairs of slots."""
        pairs = pairs[: len(self.boards) - self.opened]
        boards = self.boards.start + np.arange(self.opened, self.opened + len(pairs))
        self.board_of[pairs] = boards
        open_boards(self.states, self.tables, pairs, boards, self.low, self.high, self.single)
        self.opened += len(pairs)

    def _step(self) -> tuple[Array, list[Lines]]:
        """Play one action at every table in play; settle the hands that end, as `_settle`."""
        to_act(self.states, self._slots, self._counts)
        ended = 0
        for agent in range(2):
            slots = self._slots[agent, : self._counts[agent]]
            if len(slots):
                self._decide(agent, slots)
                ended = ended_hands(self.states, slots, self._ended, ended)
        return self._settle(ended) if ended else (self._rows[:0], [])

    def _decide(self, agent: int, slots: Array) -> None:
        n = len(slots)
        observations, masks = self._observations[:n], self._masks[:n]
        encode_rows(self.states, self.tables, self.offsets, slots, observations, masks)
        for player, rows in self._players(agent, slots):
            own = slots[rows]
            began = time.process_time()  # other work on the machine does not count
            answer = answer_of(player, observations[rows], masks[rows])
            self.think_seconds[agent] += time.process_time() - began
            self.decisions[agent] += len(own)
            choices = checked(
                player, answer, self.rules, self.states, self.tables, own, self._place
            )
            apply_rows(self.states, self.tables, own, choices)

    def _players(self, agent: int, slots: Array) -> Iterator[tuple[CompleteAgent, Any]]:
        """Yield who decides for a side, with the index of its rows of `slots`."""
        side = self.agents[agent]
        if not isinstance(side, Partners):
            yield side, slice(None)
            return
        is_second = self.states["turn"][slots] >= 2
        for player, rows in zip(side, (~is_second, is_second), strict=True):
            if rows.any():
                yield player, rows

    def _place(self, slot: int) -> str:
        return f"board {self.board_of[slot // 2]}, table {slot % 2 + 1}"

    def _settle(self, count: int) -> tuple[Array, list[Lines]]:
        """Tally the `count` hands in `_ended`, deal the next ones, and replace finished boards.

        Returns the rows and records of these boards.
        """
        ended = self._ended[:count]
        tally_hands(self.states, self.tables, ended, self.tallies)
        if self._recorder is not None:
            self._recorder.hands_ended(self.states, ended)
        if self.single:
            close_tables(self.states, ended)
        else:
            deal_rows(self.states, self.tables)
        n = finished_pairs(self.states, self.tallies, self._pairs)
        pairs, rows = self._pairs[:n], self._rows[:n]
        boards = self.board_of[pairs]
        settle_pairs(self.states, self.tallies, pairs, boards, self.single, rows)
        self.done += n
        lines = []
        if self._recorder is not None:
            lines = self._recorder.lines(self.states, pairs, boards)
        finished = rows.copy()
        self._open(pairs)
        return finished, lines


def answer_of(agent: CompleteAgent, observations: Array, masks: Array) -> Any:
    """Return the result of an agent's `act_rows`, unchecked.

    Raises `AgentError` for any error of the agent that is not a `BidEuchreError`.
    """
    try:
        return agent.act_rows(observations, masks)
    except BidEuchreError:
        raise
    except (Exception, SystemExit) as error:  # any error: agents may be user code
        raise AgentError(f"agent {agent.name!r}: {in_one_line(error)}") from error


def checked(
    agent: CompleteAgent,
    answer: Any,
    rules: Rules,
    states: Array,
    tables: Array,
    slots: Array,
    where: Callable[[int], str],
) -> Array:
    """Return an agent's answer as int64 (n,), if `answer[j]` is legal in `states[slots[j]]`.

    Otherwise raise `IllegalActionError`; `where(slot)` describes the table in its message.
    """
    choices = np.asarray(answer)
    if choices.shape != slots.shape or choices.dtype.kind not in "iu":
        raise IllegalActionError(
            f"agent {agent.name!r}: act_rows returned {choices.dtype} {choices.shape}, not whole "
            f"numbers of shape {slots.shape}"
        )
    choices = np.ascontiguousarray(choices, np.int64)
    at = first_illegal(states, tables, slots, choices)
    if at >= 0:
        row, names = states[slots[at]], actions.of(rules).names
        choice = int(choices[at])
        text = repr(names[choice]) if 0 <= choice < len(names) else "no action"
        raise IllegalActionError(
            f"agent {agent.name!r}, row {at} ({where(slots[at])}, seat {row['turn']}): "
            f"chose {choice} ({text}); legal: " + ", ".join(map(repr, legal_names(row, rules)))
        )
    return choices
