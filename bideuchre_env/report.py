"""The result of self-play as a person reads it."""

from __future__ import annotations

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
    width = max(len("points per hand"), *(_INDENT + len(name) for name in (a, b))) + 3
    lines += [_row("points per hand", _points(result, a), width)]
    if result.mode == "games":
        counts = f"{a} {result.a_won:,}   {b} {result.b_won:,}   drawn {result.drawn:,}"
        lines += [_row("games won", f"{counts}   truncated {result.truncated:,}", width)]
        lines += [_row("", f"{a} {_share(result.win_rate)}", width)]
    lines += ["", *_contracts(result, width), ""]
    rate = result.decisions_per_second
    lines += [_row("speed", f"{rate:,.0f} decisions a second" if rate else "too short", width)]
    lines += [_row("records", result.records or "not written", width)]
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


def _row(label: str, text: str, width: int) -> str:
    return f"{label:<{width}}{text}".rstrip()


def _points(result: Result, a: str) -> str:
    points = result.points_per_hand
    if points is None:
        return "no hand"
    if points.low is None or points.high is None:
        return f"{a} {points.mean:+.2f}   (no interval from a single unit)"
    return f"{a} {points.mean:+.2f}   95 % interval {points.low:+.2f} to {points.high:+.2f}"


def _share(share: Interval | None) -> str:
    if share is None or share.low is None or share.high is None:
        return ""
    low, high = 100 * share.low, 100 * share.high
    return f"{100 * share.mean:.1f} %   95 % interval {low:.1f} to {high:.1f} %"


def _contracts(result: Result, width: int) -> list[str]:
    """A line an agent: contracts bid, made and set, and of these the ones played alone."""
    cells = [
        (
            f"{count['bid']:,}",
            _of(count["made"], count["bid"]),
            _of(count["set"], count["bid"]),
            f"{count['lone_bid']:,}",
            _of(count["lone_made"], count["lone_bid"]),
        )
        for count in result.contracts.values()
    ]
    widths = [max(map(len, column)) for column in zip(_COLUMNS, *cells, strict=True)]

    def line(label: str, row: tuple[str, ...]) -> str:
        return label.ljust(width) + "   ".join(map(str.rjust, row, widths))

    names = [" " * _INDENT + name for name in result.contracts]
    return [line("contracts", _COLUMNS), *map(line, names, cells)]


def _of(part: int, whole: int) -> str:
    return f"{part:,} ({100 * part / whole:.0f} %)" if whole else f"{part:,}"
