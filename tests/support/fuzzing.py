"""Odd actions, and scripts under numba's bounds checks."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np

TESTS = Path(__file__).parents[1]
BOUNDS_CHECKED = {"NUMBA_BOUNDSCHECK": "1", "NUMBA_OPT": "1"}  # compiles in two thirds of the time


def bounds_checked(script, *arguments):
    """Iterate over the numbers that a script prints under numba bounds checks; it must succeed."""
    outer = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    done = subprocess.run(
        [sys.executable, script, *map(str, arguments)],
        cwd=TESTS,
        env=outer | BOUNDS_CHECKED | {"PYTHONPATH": str(TESTS)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return map(int, done.stdout.split())


class NoArray:
    """An object that numpy cannot convert."""

    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("no array")


def odd_actions(rng, legal, n_actions):
    """Return an odd argument of `step` for many rows, made from their `legal` actions, (n,).

    It is invalid, or has random numbers, or legal actions with an odd dtype or layout.
    """
    n = len(legal)
    extremes = np.array([-(2**63), 2**63 - 1, -1, n_actions, 2**31, -(2**31), 255], np.int64)
    one_wrong = legal.copy()
    one_wrong[rng.integers(n)] = rng.choice(extremes)
    objects = (None, 3, "pass", 2.5, {}, [[1], [2, 3]], np.int64(4), NoArray())
    kinds = (
        lambda: legal.astype(rng.choice(["f8", "?", "O", "U", "c16"])),
        lambda: np.where(rng.random(n) < 0.5, np.nan, legal),
        lambda: legal[:-1],
        lambda: legal[:, np.newaxis],
        lambda: legal.reshape(2, -1),
        lambda: np.append(legal, 0),
        lambda: objects[rng.integers(len(objects))],
        lambda: rng.integers(-(2**63), 2**63 - 1, n, endpoint=True),
        lambda: rng.choice(extremes, n),
        lambda: rng.integers(0, 2**64 - 1, n, np.uint64, endpoint=True),
        lambda: np.full(n, 2**64 - 1, np.uint64),
        lambda: rng.integers(0, n_actions, n),
        lambda: one_wrong,
        lambda: np.datetime64("2026-01-01") + legal,
        lambda: np.repeat(legal, 3)[::3],
        lambda: legal[::-1].copy()[::-1].astype(">i4"),
        lambda: np.broadcast_to(rng.integers(-300, 300, dtype=np.int16), n),
        lambda: legal.astype(rng.choice(["i1", "u1", "i2", "u4", "i8", "u8"])),
    )
    return kinds[rng.integers(len(kinds))]()


def legal_actions(rng, masks):
    """Return a legal action by row, uniform; 0 where there is none."""
    picks = (rng.random(len(masks)) * masks.sum(axis=1)).astype(int)
    return (masks.cumsum(axis=1, dtype=np.int64) > picks[:, np.newaxis]).argmax(axis=1)
