"""The result of a match, a tournament or a rollout, as JSON, text and HTML."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from bideuchre_env.evaluation import field_tables, reports, tournament_tables
from bideuchre_env.evaluation.statistics.intervals import Interval
from bideuchre_env.evaluation.statistics.scores import Scores, interval_dict
from bideuchre_env.evaluation.statistics.sequential import SequentialTest
from bideuchre_env.runtime.jit import Array


@dataclass(frozen=True)
class Result:
    """A result; `str(result)` is a report. Every kind of result has all fields.

    A match of A against B has points of A minus those of B. A tournament has its pairs in
    `matches`. A rollout has one agent, who plays all seats.

    Attributes:
        variant: its name; those of a tournament are separated by commas.
        options: the options that differ from the variant's, or all of custom rules.
        agents: the names; A and B of a match.
        seed: the seed, None for a rollout without one.
        mode: "boards" if a match has boards of one hand, else "games"; "tournament", "evaluate" or
            "crossplay" (agents, or partners, against a field); "hands" for a rollout.
        boards, games: the statistics of boards of one hand, and of pairs of whole games. Those of a
            tournament are empty. `boards` of a rollout counts hands; its points are those of side 0
            minus side 1.
        decisions, think_seconds: of each agent, the decisions and their processor time.
        seconds, decisions_per_second: of the whole run, without compilation.
        at_once: boards or tables in lock step; 0 for a tournament.
        interrupted: whether Ctrl-C ended it; a match then has only the boards finished at both
            tables, a tournament only finished matches.
        workers: the number of workers.
        records: the path of the written records, if any.
        unwritten: the reason why requested files are missing or incomplete.
        test: the sequential test of a match, if any: the last board is the one that decided it.
        board_rows, game_rows: every finished board and pair of games of a match in order, of dtype
            `boards.BOARD`.
        games_asked: the requested number of games; an odd number is rounded up.
        matches: the finished pairs of a tournament in order, each the JSON object of `to_dict` with
            its `date` and `outcomes`: per board + (won), - (lost) or = (tied).
        ratings: those of a tournament, by variant, then agent, highest first.
        written: the files written at the end of a tournament.
        origin: a sentence on the matches that were not played now, but finished in the folder.
        data: the object of `results.json` of a tournament.
    """

    variant: str
    options: dict[str, Any]
    agents: tuple[str, ...]
    seed: int | None
    mode: str
    boards: Scores
    games: Scores
    decisions: tuple[int, ...]
    think_seconds: tuple[float, ...]
    decisions_per_second: float
    seconds: float
    at_once: int
    interrupted: bool
    workers: int = 1
    records: str | None = None
    unwritten: str | None = None
    test: SequentialTest | None = None
    board_rows: Array | None = None
    game_rows: Array | None = None
    games_asked: int = 0
    matches: Sequence[dict[str, Any]] = ()
    ratings: dict[str, dict[str, Interval]] = field(default_factory=dict)
    written: Sequence[str] = ()
    origin: str = ""
    data: dict[str, Any] | None = None

    @property
    def keys(self) -> tuple[str, ...]:
        """The agents' names; the second one of a match is `name#2` if both have the same name."""
        first, *others = self.agents
        return first, *(f"{name}#2" if name == first else name for name in others)

    @property
    def scores(self) -> Scores:
        """The scores that `mode` selects: of the boards, or of the pairs of games."""
        return self.games if self.mode == "games" else self.boards

    @property
    def points_per_hand(self) -> Interval | None:
        """A's points per hand minus B's, with the interval, in `scores`; None if empty."""
        return self.scores.points_per_hand

    @property
    def win_rate(self) -> Interval | None:
        """The share of games that A won, with the interval; None without games."""
        return self.games.win_rate

    @property
    def ms_per_decision(self) -> tuple[float | None, ...]:
        """Mean processor time per decision of each agent, in milliseconds; None without decisions.

        That of child processes, such as an engine that an agent has started, is not counted.
        """
        work = zip(self.think_seconds, self.decisions, strict=True)
        return tuple(1000 * seconds / number if number else None for seconds, number in work)

    def to_dict(self) -> dict[str, Any]:
        """Return the result as a JSON object.

        `boards`, `hands`, `points_per_hand`, `contracts` and similar fields describe the boards of
        one hand if `mode` is "boards", and the pairs of games if it is "games". `pairs` describes
        the pairs of games whenever games were played. Values of A and B are under their names,
        `keys`. `unwritten` and `games_asked` are present if set. For a tournament, it is the object
        of `results.json`.
        """
        if self.data is not None:
            return self.data
        return {
            "variant": self.variant,
            "options": self.options,
            "agents": list(self.agents),
            "mode": self.mode,
            **self.scores.to_dict(self.keys),
            "games": {
                "a_won": self.games.a_won,
                "b_won": self.games.b_won,
                "drawn": self.games.drawn,
                "truncated": self.games.truncated,
            },
            "win_rate": interval_dict(self.win_rate),
            "pairs": self.games.to_dict(self.keys) if self.games.boards else None,
            "sprt": self.test.to_dict() if self.test else None,
            "decisions": self._keyed(self.decisions),
            "ms_per_decision": self._keyed(self.ms_per_decision),
            "decisions_per_second": round(self.decisions_per_second),
            "seconds": round(self.seconds, 3),
            "at_once": self.at_once,
            "workers": self.workers,
            "seed": self.seed,
            "records": self.records,
            "interrupted": self.interrupted,
            **({"unwritten": self.unwritten} if self.unwritten else {}),
            **({"games_asked": self.games_asked} if self.games_asked else {}),
        }

    def _keyed(self, pair: tuple[Any, ...]) -> dict[str, Any]:
        return dict(zip(self.keys, pair, strict=True))

    def __str__(self) -> str:
        if self.data is None:
            return reports.in_text(self)
        return str(self._tables.in_text(self.data))

    def _repr_html_(self) -> str:
        if self.data is None:
            return reports.in_html(self)
        return str(self._tables.html(self.data))

    @property
    def _tables(self) -> Any:
        return tournament_tables if self.mode == "tournament" else field_tables
