"""The result of self-play or of a match, and its report as JSON, text and HTML."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from bideuchre_env._columns import GAP, columns, html_table
from bideuchre_env.evaluation.statistics.intervals import Interval
from bideuchre_env.evaluation.statistics.scores import Scores, interval_dict
from bideuchre_env.evaluation.statistics.sequential import SequentialTest
from bideuchre_env.rules.variants import RULES
from bideuchre_env.runtime.jit import Array

_INDENT = 2
_HEADS = ("contracts", "bid", "made", "set", "alone", "made alone")
NOTHING = "Interrupted before both tables of a board were finished."
NOT_ALL = "Interrupted: the figures are of the boards that were finished at both tables."

Lines = list[tuple[str, str]]


@dataclass(frozen=True)
class Result:
    """The result of A against B; points are A's minus B's. `str(result)` is a report.

    `options` are those that differ from the variant's, or all of custom rules. `boards` are the
    statistics of boards of one hand, `games` those of pairs of whole games; `mode` is "boards" if
    boards of one hand were requested, else "games". `games_asked` is the requested number of games;
    an odd number is rounded up, because games are played in pairs. A match has every finished board
    and pair in order: `board_rows` and `game_rows`, of dtype `boards.BOARD`; in self-play they are
    None. `test` is the sequential test of a match, if any: the last board is the one that decided
    it. `decisions` and `think_seconds` are the decisions of each agent and their processor time.
    `seconds` and `decisions_per_second` are of the whole match; in self-play they exclude the first
    step, which compiles. `records` is the path of the written records, if any. `unwritten` is the
    reason why requested records are missing or incomplete. An `interrupted` result has only the
    boards finished at both tables.
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
        """The agents' names; the second is `name#2` if both have the same name."""
        a, b = self.agents
        return a, b if a != b else f"{b}#2"

    @property
    def scores(self) -> Scores:
        """The scores that `mode` selects: of the boards, or of the pairs of games."""
        return self.boards if self.mode == "boards" else self.games

    @property
    def points_per_hand(self) -> Interval | None:
        """A's points per hand minus B's, with the interval, in `scores`; None if empty."""
        return self.scores.points_per_hand

    @property
    def win_rate(self) -> Interval | None:
        """The share of games that A won, with the interval; None without games."""
        return self.games.win_rate

    @property
    def ms_per_decision(self) -> tuple[float | None, float | None]:
        """Mean processor time per decision of A and B, in milliseconds; None without decisions.

        That of child processes, such as an engine that an agent has started, is not counted.
        """
        a, b = (
            1000 * seconds / number if number else None
            for seconds, number in zip(self.think_seconds, self.decisions, strict=True)
        )
        return a, b

    def to_dict(self) -> dict[str, Any]:
        """Return the result as a JSON object.

        `boards`, `hands`, `points_per_hand`, `contracts` and similar fields describe the boards of
        one hand if `mode` is "boards", and the pairs of games if it is "games". `pairs` describes
        the pairs of games whenever games were played. Values of A and B are under their names,
        `keys`. `unwritten` and `games_asked` are present if set.
        """
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

    def _keyed(self, pair: tuple[Any, Any]) -> dict[str, Any]:
        return dict(zip(self.keys, pair, strict=True))

    def __str__(self) -> str:
        if not self.boards.boards and not self.games.boards:
            return f"{self._title}\n\n{NOTHING}"
        names = [" " * _INDENT + name for name in self.keys]
        width = max(map(len, ("points per hand", *names))) + GAP
        parts = [self._title, *([NOT_ALL] if self.interrupted else [])]
        for size, lines, scores in self._sections():
            parts.append("\n".join([size, *(row(*line, width) for line in lines)]))
            table = [_HEADS, *contract_rows(names, scores.contracts)]
            parts.append(columns(table, "lrrrrr", first=width - GAP))
        parts.append("\n".join(row(*line, width) for line in self._speed()))
        return "\n\n".join(parts)

    def _repr_html_(self) -> str:
        parts = [f"<p><b>{escape(self._title)}</b></p>"]
        if not self.boards.boards and not self.games.boards:
            return f"{parts[0]}<p>{NOTHING}</p>"
        parts += [f"<p>{NOT_ALL}</p>"] * self.interrupted
        for size, lines, scores in self._sections():
            table = [_HEADS, *contract_rows(self.keys, scores.contracts)]
            parts += [html_table([("", size), *lines]), html_table(table, "lrrrrr")]
        return "".join(parts)

    @property
    def _title(self) -> str:
        a, b = self.keys
        changed = self.options if self.variant in RULES else {}  # custom rules list all options
        options = "".join(f" {name}={value!r}" for name, value in changed.items())
        return f"{a} against {b}, {self.variant}{options}, seed {self.seed}"

    def _sections(self) -> Iterator[tuple[str, Lines, Scores]]:
        """Yield (size, labelled lines, scores) of the boards and then of the games, if any."""
        a, b = self.keys
        boards, games = self.boards, self.games
        if boards.boards:
            size = f"{count_of(boards.boards, 'board')} of two tables, {boards.hands:,} hands"
            lines = [("points per hand", points_of(boards.points_per_hand, a))]
            if self.test is not None:
                verdict, _, ratio = str(self.test).partition(" (")
                lines += [("test", verdict), ("", ratio.rstrip(")"))]
            lines.append(("tied boards", part_of(boards.ties, boards.boards)))
            if less := boards.variance_reduction:
                saved = f"divide the variance by {less:.2f}"
                if less < 1:
                    saved = f"multiply the variance by {1 / less:.2f} here"
                lines.append(("duplicate deals", saved))
            yield size, [*lines, *self._mirrored(boards)], boards
        if games.boards:
            size = (
                f"{games.games:,} games ({count_of(games.boards, 'pair')}), {games.hands:,} hands"
            )
            if self.games_asked % 2:
                size += f", {self.games_asked:,} asked for: games are played in pairs"
            counts = f"{a} {games.a_won:,}   {b} {games.b_won:,}   drawn {games.drawn:,}"
            lines = [
                ("games won", f"{counts}   truncated {games.truncated:,}"),
                ("", f"{a} {share_of(games.win_rate)}"),
                ("points per hand", points_of(games.points_per_hand, a)),
            ]
            yield size, [*lines, *self._mirrored(games)], games

    def _mirrored(self, scores: Scores) -> Lines:
        """Return a line if an agent has met itself and all of several boards are tied."""
        a, b = self.agents
        tied = a == b and scores.ties == scores.boards > 1
        return [("", "every deal ties: the same agent plays both sides alike")] * tied

    def _speed(self) -> Lines:
        """Return the decision times of a match, or the speed and record file of self-play."""
        if self.board_rows is None:
            rate = self.decisions_per_second
            speed = f"{rate:,.0f} decisions per second" if rate else "too short to measure"
            return [("speed", speed), ("records", self.records or "not written")]
        times = zip(self.keys, self.ms_per_decision, strict=True)
        text = "   ".join(f"{name} {ms:.2g} ms" for name, ms in times if ms is not None)
        return [("decision time", text)]


