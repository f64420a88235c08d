"""Players that search: they try what may be played, or called, in worlds that may be the true one.

A world is played out by the expert in all four seats until few tricks are left, and the solver
finishes it: bids are worth what play makes of them, and the solver's knowledge of all hands counts
only where little is hidden. For the play of a card `pimc` draws worlds alike from all that the
observation allows, `inference` by how likely they make the calls, the exchange and the cards of
the others. Before the play both go by the calls: with the others' hands at random, every bid of
theirs would look like one to be set.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from bideuchre_env._checks import is_integer, shown
from bideuchre_env.agents.base import RowAgent
from bideuchre_env.agents.expert.agent import Book, new_layouts, open_book
from bideuchre_env.agents.expert.auction import CALLS
from bideuchre_env.agents.expert.sampled_deals import LAYOUT
from bideuchre_env.agents.rule.bidding import SCRATCH
from bideuchre_env.agents.rule.view import VIEW
from bideuchre_env.agents.search.candidates import (
    add_value,
    begin,
    choice_of,
    draw_world,
    drop_hopeless,
    new_plan,
    value_world,
)
from bideuchre_env.agents.search.likelihood import KEPT, TRUST, UNLIKELY, log_likelihood
from bideuchre_env.core.observation.resample import new_redeal
from bideuchre_env.core.phases.deal import split_seed
from bideuchre_env.core.state import PLAY, new_states
from bideuchre_env.errors import OptionError
from bideuchre_env.rules.cards import MAX_TRICKS
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.intrinsics import row_of
from bideuchre_env.runtime.jit import Array, Word, entry_kernel, new_rows
from bideuchre_env.solver.transpositions import Searcher, new_searcher

MOST_WORLDS = 10_000
MOST_CONSIDERED = 1000
AT_ONCE = 4  # worlds tried between two looks at the clock
FEW_CONSIDERED = 6  # worlds weighed between them, for each of those
CHUNK = 1000  # worlds weighed before Ctrl-C is heard
WORLDS = 200  # that a card is tried in
PLAYED_OUT = 200  # the same for a call, a strain or an exchange
DOUBT = 1.0  # standard errors to gain over the expert's action where it reckons no worth
STAGE = 160  # worlds played out before the hopeless candidates are dropped
CALLS_CONSIDERED = 6  # worlds weighed for each one that is played out
NEGLIGIBLE = 7.0  # the logarithm of how much less likely a world is that does not count
TRUSTED = {
    "points": 0.167, "tricks": 0.0494, "chance": 0.06, "slip": 0.00305, "lead": 0.316,
    "follow": 0.0586, "level": -0.7, "pass_": -3.5, "strain": -2.5, "exchange": -3.04,
}  # fmt: skip
"""The numbers of `TRUST`, found by `experiments/fitting/fit_choice_model.py`."""
SOLVED = 3  # tricks left that the solver finishes; until then a world is played out
MEMORY = 16  # megabytes of the solver's table


class PimcAgent(RowAgent):
    """Plays what does best over `worlds` deals of the cards it cannot see.

    They are drawn from `considered` times as many, by how likely the expert in the others' seats
    would have bid and exchanged as they did; 0: all that the observation allows are alike. None is
    6 before the play and 0 in it. Each is played out by the expert until `solved` tricks are left,
    0 to 12, which the solver plays. A call, a strain or an exchange is tried in up to `played_out`
    deals, as long as the choice is in doubt. `seed` fixes the deals: the same observation is then
    always answered alike, whatever else is asked. `milliseconds` ends a decision after about that
    time with the worlds tried until then (four, if there are as many), so its answers depend on the
    machine; without it only the number of worlds counts.
    """

    name = "pimc"
    at_once = 2  # boards of a match in lock step: few, that it can be followed and ended
    considers = 0  # worlds weighed for each one that a card is tried in, if nothing else is said
    reads_cards = 0  # 1: they are weighed by the cards played too

    def __init__(
        self,
        rules: Rules,
        *,
        seed: int | None = None,
        worlds: int = WORLDS,
        played_out: int = PLAYED_OUT,
        considered: int | None = None,
        solved: int = SOLVED,
        milliseconds: float | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        super().__init__(rules)
        self.low, self.high = split_seed(seed)
        self.worlds = check_range("worlds", worlds, 1, MOST_WORLDS)
        self.played_out = check_range("played_out", played_out, 1, MOST_WORLDS)
        self.considered = (CALLS_CONSIDERED, self.considers)
        if considered is not None:
            self.considered = (check_range("considered", considered, 0, MOST_CONSIDERED),) * 2
        self.milliseconds = check_milliseconds(milliseconds)
        self.clock = clock
        self.doubt = DOUBT
        self.trust = new_rows(TRUST, 1)
        for part, number in TRUSTED.items():
            self.trust[part] = number
        self.trust["cards"] = self.reads_cards
        self.kept = new_rows(KEPT, 1)
        self.book = open_book(rules)
        self.plan = new_plan()
        self.plan["solved"] = check_range("solved", solved, 0, MAX_TRICKS)
        self.views, self.bidding = new_rows(VIEW, 2), new_rows(SCRATCH, 1)
        self.calls = new_rows(CALLS, 1)
        self.own_layouts, self.layouts = new_layouts(rules), new_rows(LAYOUT, 1)  # none: no search
        self.states = (new_states(1), new_states(1), new_states(1))  # script, world, tries
        self.seen = np.zeros((1, self.layout.size), np.int8)
        self.may = np.zeros((1, self.n_actions), np.int8)
        self.scratch = new_redeal()
        self.solver = new_searcher(MEMORY)

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
            self.bidding, self.calls, self.own_layouts, script, world, self.seen, self.may,
            self.plan, self.low,
        )  # fmt: skip
        plan = self.plan[0]
        if plan["n"] == 0:
            return int(plan["own"])
        if plan["n"] > 1:
            in_play = int(self.views[0]["phase"]) == PLAY
            wanted = self.worlds if in_play else self.played_out
            considered = self.considered[in_play]
            shares = self.likely(wanted, considered, None if ends is None else (began + ends) / 2)
            numbers = np.flatnonzero(shares)
            step = STAGE if ends is None else AT_ONCE
            for first in range(0, len(numbers), step):
                add_worlds(
                    world, tries, self.tables, self.layout.offsets, self.book, self.views,
                    self.bidding, self.calls, self.layouts, self.seen, self.may, self.plan,
                    self.solver, self.scratch, self.high, numbers, shares, first,
                    min(first + step, len(numbers)),
                )  # fmt: skip
                if not in_play and first + step >= STAGE and drop_row(self.plan) == 1:
                    break
                if ends is not None and self.clock() >= ends:
                    break
        return int(choice_row(self.plan, self.doubt))

    def likely(self, wanted: int, considered: int, ends: float | None) -> Array:
        """How often each world counts, float64 (n,), `wanted` in all; by how likely they are.

        They are of `considered` times as many, unless that is 0 or nobody has called yet. Once the
        time is up (half of the decision's) only those looked at until then share, and fewer are
        tried.
        """
        if considered == 0 or int(self.views[0]["calls_made"]) == 0:
            return np.ones(wanted)
        script, world, tries = self.states
        logs = np.empty(wanted * considered)
        step = CHUNK if ends is None else AT_ONCE * FEW_CONSIDERED
        for first in range(0, len(logs), step):
            last = min(first + step, len(logs))
            weigh_row(
                world, self.tables, self.scratch, script, tries, self.layout.offsets,
                self.book, self.views, self.bidding, self.calls, self.layouts, self.seen,
                self.may, self.trust, self.kept, self.plan, self.high, logs, first, last,
            )  # fmt: skip
            if ends is not None and self.clock() >= ends:
                logs, wanted = logs[:last], min(wanted, max(AT_ONCE, last // considered))
                break
        reached = np.cumsum(np.exp(logs - logs.max()))
        return np.diff(np.floor(reached / reached[-1] * wanted + 0.5), prepend=0.0)


class InferenceAgent(PimcAgent):
    """`pimc` with worlds drawn, in the play too, by how likely they make what the others have done.

    Calls, exchange and the cards played; of 15 times as many in the play, if `considered` is None.
    """

    name = "inference"
    considers = 15
    reads_cards = 1


def check_range(option: str, value: Any, low: int, high: int) -> int:
    """The value of an option; `OptionError` unless a whole number from `low` to `high`."""
    if not is_integer(value) or not low <= value <= high:
        raise OptionError(f"{option}={shown(value)}: a whole number from {low} to {high}")
    return int(value)


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


@entry_kernel
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


@entry_kernel
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
    searcher: Searcher,
    scratch: Array,
    high: Word,
    numbers: Array,
    shares: Array,
    first: int,
    last: int,
) -> None:
    """Try the candidates in the worlds `numbers[first:last]`; world j counts `shares[j]`-fold."""
    for i in range(first, last):
        j = numbers[i]
        draw_world(worlds, tables, scratch, plans[0], j, high)
        value_world(
            worlds, tries, tables[0], offsets[0], book, views, bidding[0], calls[0], layouts[0],
            row_of(seen, 0), row_of(may, 0), plans[0], searcher,
        )  # fmt: skip
        add_value(plans[0], shares[j])


@entry_kernel
def weigh_row(
    worlds: Array,
    tables: Array,
    scratch: Array,
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
    kept: Array,
    plans: Array,
    high: Word,
    logs: Array,
    first: int,
    last: int,
) -> None:
    """Write how likely worlds `first` to `last` - 1 are, as logarithms, to `logs`, float64.

    Those before `first` are there; one far less likely than another is not looked at to the end.
    """
    most = UNLIKELY
    if first == 0:
        kept[0].keys[:] = np.uint64(0)
    for j in range(first):
        most = max(most, logs[j])
    for j in range(first, last):
        draw_world(worlds, tables, scratch, plans[0], j, high)
        logs[j] = log_likelihood(
            worlds[0], scripts[0], tries[0], tables[0], offsets[0], book, views[1], bidding[0],
            calls[0], layouts[0], row_of(seen, 0), row_of(may, 0), trust[0], kept[0],
            most - NEGLIGIBLE,
        )  # fmt: skip
        most = max(most, logs[j])


@entry_kernel
def drop_row(plans: Array) -> int:
    """`drop_hopeless` from the plan in row 0."""
    return drop_hopeless(plans[0])


@entry_kernel
def choice_row(plans: Array, doubt: float) -> int:
    """`choice_of` the plan in row 0."""
    return choice_of(plans[0], doubt)
