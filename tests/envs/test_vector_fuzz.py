"""A million arbitrary actions for the vector environment: an error that says so, nothing moved.

Run once as compiled for use, with canaries around every array the kernels write, and once with
numba's own bounds checks in a process of its own.
"""

import sys

import numpy as np
import pytest
from support.fuzzing import CANARY, bounds_checked, odd_actions, walled

import bideuchre_env
from bideuchre_env.errors import IllegalActionError

ROWS = 250
CALLS = 4_100  # of ROWS actions each


def guarded(vec):
    """Move every array of the environment between two walls of canaries; the walls."""
    walls = []
    own = {
        name: walled(array, walls)
        for name, array in vec._rows._asdict().items()
        if isinstance(array, np.ndarray) and name not in ("tables", "offsets")
    }
    vec._rows = vec._rows._replace(**own)
    return walls


def contents(vec):
    """All arrays of the environment, as bytes."""
    return [array.tobytes() for array in vec._rows if isinstance(array, np.ndarray)]


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
            before = contents(vec)
            if stepped(vec, actions):
                done += 1
                assert contents(vec) != before
            else:
                refused += 1
                after = contents(vec)
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
    given, _, _ = bounds_checked(__file__, seed)
    assert given >= 10**6


if __name__ == "__main__":
    print(*fuzz(int(sys.argv[1])))