# --- parts of reports -----------------------------------------------------------------------------


def row(label: str, text: str, width: int) -> str:
    """Format a line of a report: the label, padded to `width` characters, and the text."""
    return f"{label:<{width}}{text}".rstrip()


def count_of(number: int, noun: str) -> str:
    """Format a number with its noun: "1 board", "2,000 boards"."""
    return f"{number:,} {noun}{'s' * (number != 1)}"


def points_of(points: Interval | None, a: str) -> str:
    """Format points per hand with their interval; `a` is the name of agent A."""
    if points is None:
        return "no hand"
    if points.low is None or points.high is None:
        return f"{a} {points.mean:+.2f}   (no interval from a single board)"
    return f"{a} {points.mean:+.2f}   95 % interval {points.low:+.2f} to {points.high:+.2f}"


def share_of(share: Interval | None) -> str:
    """Format a share in per cent with its interval; "" without an interval."""
    if share is None or share.low is None or share.high is None:
        return ""
    low, high = 100 * share.low, 100 * share.high
    return f"{100 * share.mean:.1f} %   95 % interval {low:.1f} to {high:.1f} %"


def contract_rows(
    names: Sequence[str], contracts: Sequence[dict[str, int]]
) -> list[tuple[str, ...]]:
    """Return a row of text per agent: name, contracts, made, set, lone contracts, lone made.

    `contracts` has the counts of each agent, by `CONTRACT_WORDS`.
    """
    return [
        (
            name,
            f"{count['bid']:,}",
            part_of(count["made"], count["bid"]),
            part_of(count["set"], count["bid"]),
            f"{count['lone_bid']:,}",
            part_of(count["lone_made"], count["lone_bid"]),
        )
        for name, count in zip(names, contracts, strict=True)
    ]


def part_of(part: int, whole: int) -> str:
    """Format a count with its percentage of the whole."""
    return f"{part:,} ({100 * part / whole:.0f} %)" if whole else f"{part:,}"
