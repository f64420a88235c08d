"""A match: `play(variant, a, b, boards=..., games=..., sprt=..., workers=...)`.

Boards measure how much better A is: a board is one deal that is played twice, with the sides
swapped. The interval, the sequential test and the ratings are computed from its points per hand.
Games measure how often A wins: whole games, in pairs with the same deals. A match plays boards,
games or both. Unlike self-play, it stores the result of every board, and no records.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from bideuchre_env._checks import brief, check_callback, is_whole
from bideuchre_env.envs.registration import Variant, make
from bideuchre_env.errors import OptionError
from bideuchre_env.evaluation.blocks import Batch, Plan, at_once_for, warm_up
from bideuchre_env.evaluation.boards import BOARD
from bideuchre_env.evaluation.lockstep import Stopped
from bideuchre_env.evaluation.ray_pool import RayPool
from bideuchre_env.evaluation.results import Result
from bideuchre_env.evaluation.seeding import Side, check_seed, options_of
from bideuchre_env.evaluation.statistics.scores import Scores
from bideuchre_env.evaluation.statistics.sequential import UNDECIDED, Bounds, SequentialTest
from bideuchre_env.evaluation.workers import pack_plan, run_blocks
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.interrupts import ctrl_c
from bideuchre_env.runtime.jit import Array, new_rows

MOST_BOARDS = 10**7
MOST_WORKERS = 256

Progress = Callable[[str, int, int, int], None]


def play(
    variant: str | Variant | Rules,
    a: Side,
    b: Side,
    *,
    boards: int = 0,
    games: int = 0,
    sprt: Bounds | None = None,
    seed: int = 0,
    workers: int | RayPool = 1,
    at_once: int | None = None,
    progress: Progress | None = None,
) -> Result:
    """Play partnerships of `a` against partnerships of `b`: boards first, then whole games.

    Ctrl-C ends the match with the finished boards; a second one raises at once (the command ends
    at once and prints nothing).

    Args:
        variant: the game.
        a, b: agents, by name ("pimc:worlds=20", "./mine.py:Net"), as a class or function that makes
            one, or as a function that acts (see `agents.agent_of`). A tuple of two agents are
            partners: the first has seat 0 or 1 of a table, the second seat 2 or 3. Separate agents
            are made for the boards, with points as their goal, and for the games. An agent object
            plays both.
            With several processes, each has its own agents, so classes, functions and agents must
            be picklable.
        boards: the number of boards of one hand, the dealers taking turns; with `sprt` at most.
            Board i of a seed is dealt as in self-play.
        games: the number of whole games; they are played in pairs, so it is rounded up to even.
            `boards`, `games` or both must be above 0.
        sprt: the bounds of a sequential test; the boards end when it has its verdict. It needs
            `boards` above 0.
        seed: the seed of all deals, and of the agents made here.
        workers: the number of processes, or a `RayPool`; the results do not depend on it.
        at_once: boards in lock step; by default `blocks.at_once_for` the agents.
        progress: `progress(kind, done, total, decisions)` is called at the start of "boards" and of
            "games", and as they finish.

    Raises:
        OptionError: for invalid arguments.
        IllegalActionError: for an illegal action of an agent.
        AgentError: for any other error of an agent.
        WorkerError: for a process that dies.
    """
    game = variant if isinstance(variant, Variant) else make(variant)
    check_numbers(boards, games, sprt, workers)
    check_callback("progress", progress)
    check_seed(seed, max(boards, (games + 1) // 2))
    processors = workers.workers if isinstance(workers, RayPool) else workers
    draft = Plan(game.rules, (a, b), seed, boards > 0, 1)
    if workers != 1:
        pack_plan(draft)  # before anything is played
    tricks = float(game.rules.tricks)
    test = SequentialTest(sprt, spread=tricks) if sprt else None
    of_hands = _Collector("boards", boards, progress, test)
    of_games = _Collector("games", (games + 1) // 2, progress, None)
    began = time.perf_counter()
    agents = draft.make_agents()
    if at_once is None:
        at_once = at_once_for(agents)
    if not is_whole(at_once) or at_once < 1:
        raise OptionError(f"at_once={brief(at_once)}: expected a whole number of boards, 1 or more")
    plans = {
        collector: replace(draft, single=collector is of_hands, at_once=at_once)
        for collector in (of_hands, of_games)
        if collector.total
    }
    first = next(iter(plans))
    try:
        first.warm_up(plans[first])
    except KeyboardInterrupt:  # effective while this compiles: there are no results to lose yet
        plans = {}
    with ctrl_c() as pressed:
        for collector, plan in plans.items():
            if not pressed.is_set():
                collector.play(plan, workers, pressed.is_set)
    seconds = time.perf_counter() - began
    hand_rows, game_rows = of_hands.rows(), of_games.rows()
    decisions = of_hands.decisions + of_games.decisions
    think_seconds = of_hands.think_seconds + of_games.think_seconds
    return Result(
        variant=game.name,
        options=options_of(game),
        agents=(agents[0].name, agents[1].name),
        seed=seed,
        mode="boards" if boards else "games",
        boards=Scores.of_boards(hand_rows, tricks),
        games=Scores.of_boards(game_rows, tricks),
        decisions=tuple(decisions.tolist()),
        think_seconds=tuple(think_seconds.tolist()),
        decisions_per_second=float(decisions.sum() / seconds),
        seconds=seconds,
        at_once=at_once,
        interrupted=pressed.is_set() or not plans,
        workers=processors,
        games_asked=games,
        test=test,
        board_rows=hand_rows,
        game_rows=game_rows,
    )


class _Collector:
    """Collects finished boards in any order, and passes them to the sequential test in order.

    `kind` is "boards" or "games"; `total` is the number of boards, or of pairs of games.
    """

    def __init__(
        self, kind: str, total: int, progress: Progress | None, test: SequentialTest | None
    ) -> None:
        self.total = total
        self.decisions, self.think_seconds = np.zeros(2, np.int64), np.zeros(2)
        self._table = new_rows(BOARD, total)
        self._done = np.zeros(total, bool)
        self._count, self._warm = 0, False
        self._test = test
        self._kind, self._progress = kind, progress

    def play(self, plan: Plan, workers: int | RayPool, stopped: Stopped) -> None:
        """Play until all boards are done, the test has its verdict, or `stopped()` is true."""
        self.warm_up(plan)
        blocks = plan.blocks(self.total)
        run_blocks(plan, blocks, workers, self.take, lambda: stopped() or self._decided)

    def warm_up(self, plan: Plan) -> None:
        """Report the start and compile missing kernels; only the first call has an effect."""
        if not self._warm:
            self._report()
            warm_up(plan)
            self._warm = True

    @property
    def _decided(self) -> bool:
        return self._test is not None and self._test.verdict != UNDECIDED

    def take(self, batch: Batch) -> None:
        """Add finished boards, and pass those that are next in order to the test."""
        self.decisions += batch.decisions
        self.think_seconds += batch.think_seconds
        self._table[batch.rows["board"]] = batch.rows
        self._done[batch.rows["board"]] = True
        self._count += len(batch.rows)
        if (test := self._test) is not None and len(batch.rows):
            missing = np.flatnonzero(~self._done[test.boards :])
            end = test.boards + int(missing[0]) if len(missing) else self.total
            rows = self._table[test.boards : end]  # every board before the first missing one
            points, hands = rows["points"].sum(axis=1), rows["hands"].sum(axis=1)
            test.extend((points / np.maximum(hands, 1)).tolist())
        self._report()

    def rows(self) -> Array:
        """Return the finished boards in order, up to the one that decided the test."""
        if self._test is not None and self._decided:
            return self._table[: self._test.boards]
        return self._table[self._done]

    def _report(self) -> None:
        if self._progress is not None:
            per_row = 2 if self._kind == "games" else 1
            done, total = self._count * per_row, self.total * per_row
            self._progress(self._kind, done, total, int(self.decisions.sum()))


def check_numbers(boards: Any, games: Any, sprt: Any, workers: Any) -> None:
    """Raise `OptionError` unless these arguments of `play` are valid, alone and together."""
    for name, number in (("boards", boards), ("games", games)):
        if not is_whole(number) or not 0 <= number <= MOST_BOARDS:
            raise OptionError(
                f"{name}={brief(number)}: expected a whole number from 0 to {MOST_BOARDS:,}"
            )
    if boards == games == 0:
        raise OptionError("expected boards=N (boards of one hand), games=N (whole games) or both")
    if sprt is not None and not isinstance(sprt, Bounds):
        raise OptionError(f"sprt={brief(sprt)}: expected Bounds(low, high) in points per hand")
    if sprt is not None and not boards:
        raise OptionError(f"sprt={brief(sprt)}: expected boards=N, the maximum number of boards")
    if isinstance(workers, RayPool):
        return
    if not is_whole(workers) or not 1 <= workers <= MOST_WORKERS:
        raise OptionError(
            f"workers={brief(workers)}: expected a whole number from 1 to {MOST_WORKERS}"
        )
