"""Results as a person reads them: that of self-play, and the parts that a match has too."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from bideuchre_env.intervals import Interval

if TYPE_CHECKING:
    from bideuchre_env.selfplay import Result

_COLUMNS = ("bid", "made", "set", "alone", "made alone")
_INDENT = 2


def report(result: Result) -> str:
    """A heading, points per hand, games, contracts, speed and where the records are."""
    if not result.boards:
        return f"{_heading(result)}\n\nInterrupted before both tables of a board were finished."
    a, b = result.contracts
    lines = [_heading(result), ""]
    if result.interrupted:
        lines += ["Interrupted: this is what was finished at both tables of a board.", ""]
    width = label_width(result.contracts)
    lines += [row("points per hand", points_of(result.points_per_hand, a), width)]
    if result.mode == "games":
        counts = f"{a} {result.a_won:,}   {b} {result.b_won:,}   drawn {result.drawn:,}"
        lines += [row("games won", f"{counts}   truncated {result.truncated:,}", width)]
        lines += [row("", f"{a} {share_of(result.win_rate)}", width)]
    lines += ["", *contract_lines(result.contracts, width), ""]
    rate = result.decisions_per_second
    lines += [row("speed", f"{rate:,.0f} decisions a second" if rate else "too short", width)]
    lines += [row("records", result.records or "not written", width)]
    return "\n".join(lines)


def _heading(result: Result) -> str:
    a, b = result.contracts
    options = "".join(f" {name}={value!r}" for name, value in result.options.items())
    if result.mode == "games":
        size = f"{result.games:,} games ({result.boards:,} pairs)"
    else:
        size = f"{result.boards:,} boards of two tables"
    return f"{a} against {b}, {result.variant}{options}, seed {result.seed}\n{size}, " + (
        f"{result.hands:,} hands"
    )


def label_width(names: Iterable[str]) -> int:
    """How wide the labels of a report on these agents are."""
    return max(len("points per hand"), *(_INDENT + len(name) for name in names)) + 3


def row(label: str, text: str, width: int) -> str:
    """A label and what stands beside it."""
    return f"{label:<{width}}{text}".rstrip()


def points_of(points: Interval | None, a: str) -> str:
    """A's points per hand with their interval."""
    if points is None:
        return "no hand"
    if points.low is None or points.high is None:
        return f"{a} {points.mean:+.2f}   (no interval from a single unit)"
    return f"{a} {points.mean:+.2f}   95 % interval {points.low:+.2f} to {points.high:+.2f}"


def share_of(share: Interval | None) -> str:
    """A share in per cent with its interval; empty where there is none."""
    if share is None or share.low is None or share.high is None:
        return ""
    low, high = 100 * share.low, 100 * share.high
    return f"{100 * share.mean:.1f} %   95 % interval {low:.1f} to {high:.1f} %"


def contract_lines(contracts: dict[str, dict[str, int]], width: int) -> list[str]:
    """A line an agent: contracts bid, made and set, and of these the ones played alone."""
    cells = [
        (
            f"{count['bid']:,}",
            part_of(count["made"], count["bid"]),
            part_of(count["set"], count["bid"]),
            f"{count['lone_bid']:,}",
            part_of(count["lone_made"], count["lone_bid"]),
        )
        for count in contracts.values()
    ]
    widths = [max(map(len, column)) for column in zip(_COLUMNS, *cells, strict=True)]

    def line(label: str, row: tuple[str, ...]) -> str:
        return label.ljust(width) + "   ".join(map(str.rjust, row, widths))

    names = [" " * _INDENT + name for name in contracts]
    return [line("contracts", _COLUMNS), *map(line, names, cells)]


def part_of(part: int, whole: int) -> str:
    """A count with its per cent of the whole."""
    return f"{part:,} ({100 * part / whole:.0f} %)" if whole else f"{part:,}"
