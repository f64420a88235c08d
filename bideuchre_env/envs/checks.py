"""What a caller gives a vector environment, checked before anything changes."""

from __future__ import annotations

from typing import Any

import numpy as np

from bideuchre_env._checks import is_integer, shown
from bideuchre_env.errors import IllegalActionError, OptionError
from bideuchre_env.rules.cards import N_SEATS
from bideuchre_env.runtime.jit import Array

MOST_ROWS = 1 << 24


def parse_count(given: Any) -> int:
    """How many rows; `OptionError` unless it is a whole number from 1 to `MOST_ROWS`."""
    if not is_integer(given) or not 1 <= given <= MOST_ROWS:
        raise OptionError(f"num_envs={shown(given)}: a whole number from 1 to {MOST_ROWS}")
    return int(given)


def whole_numbers(name: str, given: Any, n: int, limit: int) -> Array:
    """A copy as int64 (n,) of whole numbers of any integer dtype; `IllegalActionError` otherwise.

    Numbers of 2**63 and more, which no int64 holds, come out as `limit`.
    """
    try:
        numbers = np.asarray(given)
    except Exception as error:  # whatever an object's own conversion raises
        raise IllegalActionError(f"{name} {shown(given)}: no array ({error})") from None
    if numbers.shape != (n,) or numbers.dtype.kind not in "iu":
        raise IllegalActionError(
            f"{name}: whole numbers of shape ({n},) are wanted, not {numbers.dtype} of shape "
            f"{numbers.shape}"
        )
    if numbers.dtype == np.uint64:
        numbers = np.where(numbers < 2**63, numbers, np.uint64(limit))
    return numbers.astype(np.int64)


def parse_mask(mask: Any, n: int) -> Array:
    """Which rows a bool mask (n,) chooses, None all of them: int64 (n,), 1 or 0."""
    if mask is None:
        return np.ones(n, np.int64)
    given = _array("mask", mask)
    if given.dtype != bool or given.shape != (n,):
        raise OptionError(
            f"mask: bool of shape ({n},) is wanted, not {given.dtype} of shape {given.shape}"
        )
    return given.astype(np.int64)


def parse_rows(rows: Any, n: int) -> Array:
    """Row numbers, each once, None for all in order: int64 (m,)."""
    if rows is None:
        return np.arange(n)
    given = np.atleast_1d(_array("rows", rows))
    if given.ndim == 1 and given.dtype.kind in "iu":
        sound = ((given >= 0) & (given < n)).all()
        if sound and len(np.unique(given)) == len(given):
            return given.astype(np.int64)
    raise OptionError(f"rows {shown(rows)}: row numbers from 0 to {n - 1}, each once")


def parse_seats(seats: Any, n: int) -> Array:
    """One seat for all rows, or one for each: int64 (n,)."""
    given = _array("seats", seats)
    if given.dtype.kind not in "iu" or given.shape not in ((), (n,)):
        raise OptionError(
            f"seats: a seat, or whole numbers of shape ({n},), not {given.dtype} of shape "
            f"{given.shape}"
        )
    if not ((given >= 0) & (given < N_SEATS)).all():
        raise OptionError(f"seats {shown(seats)}: each from 0 to 3")
    return np.ascontiguousarray(np.broadcast_to(given, n), np.int64)


def by_row(name: str, given: Any, m: int, default: Any) -> list[Any]:
    """`m` things, by row; None stands for as many defaults."""
    if given is None:
        return [default] * m
    sequence = isinstance(given, (list, tuple)) or (isinstance(given, np.ndarray) and given.ndim)
    if not sequence or len(given) != m:
        raise OptionError(f"{name}: a sequence of {m}, one for each row, not {shown(given)}")
    return list(given)


def _array(name: str, given: Any) -> Array:
    try:
        return np.asarray(given)
    except Exception as error:  # whatever an object's own conversion raises
        raise OptionError(f"{name} {shown(given)}: no array ({error})") from None
