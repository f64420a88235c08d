"""A match: `play(variant, a, b, boards=..., games=..., sprt=..., workers=...)`.

Boards answer how much better A is: a board is one deal played twice, the sides swapped, and its
points per hand are what the interval, the sequential test and the ratings are about. Games answer
how often A wins: whole games, in pairs dealt alike. A match plays either or both. Unlike
self-play it keeps the result of every board, and no records.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from bideuchre_env import duel
from bideuchre_env._jit import Array, records
from bideuchre_env.agents.base import Agent
from bideuchre_env.errors import OptionError, is_whole
from bideuchre_env.match_crew import run_blocks
from bideuchre_env.match_rooms import Batch, Plan, at_once_for, warm_up
from bideuchre_env.registration import Variant, make
from bideuchre_env.rules import Rules
from bideuchre_env.scores import Scores, interval_dict
from bideuchre_env.selfplay import agent_keys, check_seed, options_of, seat_agent
from bideuchre_env.sequential import UNDECIDED, Bounds, SequentialTest
from bideuchre_env.team import ctrl_c

MOST_BOARDS = 10**7
MOST_WORKERS = 256

Progress = Callable[[str, int, int, int], None]


@dataclass(frozen=True)
class Match:
    """What a match found; points are A's minus B's. `str(match)` is for reading.

    `board_rows` and `game_rows` are the finished boards and pairs of games in order, of dtype
    `duel.BOARD`; `boards` and `games` their figures. `test` is the sequential test, if there was
    one: the boards end with the one that brought its verdict. `doubt` is what widens the intervals
    of points per hand, the tricks of a hand (see `Scores`). `decided` and `thought` are
    each agent's decisions and the seconds it took over them, `seconds` the whole match's.
    """

    variant: str
    options: dict[str, Any]
    agents: tuple[str, str]
    seed: int
    board_rows: Array
    game_rows: Array
    test: SequentialTest | None
    doubt: float
    decided: tuple[int, int]
    thought: tuple[float, float]
    at_once: int
    workers: int
    seconds: float
    interrupted: bool

    @property
    def keys(self) -> tuple[str, str]:
        """The agents' names, the second as `name#2` where they have the same."""
        return agent_keys(self.agents)

    @property
    def boards(self) -> Scores:
        """What the boards of one hand came to."""
        return Scores.of_boards(self.board_rows, self.doubt)

    @property
    def games(self) -> Scores:
        """What the pairs of whole games came to."""
        return Scores.of_boards(self.game_rows, self.doubt)

    @property
    def ms_per_decision(self) -> tuple[float | None, float | None]:
        """What A and B took over a decision on average, in milliseconds; None without one."""
        a, b = (
            1000 * spent / number if number else None
            for spent, number in zip(self.thought, self.decided, strict=True)
        )
        return a, b

    def to_dict(self) -> dict[str, Any]:
        """The match as JSON values; `boards` or `games` is None where none was played."""
        boards, games = self.boards, self.games
        of_boards = {**boards.to_dict(), "contracts": self._keyed(boards.contracts)}
        of_games = {
            "pairs": games.boards,
            **games.games_dict(),
            "win_rate": interval_dict(games.win_rate),
            "hands": games.hands,
            "points_per_hand": interval_dict(games.points_per_hand),
            "contracts": self._keyed(games.contracts),
        }
        return {
            "variant": self.variant,
            "options": self.options,
            "agents": list(self.agents),
            "seed": self.seed,
            "boards": of_boards if boards.boards else None,
            "games": of_games if games.boards else None,
            "sprt": self.test.to_dict() if self.test else None,
            "decisions": self._keyed(self.decided),
            "ms_per_decision": self._keyed(self.ms_per_decision),
            "at_once": self.at_once,
            "workers": self.workers,
            "seconds": round(self.seconds, 3),
            "interrupted": self.interrupted,
        }

    def _keyed(self, pair: tuple[Any, Any]) -> dict[str, Any]:
        return dict(zip(self.keys, pair, strict=True))

    def __str__(self) -> str:
        from bideuchre_env.match_report import match_report

        return match_report(self)


