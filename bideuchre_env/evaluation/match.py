"""A match of two agents: `match(variant, a, b, boards=..., games=..., records=...)`.

Boards measure how much better A is: a board is one deal that is played twice, with the sides
swapped. The interval, the sequential test and the ratings are computed from its points per hand.
Games measure how often A wins: whole games, in pairs with the same deals. A match plays boards,
games or both.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from bideuchre_env._checks import brief, check_callback, check_flag, check_path, is_whole
from bideuchre_env._files import PathLike
from bideuchre_env.envs.registration import Variant, make
from bideuchre_env.errors import OptionError
from bideuchre_env.evaluation.blocks import Batch, Made, Plan, at_once_for, play_block, warm_up
from bideuchre_env.evaluation.boards import BOARD
from bideuchre_env.evaluation.executors import Executor, Serial, Stopped, executor_of, pack
from bideuchre_env.evaluation.recorder import Recorder, recording
from bideuchre_env.evaluation.results import Result
from bideuchre_env.evaluation.seeding import Side, check_seed, options_of
from bideuchre_env.evaluation.statistics.scores import Scores
from bideuchre_env.evaluation.statistics.sequential import UNDECIDED, Bounds, SequentialTest
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.interrupts import ctrl_c
from bideuchre_env.runtime.jit import Array, new_rows

MOST_BOARDS = 10**7

Progress = Callable[[str, int, int, int], None]


def match(
    variant: str | Variant | Rules,
    a: Side,
    b: Side,
    *,
    boards: int = 0,
    games: int = 0,
    sprt: Bounds | None = None,
    seed: int = 0,
    workers: int | Executor = 1,
    at_once: int | None = None,
    records: PathLike | None = None,
    overwrite: bool = False,
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
        games: the number of whole games; they are played in pairs, so it is rounded up to even.
            `boards`, `games` or both must be above 0.
        sprt: the bounds of a sequential test; the boards end when it has its verdict. It needs
            `boards` above 0.
        seed: the seed of all deals, and of the agents made here. Board i is dealt by an environment
            with seed `seed * 10**9 + i`, the record's seed. Deals do not depend on the agents.
        workers: the number of processes, or an open executor, such as `RayPool`; the results do
            not depend on it.
        at_once: boards in lock step; by default `blocks.at_once_for` the agents.
        records: a new file for the game records, reserved before agents are made: the two tables of
            each board in order, written as boards finish. A full disk ends the records, not the
            match; `Result.unwritten` is then the reason.
        overwrite: whether `records` may replace an existing file.
        progress: `progress(kind, done, total, decisions)` is called at the start of "boards" and of
            "games", and as they finish.

    Raises:
        OptionError: for invalid arguments.
        IllegalActionError: for an illegal action of an agent.
        AgentError: for any other error of an agent.
        WorkerError: for a process that dies.
    """
    game = variant if isinstance(variant, Variant) else make(variant)
    check_numbers(boards, games, sprt)
    check_callback("progress", progress)
    check_flag("overwrite", overwrite)
    if records is not None:
        check_path("records", records)
    check_seed(seed, max(boards, (games + 1) // 2))
    with executor_of(workers) as executor, recording(records, overwrite) as recorder:
        name = None if records is None else game.name
        draft = Plan(game.rules, (a, b), seed, boards > 0, 1, name)
        if not isinstance(executor, Serial):
            pack(draft)  # before anything is played
        agents = draft.make_agents()
        draft = replace(draft, at_once=_checked(at_once, agents))
        test = SequentialTest(sprt, spread=float(game.rules.tricks)) if sprt else None
        of_boards = _Part(draft, boards, progress, recorder, test)
        of_games = _Part(replace(draft, single=False), (games + 1) // 2, progress, recorder)
        interrupted = _play([part for part in (of_boards, of_games) if part.total], executor)
    seconds = of_boards.seconds + of_games.seconds
    decisions = (of_boards.decisions + of_games.decisions).tolist()
    return Result(
        variant=game.name,
        options=options_of(game),
        agents=(agents[0].name, agents[1].name),
        seed=seed,
        mode="boards" if boards else "games",
        boards=of_boards.scores(),
        games=of_games.scores(),
        decisions=tuple(decisions),
        think_seconds=tuple((of_boards.think_seconds + of_games.think_seconds).tolist()),
        decisions_per_second=sum(decisions) / seconds if seconds > 0 else 0.0,
        seconds=seconds,
        at_once=draft.at_once,
        interrupted=interrupted,
        workers=executor.workers,
        records=str(records) if recorder is not None and recorder.lines else None,
        unwritten=None if recorder is None else recorder.error,
        games_asked=games,
        test=test,
        board_rows=of_boards.rows(),
        game_rows=of_games.rows(),
    )


def _play(parts: list[_Part], executor: Executor) -> bool:
    """Play the parts of a match in turn until Ctrl-C; return True if interrupted."""
    try:
        parts[0].warm_up()
    except KeyboardInterrupt:  # effective while this compiles: there are no results to lose yet
        return True
    with ctrl_c() as pressed:
        for part in parts:
            if not pressed.is_set():
                part.play(executor, pressed.is_set)
    return pressed.is_set()


class _Part:
    """The boards of a match, or its pairs of games: `total` of them, collected in any order.

    The sequential `test` and the `recorder` get them in order.
    """

    def __init__(
        self,
        plan: Plan,
        total: int,
        progress: Progress | None,
        recorder: Recorder | None,
        test: SequentialTest | None = None,
    ) -> None:
        self.plan, self.total = plan, total
        self.decisions, self.think_seconds = np.zeros(2, np.int64), np.zeros(2)
        self.seconds = 0.0
        self._table = new_rows(BOARD, total)
        self._done = np.zeros(total, bool)
        self._count = self._due = 0
        """Numbers of finished boards, and of those before the first missing one."""
        self._is_warm = False
        self._progress, self._recorder, self._test = progress, recorder, test

    def play(self, executor: Executor, stopped: Stopped) -> None:
        """Play until all boards are done, the test has its verdict, or `stopped()` is true."""
        self.warm_up()
        blocks, began = self.plan.blocks(self.total), time.perf_counter()
        over: Stopped = lambda: stopped() or self._decided  # noqa: E731
        for _, batch in executor.run(play_block, self.plan, blocks, over):
            self.take(batch)
        self.seconds = time.perf_counter() - began
        if self._recorder is not None:
            self._recorder.end_part(drop=self._decided)

    def warm_up(self) -> None:
        """Report the start and compile missing kernels; only the first call has an effect."""
        if not self._is_warm:
            self._report()
            warm_up(self.plan)
            self._is_warm = True

    @property
    def _decided(self) -> bool:
        return self._test is not None and self._test.verdict != UNDECIDED

    def take(self, batch: Batch) -> None:
        """Add finished boards, and pass those that are next in order to test and recorder."""
        self.decisions += batch.decisions
        self.think_seconds += batch.think_seconds
        boards = batch.rows["board"]
        self._table[boards] = batch.rows
        self._done[boards] = True
        self._count += len(boards)
        if self._recorder is not None:
            self._recorder.add(boards, batch.lines)
        first = self._due
        while self._due < self.total and self._done[self._due]:
            self._due += 1
        if self._test is not None:
            rows = self._table[first : self._due]
            points, hands = rows["points"].sum(axis=1), rows["hands"].sum(axis=1)
            self._test.extend((points / np.maximum(hands, 1)).tolist())
            self._due = self._test.boards
        if self._recorder is not None:
            self._recorder.write(range(first, self._due))
        self._report()

    def rows(self) -> Array:
        """Return the finished boards in order, up to the one that decided the test."""
        return self._table[: self._due] if self._decided else self._table[self._done]

    def scores(self) -> Scores:
        """Return the statistics of `rows`."""
        return Scores.of_boards(self.rows(), float(self.plan.rules.tricks))

    def _report(self) -> None:
        if self._progress is not None:
            kind, per_row = ("boards", 1) if self.plan.single else ("games", 2)
            done, total = self._count * per_row, self.total * per_row
            self._progress(kind, done, total, int(self.decisions.sum()))


def check_numbers(boards: Any, games: Any, sprt: Any) -> None:
    """Raise `OptionError` unless these arguments of `match` are valid, alone and together."""
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


def _checked(at_once: Any, agents: Made) -> int:
    """Return the number of boards at once; `OptionError` unless it is valid."""
    if at_once is None:
        return at_once_for(agents)
    if not is_whole(at_once) or at_once < 1:
        raise OptionError(f"at_once={brief(at_once)}: expected a whole number of boards, 1 or more")
    return int(at_once)
