"""The result of self-play or of a match: its figures, as JSON, and as a person reads it."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any

from bideuchre_env._columns import html_table
from bideuchre_env.evaluation.report import (
    contract_html,
    contract_table,
    label_width,
    part_of,
    points_of,
    row,
    share_of,
)
from bideuchre_env.evaluation.statistics.intervals import Interval
from bideuchre_env.evaluation.statistics.scores import Scores, interval_dict
from bideuchre_env.evaluation.statistics.sequential import SequentialTest
from bideuchre_env.rules.variants import RULES
from bideuchre_env.runtime.jit import Array

NOTHING = "Interrupted before both tables of a board were finished."
NOT_ALL = "Interrupted: the figures are of the boards that were finished at both tables."


@dataclass(frozen=True)
class Result:
    """The result of A against B; points are A's minus B's. `str(result)` is for reading.

    `boards` are the figures of boards of one hand, `games` those of pairs of whole games; `mode`
    is "boards" where boards of one hand were asked for, else "games". `games_asked` games were
    asked for: they are played in pairs, an odd number rounded up. A match keeps every finished
    board and pair in order: `board_rows` and `game_rows`, of dtype `boards.BOARD`; self-play keeps
    none. `test` is a match's sequential test, if there was one: the boards end with the one that
    brought its verdict. `decisions` and `think_seconds` are each agent's decisions and the seconds
    of processor time it took over them. `seconds` and `decisions_per_second` are of a whole match,
    and of self-play from its second step on, as the first one compiles. `unwritten` says why
    records that were asked for could not be written, or not all. `interrupted` results have only
    the boards finished at both tables.
    """

    variant: str
    options: dict[str, Any]
    agents: tuple[str, str]
    seed: int
    mode: str
    boards: Scores
    games: Scores
    decisions: tuple[int, int]
    think_seconds: tuple[float, float]
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

    @property
    def keys(self) -> tuple[str, str]:
        """The agents' names, the second as `name#2` where they have the same."""
        a, b = self.agents
        return a, b if a != b else f"{b}#2"

    @property
    def scores(self) -> Scores:
        """The figures of the boards, or of the pairs of games where those were all to be played."""
        return self.boards if self.mode == "boards" else self.games

    @property
    def points_per_hand(self) -> Interval | None:
        """A's points per hand minus B's in these `scores`."""
        return self.scores.points_per_hand

    @property
    def win_rate(self) -> Interval | None:
        """A's share of the games."""
        return self.games.win_rate

    @property
    def ms_per_decision(self) -> tuple[float | None, float | None]:
        """The mean processor time of a decision of A and B, in milliseconds; None without one."""
        a, b = (
            1000 * seconds / number if number else None
            for seconds, number in zip(self.think_seconds, self.decisions, strict=True)
        )
        return a, b

    def to_dict(self) -> dict[str, Any]:
        """The JSON object of the notation, and some fields more.

        `boards`, `hands`, `points_per_hand`, `contracts` and their like are of the boards of one
        hand where `mode` is "boards", and of the pairs of games where it is "games". `pairs` has
        the same of the pairs wherever games were played. What A and B have each stands under their
        names, `keys`. `unwritten` and `games_asked` are there where they are set.
        """
        return {
            "variant": self.variant,
            "options": self.options,
            "agents": list(self.agents),
            "mode": self.mode,
            **self.scores.to_dict(self.keys),
            "games": self.games.games_dict(),
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

    def _keyed(self, pair: tuple[Any, Any]) -> dict[str, Any]:
        return dict(zip(self.keys, pair, strict=True))

    def __str__(self) -> str:
        return selfplay_report(self) if self.board_rows is None else match_report(self)

    def _repr_html_(self) -> str:
        return result_html(self)


def selfplay_report(result: Result) -> str:
    """A heading, points per hand, games, contracts, speed and where the records are."""
    scores, width = result.scores, label_width(result.keys)
    heading = f"{_title(result)}\n{_size(result, result.mode)}"
    if not scores.boards:
        return f"{heading}\n\n{NOTHING}"
    lines = [heading, "", *([NOT_ALL, ""] if result.interrupted else [])]
    lines += [row("points per hand", points_of(scores.points_per_hand, result.keys[0]), width)]
    if result.mode == "games":
        lines += _games_won(result, width)
    lines += ["", contract_table(result.keys, scores.contracts, width), ""]
    rate = result.decisions_per_second
    lines += [
        row("speed", f"{rate:,.0f} decisions per second" if rate else "too short to tell", width)
    ]
    return "\n".join([*lines, row("records", result.records or "not written", width)])


def match_report(result: Result) -> str:
    """A heading, points per hand, the test, games, contracts and how long decisions took."""
    lines, width = [_title(result)], label_width(result.keys)
    if not result.boards.boards and not result.games.boards:
        return f"{lines[0]}\n\n{NOTHING}"
    if result.interrupted:
        lines += ["", NOT_ALL]
    for mode, scores in (("boards", result.boards), ("games", result.games)):
        if scores.boards:
            points = row(
                "points per hand", points_of(scores.points_per_hand, result.keys[0]), width
            )
            lines += ["", _size(result, mode)]
            if mode == "boards":
                lines += [points, *_test_and_ties(result, width)]
            else:
                lines += [*_games_won(result, width), points]
            lines += ["", contract_table(result.keys, scores.contracts, width)]
    times = [
        f"{name} {ms:.2g} ms"
        for name, ms in zip(result.keys, result.ms_per_decision, strict=True)
        if ms is not None
    ]
    return "\n".join([*lines, "", row("decision time", "   ".join(times), width)])


def result_html(result: Result) -> str:
    """The result in HTML, for notebooks: points per hand, games, contracts, as they were played."""
    (a, b), parts = result.keys, [f"<p><b>{escape(_title(result))}</b></p>"]
    if not result.boards.boards and not result.games.boards:
        return f"{parts[0]}<p>{NOTHING}</p>"
    parts += [f"<p>{NOT_ALL}</p>"] * result.interrupted
    for mode, scores in (("boards", result.boards), ("games", result.games)):
        if scores.boards:
            lines = [("", _size(result, mode))]
            lines.append(("points per hand", points_of(scores.points_per_hand, a)))
            if mode == "boards" and result.test is not None:
                lines.append(("test", str(result.test)))
            if mode == "games":
                won = f"{a} {scores.a_won:,}, {b} {scores.b_won:,}, drawn {scores.drawn:,}"
                lines.append(("games won", f"{won}, truncated {scores.truncated:,}"))
                lines.append(("", f"{a} {share_of(result.win_rate)}"))
            parts += [html_table(lines), contract_html(result.keys, scores.contracts)]
    return "".join(parts)


def _title(result: Result) -> str:
    a, b = result.keys
    changed = result.options if result.variant in RULES else {}  # of one's own: they are all there
    options = "".join(f" {name}={value!r}" for name, value in changed.items())
    return f"{a} against {b}, {result.variant}{options}, seed {result.seed}"


def _size(result: Result, mode: str) -> str:
    if mode == "games":
        scores, asked = result.games, result.games_asked
        rounded = f", {asked:,} asked for: games are played in pairs" if asked % 2 else ""
        return f"{scores.games:,} games ({scores.boards:,} pairs), {scores.hands:,} hands{rounded}"
    scores = result.boards
    return f"{scores.boards:,} boards of two tables, {scores.hands:,} hands"


def _games_won(result: Result, width: int) -> list[str]:
    games, (a, b) = result.games, result.keys
    counts = f"{a} {games.a_won:,}   {b} {games.b_won:,}   drawn {games.drawn:,}"
    return [
        row("games won", f"{counts}   truncated {games.truncated:,}", width),
        row("", f"{a} {share_of(games.win_rate)}", width),
    ]


def _test_and_ties(result: Result, width: int) -> list[str]:
    lines, boards = [], result.boards
    if result.test is not None:
        verdict, _, ratio = str(result.test).partition(" (")
        lines += [row("test", verdict, width), row("", ratio.rstrip(")"), width)]
    reduction = boards.variance_reduction
    saved = "every board tied" if reduction is None else f"divide the variance by {reduction:.2f}"
    ties = part_of(boards.ties, boards.boards)
    return [*lines, row("tied boards", ties, width), row("duplicate deals", saved, width)]
