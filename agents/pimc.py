"""Players that search: they try every candidate in worlds that may be the true one.

The cards are played by the double-dummy solver's word over the worlds; calls, strains and
exchanges by playing worlds out as the expert does. `pimc` plays its cards in worlds drawn
alike from all that the observation allows, `inference` in worlds drawn by how likely they make
what the other seats have done. For calls and exchanges both weigh worlds so: with the others'
hands at random, every bid of theirs would look like one to be set.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from bideuchre_env._jit import Array, Word, kernel, records, row_of
from bideuchre_env.agents.base import RowAgent
from bideuchre_env.agents.bidding import SCRATCH
from bideuchre_env.agents.calls import CALLS
from bideuchre_env.agents.expert import Book, open_book
from bideuchre_env.agents.layouts import LAYOUT
from bideuchre_env.agents.likelihood import TRUST, log_likelihood
from bideuchre_env.agents.outcomes import (
    add_value,
    begin,
    choice_of,
    draw_world,
    drop_hopeless,
    new_plan,
    value_world,
)
from bideuchre_env.agents.view import VIEW
from bideuchre_env.deal import split_seed
from bideuchre_env.errors import OptionError, shown
from bideuchre_env.resample import new_scratch
from bideuchre_env.rules import Rules
from bideuchre_env.solver.board import new_board
from bideuchre_env.solver.memory import new_memory
from bideuchre_env.state import PLAY, new_states

MOST_WORLDS = 10_000
AT_ONCE = 4  # worlds between two looks at the clock
WORLDS = 100  # solved for the play of a card
CONSIDERED = 5  # worlds `inference` weighs for each one that is solved
PLAYED_OUT = 400  # worlds a call, a strain or an exchange is tried in
DOUBT = 1.0  # standard errors to gain over the expert's action where it reckons no worth
STAGE = 160  # worlds played out before the hopeless candidates are dropped
CALLS_CONSIDERED = 6  # worlds weighed for each one that is played out
NEGLIGIBLE = 7.0  # the logarithm of how much less likely a world is that does not count
TRUSTED = {
    "points": 0.3, "tricks": 0.1, "chance": 0.06, "slip": 0.02, "lead": 0.4, "follow": 0.15,
    "level": -0.7, "pass_": -3.5, "strain": -2.5, "exchange": -1.5,
}  # fmt: skip
"""The numbers of `TRUST` that made the true cards likeliest, in hands that searchers played."""
MOST_SOLVED = 9  # tricks left that a world is solved with; with more to come it is played out
MEMORY = 16  # megabytes of the solver's table


class PimcAgent(RowAgent):
    """Plays what does best over `worlds` deals of the cards it cannot see.

    A call, a strain or an exchange is tried in up to `played_out` deals, as long as the choice is
    in doubt. `seed` fixes the deals: the same observation is then always answered alike, whatever
    else is asked.
    `milliseconds` ends a decision after about that time with the worlds tried until then (at least
    four), so its answers depend on the machine; without it only the number of worlds counts.
    """

    name = "pimc"
    at_once = 2  # boards of a match in lock step: few, that it can be followed and ended

    def __init__(
        self,
        rules: Rules,
        *,
        seed: int | None = None,
        worlds: int = WORLDS,
        played_out: int = PLAYED_OUT,
        milliseconds: float | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        super().__init__(rules)
        self.low, self.high = split_seed(seed)
        self.worlds = check_worlds("worlds", worlds)
        self.played_out = check_worlds("played_out", played_out)
        self.milliseconds = check_milliseconds(milliseconds)
        self.clock = clock
        self.doubt = DOUBT
        self.trust = records(TRUST, 1)
        for part, number in TRUSTED.items():
            self.trust[part] = number
        self.book = open_book(rules)
        self.plan = new_plan()
        self.plan["solved"] = MOST_SOLVED
        self.views, self.bidding = records(VIEW, 2), records(SCRATCH, 1)
        self.calls, self.layouts = records(CALLS, 1), records(LAYOUT, 1)
        self.states = (new_states(1), new_states(1), new_states(1))  # script, world, tries
        self.seen = np.zeros((1, self.layout.size), np.int8)
        self.may = np.zeros((1, self.n_actions), np.int8)
        self.scratch, self.rooms = new_scratch(), np.zeros(3, np.int64)
        self.solver = (new_board(), *new_memory(MEMORY))

    def choose(self, observations: Array, action_masks: Array) -> Array:
        """A legal action for every row; int64 (n,)."""
        choices: Array = action_masks.argmax(axis=1).astype(np.int64)
        for i in np.flatnonzero(action_masks.astype(bool).sum(axis=1) > 1):
            choices[i] = self.decide(observations, action_masks, int(i))
        return choices

    def decide(self, observations: Array, action_masks: Array, i: int) -> int:
        """The action for row i, which leaves a choice."""
        began, ends = 0.0, None
        if self.milliseconds is not None:
            began = self.clock()
            ends = began + self.milliseconds / 1000
        script, world, tries = self.states
        begin_row(
            observations, action_masks, i, self.tables, self.layout.offsets, self.book, self.views,
            self.bidding, self.calls, self.layouts, script, world, self.seen, self.may, self.plan,
            self.low,
        )  # fmt: skip
        plan = self.plan[0]
        if plan["n"] == 0:
            return int(plan["own"])
        if plan["n"] > 1:
            in_play = int(self.views[0]["phase"]) == PLAY
            wanted = self.worlds if in_play else self.played_out
            shares = self.shares(wanted, in_play, None if ends is None else (began + ends) / 2)
            numbers = np.flatnonzero(shares)
            step = STAGE if ends is None else AT_ONCE
            for first in range(0, len(numbers), step):
                add_worlds(
                    world, tries, self.tables, self.layout.offsets, self.book, self.views,
                    self.bidding, self.calls, self.layouts, self.seen, self.may, self.plan,
                    *self.solver, self.scratch, self.rooms, self.high, numbers, shares, first,
                    min(first + step, len(numbers)),
                )  # fmt: skip
                if not in_play and first + step >= STAGE and drop_row(self.plan) == 1:
                    break
                if ends is not None and self.clock() >= ends:
                    break
        return int(choice_row(self.plan, self.doubt))

    def shares(self, wanted: int, in_play: bool, ends: float | None) -> Array:
        """How often each world counts, float64 (n,); `wanted` in all."""
        if in_play or int(self.views[0]["calls_made"]) == 0:
            return np.ones(wanted)
        return self.likely(wanted, CALLS_CONSIDERED, ends)

    def likely(self, wanted: int, considered: int, ends: float | None) -> Array:
        """The same for worlds by how likely they are, `considered` times as many.

        Once the time is up (half of the decision's) only the worlds looked at until then share,
        and fewer are tried.
        """
        script, world, tries = self.states
        logs = np.empty(wanted * considered)
        step = len(logs) if ends is None else AT_ONCE * considered
        for first in range(0, len(logs), step):
            last = min(first + step, len(logs))
            weigh_row(
                world, self.tables, self.scratch, self.rooms, script, tries, self.layout.offsets,
                self.book, self.views, self.bidding, self.calls, self.layouts, self.seen,
                self.may, self.trust, self.plan, self.high, logs, first, last,
            )  # fmt: skip
            if ends is not None and self.clock() >= ends:
                logs, wanted = logs[:last], last // considered
                break
        reached = np.cumsum(np.exp(logs - logs.max()))
        return np.diff(np.floor(reached / reached[-1] * wanted + 0.5), prepend=0.0)


class InferenceAgent(PimcAgent):
    """`pimc` with worlds drawn by how likely they make the calls and cards of the other seats.

    For the play of a card, of `considered` times as many worlds those are solved that the expert,
    in the seats of the others, would rather have brought about.
    """

    name = "inference"

    def __init__(
        self,
        rules: Rules,
        *,
        seed: int | None = None,
        worlds: int = WORLDS,
        played_out: int = PLAYED_OUT,
        considered: int = CONSIDERED,
        milliseconds: float | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        super().__init__(
            rules, seed=seed, worlds=worlds, played_out=played_out, milliseconds=milliseconds,
            clock=clock,
        )  # fmt: skip
        if not _whole(considered) or not 1 <= considered <= 1000:
            raise OptionError(f"considered={shown(considered)}: a whole number from 1 to 1000")
        self.considered = considered

    def shares(self, wanted: int, in_play: bool, ends: float | None) -> Array:
        """How often each world counts, float64 (n,); `wanted` in all."""
        if not in_play:
            return super().shares(wanted, in_play, ends)
        return self.likely(wanted, self.considered, ends)


def _whole(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def check_worlds(option: str, worlds: Any) -> int:
    """A number of worlds; `OptionError` unless from 1 to 10,000."""
    if not _whole(worlds) or not 1 <= worlds <= MOST_WORLDS:
        raise OptionError(f"{option}={shown(worlds)}: a whole number from 1 to {MOST_WORLDS}")
    return int(worlds)


def check_milliseconds(milliseconds: Any) -> float | None:
    """Milliseconds a decision may take, or None; `OptionError` unless above 0, to an hour."""
    if milliseconds is None:
        return None
    number = isinstance(milliseconds, (int, float)) and not isinstance(milliseconds, bool)
    if not number or not 0 < milliseconds <= 3_600_000:
        raise OptionError(
            f"milliseconds={shown(milliseconds)}: above 0 and up to 3,600,000, or None for no limit"
        )
    return float(milliseconds)


@kernel
def begin_row(
    observations: Array,
    masks: Array,
    i: int,
    tables: Array,
    offsets: Array,
    book: Book,
    views: Array,
    bidding: Array,
    calls: Array,
    layouts: Array,
    scripts: Array,
    worlds: Array,
    seen: Array,
    may: Array,
    plans: Array,
    low: Word,
) -> None:
    """`begin` on row i; the other arguments as arrays of one row, `views` of two."""
    begin(
        row_of(observations, i), row_of(masks, i), tables[0], offsets[0], book, views,
        bidding[0], calls[0], layouts[0], scripts[0], worlds[0], row_of(seen, 0), row_of(may, 0),
        plans[0], low,
    )  # fmt: skip


@kernel
def add_worlds(
    worlds: Array,
    tries: Array,
    tables: Array,
    offsets: Array,
    book: Book,
    views: Array,
    bidding: Array,
    calls: Array,
    layouts: Array,
    seen: Array,
    may: Array,
    plans: Array,
    boards: Array,
    heads: Array,
    entries: Array,
    scratch: Array,
    rooms: Array,
    high: Word,
    numbers: Array,
    shares: Array,
    first: int,
    last: int,
) -> None:
    """Try the candidates in the worlds `numbers[first:last]`; world j counts `shares[j]`-fold."""
    for i in range(first, last):
        j = int(numbers[i])
        draw_world(worlds, tables, scratch, rooms, plans[0], j, high)
        value_world(
            worlds, tries, tables[0], offsets[0], book, views, bidding[0], calls[0], layouts[0],
            row_of(seen, 0), row_of(may, 0), plans[0], boards[0], heads, entries,
        )  # fmt: skip
        add_value(plans[0], shares[j])


@kernel
def weigh_row(
    worlds: Array,
    tables: Array,
    scratch: Array,
    rooms: Array,
    scripts: Array,
    tries: Array,
    offsets: Array,
    book: Book,
    views: Array,
    bidding: Array,
    calls: Array,
    layouts: Array,
    seen: Array,
    may: Array,
    trust: Array,
    plans: Array,
    high: Word,
    logs: Array,
    first: int,
    last: int,
) -> None:
    """Write how likely worlds `first` to `last` - 1 are, as logarithms, to `logs`, float64.

    Those before `first` are there; one far less likely than another is not looked at to the end.
    """
    most = -1e9
    for j in range(first):
        most = max(most, logs[j])
    for j in range(first, last):
        draw_world(worlds, tables, scratch, rooms, plans[0], j, high)
        logs[j] = log_likelihood(
            worlds[0], scripts[0], tries[0], tables[0], offsets[0], book, views[1], bidding[0],
            calls[0], layouts[0], row_of(seen, 0), row_of(may, 0), trust[0], most - NEGLIGIBLE,
        )  # fmt: skip
        most = max(most, logs[j])


@kernel
def drop_row(plans: Array) -> int:
    """`drop_hopeless` from the plan in row 0."""
    return drop_hopeless(plans[0])


@kernel
def choice_row(plans: Array, doubt: float) -> int:
    """`choice_of` the plan in row 0."""
    return choice_of(plans[0], doubt)
