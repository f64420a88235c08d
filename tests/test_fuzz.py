"""A million arbitrary actions for the vector environment: an error that says so, nothing moved.

Run once as compiled for use, with canaries around every array the kernels write, and once with
numba's own bounds checks in a process of its own.
"""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import bideuchre_env
from bideuchre_env.errors import IllegalActionError

ROWS = 250
CALLS = 4_100  # of ROWS actions each
GUARD = 64
GUARDED = {
    "_states": "rng",
    "_keys": None,
    "_choices": None,
    "_tallies": "reward",
    "_ended": "reward",
    "_observations": None,
    "_masks": None,
    "_seats": None,
    "_rewards": None,
    "_terminated": None,
    "_truncated": None,
}
CANARY = 0x55


class Odd:
    """What no array can be made of."""

    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("no array")


def guarded(vec):
    """Move every array of the environment between two walls of canaries; the walls."""
    walls = []
    for name in GUARDED:
        array = getattr(vec, name)
        size = array.nbytes
        block = np.full(size + 2 * GUARD, CANARY, np.uint8)
        inner = block[GUARD : GUARD + size].view(array.dtype).reshape(array.shape)
        inner[:] = array
        if isinstance(array, np.recarray):
            inner = inner.view(np.recarray)
        setattr(vec, name, inner)
        walls += [block[:GUARD], block[GUARD + size :]]
    vec._derive()  # kernels are to take these
    return walls


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


def fuzz(seed):
    """How many actions were given, how many calls were refused and how many carried out."""
    rng = np.random.default_rng(seed)
    given = refused = done = 0
    for round_, variant in enumerate(bideuchre_env.variants.values()):
        vec = variant.vec(ROWS, episode=("game", "hand")[round_ % 2], threads=1 + round_ % 2)
        vec.reset(seed=seed)
        walls = guarded(vec)
        vec.reset(seed=seed)
        for _ in range(CALLS // 6 + 1):
            legal = vec.sample().copy()
            actions = odd_actions(rng, legal, len(vec.action_names))
            given += ROWS
            before = [getattr(vec, name).tobytes() for name in GUARDED]
            if stepped(vec, actions):
                done += 1
            else:
                refused += 1
                after = [getattr(vec, name).tobytes() for name in GUARDED]
                assert before == after
        assert all((wall == CANARY).all() for wall in walls)
    return given, refused, done


def stepped(vec, actions):
    """Whether the actions were carried out; refused is `IllegalActionError` and nothing else."""
    try:
        vec.step(actions)
    except IllegalActionError:
        return False
    return True


def test_a_million_odd_actions():
    """As it is used: canaries unharmed, rows unmoved by what is refused."""
    given, refused, done = fuzz(1)
    assert given >= 10**6
    assert refused > 2000
    assert done > 500


@pytest.mark.parametrize("seed", [2])
def test_a_million_odd_actions_bounds_checked(seed):
    """The same under NUMBA_BOUNDSCHECK=1: no bound is overstepped."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    told = subprocess.run(
        [sys.executable, __file__, str(seed)],
        cwd=Path(__file__).parent,
        env=kept | {"NUMBA_BOUNDSCHECK": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert told.returncode == 0, told.stderr[-3000:]
    assert int(told.stdout.split()[0]) >= 10**6


if __name__ == "__main__":
    print(*fuzz(int(sys.argv[1])))
