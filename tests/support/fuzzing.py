"""What a caller might give by mistake, and walls of canaries around arrays."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

GUARD = 64
CANARY = 0x55
TESTS = Path(__file__).parents[1]
BOUNDS_CHECKED = {"NUMBA_BOUNDSCHECK": "1", "NUMBA_OPT": "1"}  # compiles in two thirds of the time

in_fifths = pytest.mark.parametrize("part", [5, pytest.param(1, marks=pytest.mark.slow)])
"""A fifth of a million actions in the usual run, a million in the slow one."""


def bounds_checked(script, *arguments):
    """The numbers that a script of tests prints under numba's own bounds checks."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    done = subprocess.run(
        [sys.executable, script, *map(str, arguments)],
        cwd=TESTS,
        env=kept | BOUNDS_CHECKED | {"PYTHONPATH": str(TESTS)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return map(int, done.stdout.split())


class Odd:
    """What no array can be made of."""

    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("no array")


def odd_actions(rng, legal, n_actions):
    """Actions that a caller might give by mistake, of every kind; or legal ones, oddly laid out."""
    n = len(legal)
    kind = int(rng.integers(22))
    extremes = np.array([-(2**63), 2**63 - 1, -1, n_actions, 2**31, -(2**31), 255], np.int64)
    if kind == 0:
        return legal.astype(np.float64)
    if kind == 1:
        return np.where(rng.random(n) < 0.5, np.nan, legal)
    if kind == 2:
        return legal.astype(bool)
    if kind == 3:
        return legal.astype(object)
    if kind == 4:
        return legal.astype(str)
    if kind == 5:
        return legal.astype(np.complex128)
    if kind == 6:
        return legal[:-1]
    if kind == 7:
        return legal[:, np.newaxis]
    if kind == 8:
        return legal.reshape(2, -1)
    if kind == 9:
        return np.append(legal, 0)
    if kind == 10:
        things = (None, 3, "pass", 2.5, {}, [[1], [2, 3]], np.int64(4), Odd())
        return things[rng.integers(len(things))]
    if kind == 11:
        return rng.integers(-(2**63), 2**63 - 1, n, endpoint=True)
    if kind == 12:
        return rng.choice(extremes, n)
    if kind == 13:
        return rng.integers(0, 2**64 - 1, n, np.uint64, endpoint=True)
    if kind == 14:
        return np.full(n, 2**64 - 1, np.uint64)
    if kind == 15:
        return rng.integers(0, n_actions, n)
    if kind == 16:
        wrong = legal.copy()
        wrong[rng.integers(n)] = rng.choice(extremes)
        return wrong
    if kind == 17:
        return np.datetime64("2026-01-01") + legal
    if kind == 18:
        return np.repeat(legal, 3)[::3]
    if kind == 19:
        return legal[::-1].copy()[::-1].astype(">i4")
    if kind == 20:
        return np.broadcast_to(rng.integers(-300, 300, dtype=np.int16), n)
    return legal.astype(rng.choice(["i1", "u1", "i2", "u4", "i8", "u8"]))


def legal_actions(rng, masks):
    """A legal action by row, uniform; 0 where there is none."""
    picks = (rng.random(len(masks)) * masks.sum(axis=1)).astype(int)
    return (masks.cumsum(axis=1, dtype=np.int64) > picks[:, np.newaxis]).argmax(axis=1)


def number_of(thing):
    """The number of a thing taken for an action: "pass", the only name among them, is 0."""
    return 0 if isinstance(thing, str) else int(thing)


def odd_things(rng, n_actions):
    """Single things that might be given for an action; most of them are none."""
    whole = [-1, n_actions, 2**31, -(2**31), 2**63, -(2**63), 2**64, 10**30, -(10**30), 10**5000]
    none = [None, True, False, np.bool_(True), 1.0, math.nan, math.inf, -math.inf, 1e300, 3j]
    none += ["pass", "", b"1", (), [], {}, [1], (2,), {3}, object, Ellipsis, NotImplemented, print]
    none += [np.float32(2), np.float64("nan"), np.datetime64("2026-01-01"), np.str_("3")]
    for kind in ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"):
        limits = np.iinfo(kind)
        whole += [np.dtype(kind).type(limits.min), np.dtype(kind).type(limits.max)]
    shapes = [(0,), (1,), (2, 2), (1, 1, 1)]
    none += [np.zeros(shape, kind) for shape in shapes for kind in ("i8", "f4", "?", "O", "V4")]
    none += [np.array(1.5), np.array(True), np.array("x"), np.array(None, object)]
    return none + whole * 8 + [int(i) for i in rng.integers(-(2**62), 2**62, 200)]


def walled(array, walls):
    """The array between two walls of canaries, which are added to `walls`."""
    size = array.nbytes
    block = np.full(size + 2 * GUARD, CANARY, np.uint8)
    inner = block[GUARD : GUARD + size].view(array.dtype).reshape(array.shape)
    inner[:] = array
    walls += [block[:GUARD], block[GUARD + size :]]
    return inner
