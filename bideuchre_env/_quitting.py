"""Functions to call before the program exits at once, without the `finally` blocks of its code."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

finishers: list[Callable[[], object]] = []
"""Idempotent functions that remove temporary files or complete records, see `finish_all`."""


@contextmanager
def before_quitting(finish: Callable[[], object]) -> Iterator[None]:
    """Context manager: call the function, which is idempotent, if the program exits in its body."""
    finishers.append(finish)
    try:
        yield
    finally:
        forget(finish)


def forget(finish: Callable[[], object]) -> None:
    """Remove a function from `finishers`, if it is there."""
    with suppress(ValueError):  # called and removed already
        finishers.remove(finish)


def finish_all() -> None:
    """Before the program exits: call the functions of `before_quitting`, the last one first.

    Files that are not published yet (`Output`) are discarded in the same order.
    """
    for finish in finishers[::-1]:
        with suppress(Exception):  # the others must be called too
            finish()
