"""The report of a match or rollout as text and HTML. `result` is always its `Result`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import Any

from bideuchre_env._columns import GAP, columns, html_table
from bideuchre_env.evaluation.statistics.intervals import Interval
from bideuchre_env.evaluation.statistics.scores import Scores
from bideuchre_env.rules.variants import RULES

_INDENT = 2
_HEADS = ("contracts", "bid", "made", "set", "alone", "made alone")
NOTHING = "Interrupted before both tables of a board were finished."
NOT_ALL = "Interrupted: the figures are of the boards that were finished at both tables."

Lines = list[tuple[str, str]]


def in_text(result: Any) -> str:
    """Format the report as text."""
    if not result.boards.hands and not result.games.hands:
        return f"{_title(result)}\n\n{NOTHING}"
    names = [" " * _INDENT + name for name in result.keys]
    width = max(map(len, ("points per hand", *names))) + GAP
    parts = [_title(result), *([NOT_ALL] if result.interrupted else [])]
    for size, lines, scores in _sections(result):
        parts.append("\n".join([size, *(row(*line, width) for line in lines)]))
        table = [_HEADS, *contract_rows(names, scores.contracts)]
        parts.append(columns(table, "lrrrrr", first=width - GAP))
    parts.append("\n".join(row(*line, width) for line in _speed(result)))
    return "\n\n".join(parts)


def in_html(result: Any) -> str:
    """Format the report in HTML, for notebooks."""
    parts = [f"<p><b>{escape(_title(result))}</b></p>"]
    if not result.boards.hands and not result.games.hands:
        return f"{parts[0]}<p>{NOTHING}</p>"
    parts += [f"<p>{NOT_ALL}</p>"] * result.interrupted
    for size, lines, scores in _sections(result):
        table = [_HEADS, *contract_rows(result.keys, scores.contracts)]
        parts += [html_table([("", size), *lines]), html_table(table, "lrrrrr")]
    return "".join(parts)


def _title(result: Any) -> str:
    players = " against ".join(result.keys)
    if result.mode == "hands":
        players += " in every seat"
    changed = result.options if result.variant in RULES else {}  # custom rules list all options
    options = "".join(f" {name}={value!r}" for name, value in changed.items())
    return f"{players}, {result.variant}{options}, seed {result.seed}"


def _sections(result: Any) -> Iterator[tuple[str, Lines, Scores]]:
    """Yield (size, labelled lines, scores) of the boards and then of the games, if any."""
    a, b = result.keys[0], result.keys[-1]
    boards, games = result.boards, result.games
    if result.mode == "hands":
        yield f"{boards.hands:,} hands", [], boards
    if boards.boards:
        size = f"{count_of(boards.boards, 'board')} of two tables, {boards.hands:,} hands"
        lines = [("points per hand", points_of(boards.points_per_hand, a))]
        if result.test is not None:
            verdict, _, ratio = str(result.test).partition(" (")
            lines += [("test", verdict), ("", ratio.rstrip(")"))]
        lines.append(("tied boards", part_of(boards.ties, boards.boards)))
        if less := boards.variance_reduction:
            saved = f"divide the variance by {less:.2f}"
            if less < 1:
                saved = f"multiply the variance by {1 / less:.2f} here"
            lines.append(("duplicate deals", saved))
        yield size, [*lines, *_mirrored(result, boards)], boards
    if games.boards:
        size = f"{games.games:,} games ({count_of(games.boards, 'pair')}), {games.hands:,} hands"
        if result.games_asked % 2:
            size += f", {result.games_asked:,} asked for: games are played in pairs"
        counts = f"{a} {games.a_won:,}   {b} {games.b_won:,}   drawn {games.drawn:,}"
        lines = [
            ("games won", f"{counts}   truncated {games.truncated:,}"),
            ("", f"{a} {share_of(games.win_rate)}"),
            ("points per hand", points_of(games.points_per_hand, a)),
        ]
        yield size, [*lines, *_mirrored(result, games)], games


def _mirrored(result: Any, scores: Scores) -> Lines:
    """Return a line if an agent has met itself and all of several boards are tied."""
    a, b = result.agents
    tied = a == b and scores.ties == scores.boards > 1
    return [("", "every deal ties: both sides are the same agent")] * tied


def _speed(result: Any) -> Lines:
    """Return the decision times, or for a match with records the speed and the file."""
    rate = result.decisions_per_second
    speed = ("speed", f"{rate:,.0f} decisions per second" if rate else "too short to measure")
    if result.mode == "hands":
        return [speed]
    if result.records or result.unwritten:
        return [speed, ("records", result.records or "not written")]
    times = zip(result.keys, result.ms_per_decision, strict=True)
    text = "   ".join(f"{name} {ms:.2g} ms" for name, ms in times if ms is not None)
    return [("decision time", text)]


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
