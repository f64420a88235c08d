"""Arbitrary actions for each AEC environment: a defined error, the state as it was.

They run as compiled for use and, a million of them in the slow run, with numba's own bounds checks
in a process of their own; with canaries around every array the kernels write.
"""

import sys
from itertools import repeat

import numpy as np
import pytest
from pettingzoo.utils.env_logger import EnvLogger
from support.fuzzing import (
    CANARY,
    bounds_checked,
    in_fifths,
    legal_actions,
    number_of,
    odd_things,
    walled,
)
from support.playthroughs import mask_of

import bideuchre_env
from bideuchre_env.errors import IllegalActionError, OutOfBoundsError

ACTIONS = 170_000  # for every variant


def position(raw):
    """The game and its bookkeeping."""
    return (
        raw._states.tobytes(),
        raw.agent_selection,
        *raw.agents,
        *raw.rewards.values(),
        *raw._cumulative_rewards.values(),
        *raw.terminations.values(),
        *raw.truncations.values(),
    )


def fuzz(face, seed, part=1):
    """How many actions were given, refused, carried out, and how many games one has ended."""
    rng = np.random.default_rng(seed)
    given = refused = done = forfeits = 0
    refusal = OutOfBoundsError if face == "env" else IllegalActionError
    EnvLogger.suppress_output()
    for round_, variant in enumerate(bideuchre_env.variants.values()):
        env = getattr(variant, face)(episode=("game", "hand")[round_ % 2])
        env.reset(seed=seed)
        raw, walls, n = env.unwrapped, [], env.action_space("player_0").n
        raw._states = walled(raw._states, walls)
        views = (np.zeros(width, np.int8) for width in (raw.observation_layout.size, n))
        # the same arrays again and again: nobody keeps any
        raw._fresh = zip(*(repeat(walled(view, walls)) for view in views), strict=False)
        env.reset(seed=seed)
        things = odd_things(rng, n)
        turns = rng.integers(0, 60, ACTIONS // part).tolist()
        picks = rng.integers(0, len(things), ACTIONS // part).tolist()
        before, mask = position(raw), mask_of(raw)
        for turn, pick in zip(turns, picks, strict=True):
            thing = things[pick]
            if turn == 0:
                thing = (np.int8, np.uint16, int)[pick % 3](pick % n)
            elif turn < 3:
                thing = (np.int64, np.uint8, int)[pick % 3](legal_actions(rng, mask[None])[0])
            given += 1
            try:
                env.step(thing)
            except refusal:
                refused += 1
                assert position(raw) == before
                continue
            if mask[number_of(thing)]:
                done += 1
            else:
                forfeits += 1
                assert raw._states.tobytes() == before[0]
                assert min(env.rewards.values()) == -1
            if (
                not all(env.agents)
                or any(env.terminations.values())
                or any(env.truncations.values())
            ):
                env.reset()
            before, mask = position(raw), mask_of(raw)
        assert all((wall == CANARY).all() for wall in walls)
    return given, refused, done, forfeits


every_face = pytest.mark.parametrize("face", ["raw_env", "env"])


@every_face
def test_odd_actions(face):
    """As it is used: canaries unharmed; refused actions change nothing, `env()` ends the game."""
    given, refused, done, forfeits = fuzz(face, 1, 10)
    assert given >= 10**5
    assert refused > 8 * 10**4
    assert done > 2000
    assert (forfeits > 500) == (face == "env")


@every_face
@in_fifths
def test_odd_actions_bounds_checked(face, part):
    """The same under NUMBA_BOUNDSCHECK=1: no bound is overstepped."""
    given, _, done, _ = bounds_checked(__file__, face, 2, part)
    assert given >= 10**6 // part
    assert done > 20_000 // part


if __name__ == "__main__":
    print(*fuzz(sys.argv[1], *map(int, sys.argv[2:])))
