"""Speed measurement: slices of work in rounds, medians and quartiles, one pinned core.

Every round measures each task of a group once. Figures of one group can therefore be divided by
each other: a machine that slows down affects all of them.
"""

from __future__ import annotations

import os
import platform
import re
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bideuchre_env._columns import columns
from bideuchre_env._install import software
from bideuchre_env.errors import OptionError

Task = Callable[[], tuple[int, float]]
"""Does a slice of work; returns its amount and its duration in seconds."""

DECISIONS = "decisions/s"  # the unit of most figures


@dataclass(frozen=True)
class Figure:
    """A measurement: the median of `repeats`, and their spread.

    `low` and `high` are the quartiles, `least` and `most` the extremes. `target` is the minimum of
    a rate (a unit that ends in "/s") and the maximum of any other figure. `ratio` is the figure
    named `against` divided by this one, as a median over the rounds of a run.
    """

    group: str
    name: str
    unit: str
    median: float
    low: float
    high: float
    least: float
    most: float
    repeats: int
    target: float | None = None
    against: str | None = None
    ratio: float | None = None

    @property
    def meets(self) -> bool | None:
        """Whether the target is met; None without a target."""
        if self.target is None:
            return None
        return self.median >= self.target if self.is_rate else self.median <= self.target

    @property
    def verdict(self) -> str:
        """The target as text, and whether it is met; empty without a target."""
        if self.target is None:
            return ""
        least = "at least" if self.is_rate else "at most"
        return f"{least} {amount(self.target)}: {'met' if self.meets else 'NOT met'}"

    @property
    def is_rate(self) -> bool:
        """Whether higher is better."""
        return self.unit.endswith("/s")

    def to_dict(self) -> dict[str, Any]:
        """Return the figure as a JSON object without its None values."""
        return {name: value for name, value in asdict(self).items() if value is not None}


def figure(
    group: str,
    name: str,
    unit: str,
    values: Sequence[float],
    *,
    target: float | None = None,
    against: str | None = None,
    ratio: float | None = None,
) -> Figure:
    """Return the `Figure` of one or more repeats; for other parameters see `Figure`."""
    low, high = values[0], values[0]
    if len(values) > 1:
        low, _, high = statistics.quantiles(values, n=4, method="inclusive")
    median = statistics.median(values)
    spread = (median, low, high, min(values), max(values), len(values))
    return Figure(group, name, unit, *spread, target, against, ratio)


def rate(task: Task, seconds: float) -> float:
    """Return the work of a task per second, over slices that take at least `seconds` together."""
    done, spent = task()
    while spent < seconds:
        more, longer = task()
        done, spent = done + more, spent + longer
    return done / max(spent, 1e-9)


def rounds(tasks: Mapping[str, Task], repeats: int, seconds: float) -> dict[str, list[float]]:
    """Measure every task in `repeats` rounds; return the rates by name.

    Every task first runs a slice that compiles it and is not measured. Each round then gives each
    task at least `seconds`. Raises `OptionError` for invalid numbers, see `check`.
    """
    check(repeats, seconds)
    for task in tasks.values():
        task()
    rates: dict[str, list[float]] = {name: [] for name in tasks}
    for _ in range(repeats):
        for name, task in tasks.items():
            rates[name].append(rate(task, seconds))
    return rates


def check(repeats: int, seconds: float) -> None:
    """Raise `OptionError` unless `repeats` is at least 1 and `seconds` is finite and positive."""
    if repeats < 1:
        raise OptionError(f"repeats={repeats}: expected 1 or more")
    if not 0 < seconds < float("inf"):
        raise OptionError(f"seconds={seconds}: expected a number above 0")


def cores() -> list[int]:
    """Return the cores on which this process may run; [] if the system cannot list them."""
    if not hasattr(os, "sched_getaffinity"):
        return []
    return sorted(os.sched_getaffinity(0))


def core_count() -> int:
    """Return the number of cores for this process, or of the machine if that is unknown."""
    return len(cores()) or os.cpu_count() or 1


@contextmanager
def pinned(core: int | None = None) -> Iterator[int | None]:
    """Context manager: pin this thread and its children to a core, by default the last allowed.

    Yields the core, or None on a system without pinning, where `core` has no effect. The old cores
    are restored afterwards.
    Raises `OptionError` for a core that this process may not use.
    """
    before = cores()
    if core is not None and before and core not in before:
        raise OptionError(f"core={core}: expected one of {', '.join(map(str, before))}")
    if not before:
        yield None
        return
    chosen = before[-1] if core is None else core
    os.sched_setaffinity(0, {chosen})
    try:
        yield chosen
    finally:
        os.sched_setaffinity(0, before)


def machine() -> dict[str, Any]:
    """Return the facts of this machine, as `machine_line` formats them.

    They are "processor", "cores", "memory_gib" (None if unknown), those of `software`, and "date".
    """
    return {
        "processor": _processor(),
        "cores": core_count(),
        "memory_gib": _memory(),
        **software(),
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
    }


def _processor() -> str:
    facts = Path("/proc/cpuinfo")
    text = facts.read_text(encoding="utf-8", errors="replace") if facts.exists() else ""
    name = re.search(r"^model name\s*: *(.+?) *$", text, re.M)
    return name[1] if name else platform.processor() or platform.machine()


def _memory() -> float | None:
    try:
        return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1)
    except (AttributeError, ValueError, OSError):  # not available on this system
        return None


def machine_line(facts: Mapping[str, Any]) -> str:
    """Format the facts of `machine` in one line."""
    memory = f", {facts['memory_gib']} GiB" if facts.get("memory_gib") else ""
    packages = ", ".join(f"{name} {version}" for name, version in facts["packages"].items())
    return (
        f"{facts['processor']}, {facts['cores']} cores{memory}, {facts['system']}, "
        f"{facts['python']}, {packages}"
    )


def amount(value: float) -> str:
    """Format a number with three digits: 1.23 M, 45.6 k, 0.789."""
    for size, letter in ((1e9, " G"), (1e6, " M"), (1e3, " k"), (1.0, "")):
        if abs(value) >= size:
            scaled = value / size
            places = 2 if scaled < 10 else 1 if scaled < 100 else 0
            return f"{scaled:.{places}f}{letter}"
    return f"{value:.3f}"


def cells(row: Figure) -> tuple[str, str, str, str]:
    """Format a figure: its name, median, quartiles, and ratio or else verdict, which may be ""."""
    remark = f"{row.against} is {amount(row.ratio)} times as fast" if row.ratio else row.verdict
    quartiles = f"{amount(row.low)} to {amount(row.high)}"
    return row.name, f"{amount(row.median)} {row.unit}", quartiles, remark


def table(figures: Sequence[Figure]) -> str:
    """Format the figures as text lines under a heading for each group."""
    lines: list[str] = []
    group = None
    printed = columns(map(cells, figures), "lrll").splitlines()
    for row, line in zip(figures, printed, strict=True):
        if row.group != group:
            lines += ["", row.group] if lines else [row.group]
            group = row.group
        lines.append(f"  {line}")
    return "\n".join(lines)
