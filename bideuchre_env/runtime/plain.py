"""Kernels as plain Python, with Python's integers in place of compiled int64.

A compiled kernel computes with int64, independent of the width of a field. numpy's small ints would
overflow instead, so rows and arrays return Python ints here. Words (uint64) wrap around in both.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np


class PlainRow(np.record):  # type: ignore[misc]  # final only in numpy's type stubs
    """A row of a structured array whose signed integers are Python ints.

    Its fields take precedence over attributes of numpy's rows, such as `base`.
    """

    def __getattribute__(self, name: str) -> Any:
        if name in super().__getattribute__("dtype").fields:
            return widened(super().__getitem__(name))
        return widened(super().__getattribute__(name))


class PlainArray(np.ndarray[Any, np.dtype[Any]]):
    """An array of signed integers that returns Python ints."""

    def __getitem__(self, index: Any) -> Any:
        return widened(super().__getitem__(index))


def plain_rows(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return a view of a structured array whose rows are `PlainRow`."""
    return array.view(np.dtype((PlainRow, array.dtype)))


def widened(value: Any) -> Any:
    """Convert signed integers, and arrays, rows and NamedTuples of them, for plain kernels.

    Numbers become Python ints; arrays become views that return Python ints. Any other value is
    returned unchanged.
    """
    if isinstance(value, np.signedinteger):
        return int(value)
    if isinstance(value, np.ndarray) and value.dtype.kind == "i":
        return value if type(value) is PlainArray else value.view(PlainArray)
    if isinstance(value, np.ndarray) and value.dtype.names and value.dtype.type is not PlainRow:
        return plain_rows(value)  # rows within a row
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(widened, value))
    return value


class _Running(threading.local):
    """State of each thread: `inside` says whether the thread is inside a kernel."""

    inside = False


_running = _Running()


def plain_kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a function to compute with Python ints; words (uint64) wrap around without a warning."""

    @wraps(function)
    def run(*arguments: Any) -> Any:
        if _running.inside:
            return function(*arguments)
        _running.inside = True
        try:
            with np.errstate(over="ignore"):
                return function(*map(widened, arguments))
        finally:
            _running.inside = False

    return run
