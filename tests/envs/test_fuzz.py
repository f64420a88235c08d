"""Arbitrary actions for many rows cause an error or a penalty, and no other change."""

import sys

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from support.commands import TESTS, python
from support.kernels import BOUNDS_CHECKED
from support.playthroughs import SIX

import bideuchre_env
from bideuchre_env.errors import IllegalActionError

PENALTY = -2.5
ROWS = 100
EPISODES = ("game", "hand")


class NoArray:
    """An object that numpy cannot convert."""

    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("no array")


def odd_actions(rng, legal, n_actions):
    """Return an odd argument of `step`: invalid, random, or `legal` with an odd dtype or layout."""
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


def fuzz_vec(seed, actions):
    """Play odd actions in `vec` of all variants; return the numbers of refused and other steps."""
    rng, rows = np.random.default_rng(seed), 250
    refused = done = 0
    for number, variant in enumerate(map(bideuchre_env.variants.get, SIX)):
        vec = variant.vec(rows, episode=EPISODES[number % 2], threads=1 + number % 2)
        vec.reset(seed=seed)

        def contents(vec=vec):
            return [array.tobytes() for array in vec._rows if isinstance(array, np.ndarray)]

        for _ in range(actions // rows // 6):
            actions_now = odd_actions(rng, vec.sample().copy(), len(vec.action_names))
            before = contents()
            try:
                vec.step(actions_now)
            except IllegalActionError:
                refused += 1
                assert contents() == before
            else:
                done += 1
                assert contents() != before
    return refused, done, 0


def solo_state(rows):
    """All states of the games and their learners, as bytes."""
    return rows.states.tobytes() + rows.seating.tobytes()


def fuzz_solo_vec(seed, actions):
    """Play odd actions in `solo_vec`; return the numbers of refused steps, steps and penalties."""
    rng = np.random.default_rng(seed)
    refused = done = penalties = 0
    for number, variant in enumerate(map(bideuchre_env.variants.get, SIX)):
        mode = list(AutoresetMode)[number % 3]
        options = {"illegal_reward": PENALTY, "episode": EPISODES[number % 2]}
        options |= {"threads": 1 + number % 2, "copy": number % 4 > 0}
        options |= {"opponents": ("random", "rule")[number // 3]}
        vec = variant.solo_vec(ROWS, autoreset_mode=mode, **options)
        rows = vec._rows
        obs, _ = vec.reset(seed=seed)
        for _ in range(actions // ROWS // 6):
            masks, over = obs["action_mask"].copy(), rows.seating["ending"] != 0
            actions_now = odd_actions(rng, legal_actions(rng, masks), masks.shape[1])
            before, games = solo_state(rows), rows.states.copy()
            try:
                obs, rewards, terminated, *_ = vec.step(actions_now)
            except IllegalActionError:
                refused += 1
                assert solo_state(rows) == before
                if mode == AutoresetMode.DISABLED and over.any():
                    obs, _ = vec.reset(options={"reset_mask": over})
                continue
            done += 1
            wrong = masks[np.arange(ROWS), np.where(over, 0, actions_now).astype(int)] == 0
            wrong &= ~over
            penalties += wrong.sum()
            assert (rewards[wrong] == PENALTY).all()
            assert terminated[wrong].all()
            if mode != AutoresetMode.SAME_STEP:
                assert rows.states[wrong].tobytes() == games[wrong].tobytes()
    return refused, done, penalties


FACES = {"vec": fuzz_vec, "solo_vec": fuzz_solo_vec}
every_face = pytest.mark.parametrize("face", FACES)


@pytest.mark.parametrize("actions", [240_000, pytest.param(10**6, marks=pytest.mark.long)])
@every_face
def test_odd_actions_are_refused_or_penalised(face, actions):
    refused, done, penalties = FACES[face](1, actions)
    assert refused > 300
    assert done > 100
    assert (penalties > 100) == (face == "solo_vec")


@pytest.mark.long
@every_face
def test_odd_actions_stay_within_bounds(face):
    """Odd actions under numba's bounds checks, in a subprocess, index no array out of bounds."""
    program = python(__file__, face, 2, 10**6, numba=BOUNDS_CHECKED, PYTHONPATH=str(TESTS))
    refused, done, _ = map(int, program.stdout.split())
    assert refused > 1000
    assert done > 500


if __name__ == "__main__":
    chosen, *numbers = sys.argv[1:]
    print(*FACES[chosen](*map(int, numbers)))
