"""A room of tables in lock step: agents decide on rows of observations, kernels do the rest."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, Protocol

import numpy as np

from bideuchre_env import actions, duel
from bideuchre_env._jit import Array, records
from bideuchre_env.agents.base import Agent
from bideuchre_env.batch import apply_rows, deal_rows, encode_rows
from bideuchre_env.deal import split_seed
from bideuchre_env.errors import IllegalActionError
from bideuchre_env.observation import layout_of
from bideuchre_env.record import legal_names
from bideuchre_env.rules import Rules
from bideuchre_env.state import Phase, new_states
from bideuchre_env.tables import compile_tables
from bideuchre_env.team import ctrl_c


class Book(Protocol):
    """Who keeps the records of a room."""

    def hands_ended(self, states: Array, slots: Array) -> None:
        """A hand has ended in each of these slots."""
        ...

    def pairs_finished(self, states: Array, pairs: Array, boards: Array) -> None:
        """Both tables of these boards, in these pairs of slots, are over."""
        ...


Watch = Callable[[Array], None]


class Room:
    """Plays the boards of a range, `at_once` of them at a time, each at two tables.

    A pair of slots whose tables are both over takes the next board. `totals` (of `duel.TOTALS`)
    holds what the finished boards came to; `decided` and `thought` are each agent's decisions and
    its seconds within `act_rows`. `seconds` and `rate` (decisions a second) are measured from the
    second step on, as the first one compiles.
    """

    def __init__(
        self,
        rules: Rules,
        agents: tuple[Agent, Agent],
        boards: range,
        seed: int,
        single: bool,
        at_once: int,
    ) -> None:
        self.rules, self.agents, self.boards, self.single = rules, agents, boards, single
        self.seed = seed
        self.low, self.high = split_seed(seed)
        self.tables = compile_tables(rules)
        layout = layout_of(rules)
        self.offsets = layout.offsets
        n = 2 * at_once
        self.states = new_states(n)
        self.states["phase"] = Phase.OVER
        self.tallies = records(duel.TALLY, n)
        self.totals = records(duel.TOTALS, 1)
        self.board_of = np.zeros(at_once, np.int64)
        self.opened = 0
        self.decided = [0, 0]
        self.thought = [0.0, 0.0]
        self.seconds = 0.0
        self.rate = 0.0
        self._slots = np.zeros((2, n), np.int64)
        self._counts = np.zeros(2, np.int64)
        self._ended = np.zeros(n, np.int64)
        self._pairs = np.zeros(at_once, np.int64)
        self._rows = records(duel.BOARD, at_once)
        self._watch: Watch | None = None
        self._observations = np.zeros((n, layout.size), np.int8)
        self._masks = np.zeros((n, actions.of(rules).n), np.int8)

    @property
    def done(self) -> int:
        """Boards finished at both tables."""
        return int(self.totals[0]["units"])

    @property
    def decisions(self) -> int:
        """What both agents have decided."""
        return sum(self.decided)

    def run(
        self,
        progress: Callable[[int, int, int], None] | None = None,
        book: Book | None = None,
        watch: Watch | None = None,
        stopped: threading.Event | None = None,
    ) -> bool:
        """Play until every board is finished, or Ctrl-C; True when it was interrupted.

        `watch` is shown the finished boards, rows of `duel.BOARD` that are its own, as they come.
        Who minds Ctrl-C itself (`ctrl_c`) gives `stopped`: once it is set, no step is begun.
        """
        self._watch = watch
        if progress is not None:
            progress(0, len(self.boards), 0)
        self._open(np.arange(len(self.board_of)))
        self._settle(book, 0)  # compiles what the first step would not reach
        self._step(book)
        started, first = time.perf_counter(), self.decisions
        with ctrl_c() if stopped is None else nullcontext(stopped) as stop:
            while self.done < len(self.boards) and not stop.is_set():
                self._step(book)
                if progress is not None:
                    progress(self.done, len(self.boards), self.decisions - first)
        self.seconds = time.perf_counter() - started
        self.rate = (self.decisions - first) / self.seconds if self.seconds > 0 else 0.0
        return self.done < len(self.boards)

    def _open(self, pairs: Array) -> None:
        """Seat the next boards at free pairs of slots, as far as there are any."""
        pairs = pairs[: len(self.boards) - self.opened]
        boards = self.boards.start + np.arange(self.opened, self.opened + len(pairs))
        self.board_of[pairs] = boards
        duel.open_boards(self.states, self.tables, pairs, boards, self.low, self.high, self.single)
        self.opened += len(pairs)

    def _step(self, book: Book | None) -> None:
        """One decision at every table in play."""
        duel.to_act(self.states, self._slots, self._counts)
        ended = 0
        for agent in range(2):
            slots = self._slots[agent, : self._counts[agent]]
            if len(slots):
                self._decide(agent, slots)
                ended = duel.ended_hands(self.states, slots, self._ended, ended)
        if ended:
            self._settle(book, ended)

    def _decide(self, agent: int, slots: Array) -> None:
        n = len(slots)
        observations, masks = self._observations[:n], self._masks[:n]
        encode_rows(self.states, self.tables, self.offsets, slots, observations, masks)
        began = time.perf_counter()
        given = self.agents[agent].act_rows(observations, masks)
        self.thought[agent] += time.perf_counter() - began
        self.decided[agent] += n
        choices = self._checked(agent, slots, given)
        apply_rows(self.states, self.tables, slots, choices)

    def _checked(self, agent: int, slots: Array, given: Any) -> Array:
        """The choices as int64 (n,); `IllegalActionError` if one is not legal where it was made."""
        choices = np.asarray(given)
        name = self.agents[agent].name
        if choices.shape != slots.shape or choices.dtype.kind not in "iu":
            raise IllegalActionError(
                f"agent {name!r}: act_rows returned {choices.dtype} {choices.shape}, and whole "
                f"numbers of shape {slots.shape} are wanted"
            )
        choices = np.ascontiguousarray(choices, np.int64)
        at = duel.first_illegal(self.states, self.tables, slots, choices)
        if at >= 0:
            row, names = self.states[slots[at]], actions.of(self.rules).names
            choice = int(choices[at])
            shown = repr(names[choice]) if 0 <= choice < len(names) else "no action"
            raise IllegalActionError(
                f"agent {name!r}, row {at} (board {self.board_of[slots[at] // 2]}, table "
                f"{slots[at] % 2 + 1}, seat {row['turn']}): chose {choice} ({shown}); legal: "
                + ", ".join(map(repr, legal_names(row, self.rules)))
            )
        return choices

    def _settle(self, book: Book | None, count: int) -> None:
        """Count the hands that have ended, deal the next ones, close and open boards."""
        ended = self._ended[:count]
        duel.tally_hands(self.states, self.tables, ended, self.tallies)
        if book is not None:
            book.hands_ended(self.states, ended)
        if self.single:
            duel.close_tables(self.states, ended)
        else:
            deal_rows(self.states, self.tables)
        found = duel.finished_pairs(self.states, self.tallies, self._pairs)
        pairs, rows = self._pairs[:found], self._rows[:found]
        boards = self.board_of[pairs]
        duel.settle_pairs(self.states, self.tallies, pairs, boards, self.single, rows)
        duel.add_boards(rows, self.totals)
        if book is not None:
            book.pairs_finished(self.states, pairs, boards)
        if self._watch is not None and found:
            self._watch(rows.copy())
        self._open(pairs)
