"""Checks of the arguments of vector environments, made before anything changes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from bideuchre_env._checks import brief, is_integer, to_array, unknown_options, whole_numbers
from bideuchre_env.errors import IllegalActionError, OptionError
from bideuchre_env.rules.cards import N_SEATS
from bideuchre_env.runtime.devices import HostMemory
from bideuchre_env.runtime.jit import Array

MOST_ROWS = 1 << 24
TABLE_OPTIONS = ("dealer", "deal", "score")
"""The reset options of every environment."""
RESET_MASK = "reset_mask"
_INT64 = np.dtype(np.int64)


def parse_count(value: Any) -> int:
    """Return the number of rows; `OptionError` unless it is an integer from 1 to `MOST_ROWS`."""
    if not is_integer(value) or not 1 <= value <= MOST_ROWS:
        raise OptionError(f"num_envs={brief(value)}: expected a whole number from 1 to {MOST_ROWS}")
    return int(value)


def reset_options(options: Any, *more: str, ignored: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return the options of a reset as a dict, empty for None.

    Allowed keys are `TABLE_OPTIONS` and `more`; keys in `ignored` are accepted and stay in the
    dict. Raises `OptionError` for another key, or unless `options` is a mapping or None.
    """
    if options is None:
        return {}
    if not isinstance(options, Mapping):
        raise OptionError(
            f"options={brief(options)}: expected a mapping as {{'dealer': 0}}, or None"
        )
    allowed = (*TABLE_OPTIONS, *more)
    if any(name not in allowed and name not in ignored for name in options):
        raise OptionError(unknown_options(set(options) - set(ignored), allowed, " of reset"))
    return dict(options)


def parse_reset_mask(mask: Any, n: int) -> Array:
    """Return the rows of the option "reset_mask", bool (n,); None means all.

    Raises `OptionError` unless it is a bool numpy array of that shape with at least one True.
    """
    if mask is None:
        return np.ones(n, bool)
    plain = isinstance(mask, np.ndarray) and not isinstance(mask, np.ma.MaskedArray)
    if not plain or mask.dtype != bool or mask.shape != (n,) or not mask.any():
        raise OptionError(
            f"{RESET_MASK}={brief(mask)}: expected a bool numpy array of shape ({n},) with at "
            "least one True"
        )
    return np.array(mask)


def parse_actions(actions: Any, n: int, n_actions: int, memory: HostMemory) -> Any:
    """Return actions as whole numbers (n,) in a memory; `IllegalActionError` for any other value.

    Neither range nor legality is checked; numbers that do not fit int64 become `n_actions`. On the
    CPU the result is int64, and may be `actions` themselves.
    """
    if (
        memory.name == "cpu"
        and type(actions) is np.ndarray
        and actions.dtype is _INT64
        and actions.shape == (n,)
        and actions.flags.carray
    ):
        return actions
    try:
        array = memory.foreign(actions)
    except Exception as error:  # any error of the object's own conversion
        raise IllegalActionError(f"actions={brief(actions)}: expected an array ({error})") from None
    if array is None:
        return memory.put(whole_numbers("actions", actions, n, n_actions))
    if tuple(array.shape) != (n,) or array.dtype.kind not in "iu":
        raise IllegalActionError(
            f"actions: expected whole numbers of shape ({n},), not {array.dtype} of "
            f"shape {tuple(array.shape)}"
        )
    return array


def action_at(actions: Any, row: int, memory: HostMemory) -> int:
    """Return the caller's action for a row; `actions` have passed `parse_actions`."""
    array = memory.foreign(actions)
    return int(np.asarray(actions if array is None else memory.to_host(array))[row])


def rows_to_reset(mask: Any, reset_mask: Any, n: int) -> Array:
    """Return the rows that `mask`, any array-like, or else the reset option selects, bool (n,).

    Raises `OptionError` if both are set, and for an invalid one. `mask` may select no row.
    """
    if mask is None:
        return parse_reset_mask(reset_mask, n)
    if reset_mask is not None:
        raise OptionError(f"mask and options[{RESET_MASK!r}]: expected one of the two")
    array = to_array("mask", mask)
    if array.dtype != bool or array.shape != (n,):
        raise OptionError(
            f"mask: expected bool of shape ({n},), not {array.dtype} of shape {array.shape}"
        )
    return np.array(array, order="C")


def parse_rows(rows: Any, n: int) -> Array:
    """Return row numbers, int64 (m,); None: all in order. `OptionError` if invalid or repeated."""
    if rows is None:
        return np.arange(n)
    array = np.atleast_1d(to_array("rows", rows))
    if array.ndim == 1 and array.dtype.kind in "iu":
        sound = ((array >= 0) & (array < n)).all()
        if sound and len(np.unique(array)) == len(array):
            return array.astype(np.int64)
    raise OptionError(f"rows {brief(rows)}: expected row numbers from 0 to {n - 1}, each once")


def parse_seats(seats: Any, n: int) -> Array:
    """Return a seat for each row, int64 (n,), from one seat or n; `OptionError` if invalid."""
    array = to_array("seats", seats)
    if array.dtype.kind not in "iu" or array.shape not in ((), (n,)):
        raise OptionError(
            f"seats: expected a seat, or whole numbers of shape ({n},), not {array.dtype} of shape "
            f"{array.shape}"
        )
    if not ((array >= 0) & (array < N_SEATS)).all():
        raise OptionError(f"seats={brief(seats)}: expected seats from 0 to 3")
    return np.ascontiguousarray(np.broadcast_to(array, n), np.int64)


def by_row(name: str, values: Any, m: int, default: Any) -> list[Any]:
    """Return `values` as a list of length `m`; None stands for `m` defaults.

    Raises `OptionError` for any other length or type, with the parameter's `name`.
    """
    if values is None:
        return [default] * m
    sequence = isinstance(values, (list, tuple)) or (isinstance(values, np.ndarray) and values.ndim)
    if not sequence or len(values) != m:
        raise OptionError(f"{name}={brief(values)}: expected a sequence of {m}, one for each row")
    return list(values)
