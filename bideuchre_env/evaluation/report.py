"""The parts of a text report: labels, and figures in words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bideuchre_env._columns import GAP, columns, html_table
from bideuchre_env.evaluation.statistics.intervals import Interval

_INDENT = 2
_COLUMNS = ("bid", "made", "set", "alone", "made alone")


def label_width(names: Iterable[str]) -> int:
    """How wide the labels of a report on these agents are."""
    return max(len("points per hand"), *(_INDENT + len(name) for name in names)) + GAP


def row(label: str, text: str, width: int) -> str:
    """A label and what stands beside it."""
    return f"{label:<{width}}{text}".rstrip()


def points_of(points: Interval | None, a: str) -> str:
    """A's points per hand with their interval."""
    if points is None:
        return "no hand"
    if points.low is None or points.high is None:
        return f"{a} {points.mean:+.2f}   (no interval from a single board)"
    return f"{a} {points.mean:+.2f}   95 % interval {points.low:+.2f} to {points.high:+.2f}"


def share_of(share: Interval | None) -> str:
    """A share in per cent with its interval; empty where there is none."""
    if share is None or share.low is None or share.high is None:
        return ""
    low, high = 100 * share.low, 100 * share.high
    return f"{100 * share.mean:.1f} %   95 % interval {low:.1f} to {high:.1f} %"


def contract_table(names: Sequence[str], contracts: Sequence[dict[str, int]], width: int) -> str:
    """A line per agent: contracts bid, made and set, and of these the ones played alone."""
    rows = contract_rows([" " * _INDENT + name for name in names], contracts)
    return columns([("contracts", *_COLUMNS), *rows], "lrrrrr", first=width - GAP)


def contract_html(names: Sequence[str], contracts: Sequence[dict[str, int]]) -> str:
    """The same as a table in HTML."""
    return html_table([("contracts", *_COLUMNS), *contract_rows(names, contracts)], "lrrrrr")


def contract_rows(
    names: Sequence[str], contracts: Sequence[dict[str, int]]
) -> list[tuple[str, ...]]:
    """The cells of those lines."""
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
    """A count with its per cent of the whole."""
    return f"{part:,} ({100 * part / whole:.0f} %)" if whole else f"{part:,}"