def play(
    variant: str | Variant | Rules,
    a: str | Agent,
    b: str | Agent,
    *,
    boards: int = 0,
    games: int = 0,
    sprt: Bounds | None = None,
    seed: int = 0,
    workers: int = 1,
    at_once: int | None = None,
    progress: Progress | None = None,
) -> Match:
    """Play partnerships of `a` against partnerships of `b`: boards first, then whole games.

    `boards` is how many boards of one hand, the dealers taking turns; with `sprt` how many at most.
    `games` is how many whole games, rounded up to pairs. Board i of seed S is dealt as in
    self-play. Agents are given by name, as `agents.make` takes it ("pimc:worlds=20"), or made.
    `workers` is how many processes play; the boards are the same for any number. More than one
    needs agents by name. `at_once` boards are played in lock step (what the agents ask for unless
    given, see `match_rooms`). `progress(unit, done, total, decisions)` is called with "boards" or
    "games" as they finish, and once at the start of each.

    Ctrl-C ends the match with the boards that are finished; a second one raises at once. Raises
    `OptionError` for unusable arguments, `IllegalActionError` for an agent's bad choice and
    `WorkerError` for a process that dies.
    """
    game = variant if isinstance(variant, Variant) else make(variant)
    _check_numbers(boards, games, sprt, workers)
    check_seed(seed, max(boards, (games + 1) // 2))
    seated = (seat_agent(a, game.rules, seed, 0), seat_agent(b, game.rules, seed, 0))
    if workers > 1 and not (isinstance(a, str) and isinstance(b, str)):
        raise OptionError(f"workers={workers}: processes make their agents by name, give names")
    if at_once is None:
        at_once = at_once_for(seated)
    if not is_whole(at_once) or at_once < 1:
        raise OptionError(f"at_once={at_once!r}: a whole number of boards, 1 or more")
    test = SequentialTest(sprt, spread=game.rules.tricks) if sprt else None
    began = time.perf_counter()
    with ctrl_c() as stopped:
        hands = _Ledger(boards, "boards", 1, progress, test)
        pairs = _Ledger((games + 1) // 2, "games", 2, progress, None)
        for ledger, single in ((hands, True), (pairs, False)):
            if ledger.total and not stopped.is_set():
                plan = Plan(game.rules, (a, b), seed, single, at_once)
                ledger.play(plan, workers, stopped)
    return Match(
        variant=game.name,
        options=options_of(game),
        agents=(seated[0].name, seated[1].name),
        seed=seed,
        board_rows=hands.rows(),
        game_rows=pairs.rows(),
        test=test,
        doubt=float(game.rules.tricks),
        decided=(hands.decided[0] + pairs.decided[0], hands.decided[1] + pairs.decided[1]),
        thought=(hands.thought[0] + pairs.thought[0], hands.thought[1] + pairs.thought[1]),
        at_once=at_once,
        workers=workers,
        seconds=time.perf_counter() - began,
        interrupted=stopped.is_set(),
    )


class _Ledger:
    """Takes finished boards in any order, shows them to the test in theirs, and counts."""

    def __init__(
        self, total: int, unit: str, per_row: int, progress: Progress | None, test: Any
    ) -> None:
        self.total, self.decided, self.thought = total, [0, 0], [0.0, 0.0]
        self._table = records(duel.BOARD, total)
        self._done = np.zeros(total, bool)
        self._count = 0
        self._test: SequentialTest | None = test
        self._unit, self._per_row, self._progress = unit, per_row, progress
        self._over = threading.Event()

    def play(self, plan: Plan, workers: int, stopped: threading.Event) -> None:
        """Play until all boards are done, the test has its verdict, or `stopped` is set."""
        self._show()
        warm_up(plan)
        either = _Either(stopped, self._over)
        run_blocks(plan, plan.blocks(self.total), workers, self.take, either)

    def take(self, batch: Batch) -> None:
        """Enter finished boards."""
        for k in range(2):
            self.decided[k] += batch.decided[k]
            self.thought[k] += batch.thought[k]
        self._table[batch.rows["board"]] = batch.rows
        self._done[batch.rows["board"]] = True
        self._count += len(batch.rows)
        if self._test is not None and len(batch.rows):
            self._ask(self._test)
        self._show()

    def _ask(self, test: SequentialTest) -> None:
        """Show the test every board before the first that is missing."""
        missing = np.flatnonzero(~self._done[test.boards :])
        end = test.boards + int(missing[0]) if len(missing) else self.total
        rows = self._table[test.boards : end]
        points, hands = rows["points"].sum(axis=1), rows["hands"].sum(axis=1)
        if test.extend((points / np.maximum(hands, 1)).tolist()) != UNDECIDED:
            self._over.set()

    def rows(self) -> Array:
        """The finished boards in order; no further than the test's verdict."""
        if self._test is not None and self._test.verdict != UNDECIDED:
            return self._table[: self._test.boards]
        return self._table[self._done]

    def _show(self) -> None:
        if self._progress is not None:
            done, total = self._count * self._per_row, self.total * self._per_row
            self._progress(self._unit, done, total, sum(self.decided))


class _Either(threading.Event):
    """Set once either of two events is."""

    def __init__(self, one: threading.Event, other: threading.Event) -> None:
        super().__init__()
        self._events = (one, other)

    def is_set(self) -> bool:
        """Whether one of them is."""
        return any(event.is_set() for event in self._events)


def _check_numbers(boards: Any, games: Any, sprt: Any, workers: Any) -> None:
    for name, number in (("boards", boards), ("games", games)):
        if not is_whole(number) or not 0 <= number <= MOST_BOARDS:
            raise OptionError(f"{name}={number!r}: a whole number from 0 to {MOST_BOARDS:,}")
    if boards == games == 0:
        raise OptionError("give boards=N (boards of one hand), games=N (whole games) or both")
    if sprt is not None and not isinstance(sprt, Bounds):
        raise OptionError(f"sprt={sprt!r}: Bounds(low, high) in points per hand")
    if sprt is not None and not boards:
        raise OptionError("sprt: the test is on boards, give boards=N, how many at most")
    if not is_whole(workers) or not 1 <= workers <= MOST_WORKERS:
        raise OptionError(f"workers={workers!r}: a whole number from 1 to {MOST_WORKERS}")
