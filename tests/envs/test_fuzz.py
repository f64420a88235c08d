"""Arbitrary actions for each kernel that steps: an error or a penalty, and nothing else changes.

The arrays that kernels write lie between guard bytes. The slow run gives a million actions to
each environment, once more with numba's bounds checks in another process.
"""

import sys
from itertools import repeat

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from pettingzoo.utils.env_logger import EnvLogger
from support.fuzzing import (
    assert_intact,
    bounds_checked,
    legal_actions,
    odd_actions,
    odd_things,
    walled,
)
from support.playthroughs import mask_of

import bideuchre_env
from bideuchre_env.errors import IllegalActionError, OutOfBoundsError

PENALTY = -2.5
ROWS = 100
SOLO_ARRAYS = ("states", "solos", "observations", "masks", "rewards", "terminated", "truncated")
SOLO_ARRAYS += ("_index",)


def variants():
    """Each variant with its number."""
    return enumerate(bideuchre_env.variants.values())


def episode(number):
    return ("game", "hand")[number % 2]


def number_of(action):
    """The number of an accepted action; "pass" is the only name among them."""
    return 0 if isinstance(action, str) else int(action)


def aec_books(raw):
    """State and PettingZoo attributes of a raw environment."""
    return (
        raw._states.tobytes(),
        raw.agent_selection,
        *raw.agents,
        *raw.rewards.values(),
        *raw._cumulative_rewards.values(),
        *raw.terminations.values(),
        *raw.truncations.values(),
    )


def fuzz_aec(face, seed, actions):
    """Refused actions change nothing; an illegal action ends the game of `env()`."""
    rng = np.random.default_rng(seed)
    refused = done = penalties = 0
    refusal = OutOfBoundsError if face == "env" else IllegalActionError
    EnvLogger.suppress_output()
    for number, variant in variants():
        env = getattr(variant, face)(episode=episode(number))
        env.reset(seed=seed)
        raw, walls, n = env.unwrapped, [], env.action_space("player_0").n
        raw._states = walled(raw._states, walls)
        views = (np.zeros(width, np.int8) for width in (raw.observation_layout.size, n))
        raw._fresh = zip(*(repeat(walled(view, walls)) for view in views), strict=False)
        env.reset(seed=seed)
        things = odd_things(rng, n)
        before, mask = aec_books(raw), mask_of(raw)
        turns, picks = rng.integers(0, [[60], [len(things)]], (2, actions // 6)).tolist()
        for turn, pick in zip(turns, picks, strict=True):
            action = things[pick]
            if turn == 0:
                action = (np.int8, np.uint16, int)[pick % 3](pick % n)
            elif turn < 3:
                action = (np.int64, np.uint8, int)[pick % 3](legal_actions(rng, mask[None])[0])
            try:
                env.step(action)
            except refusal:
                refused += 1
                assert aec_books(raw) == before
                continue
            if mask[number_of(action)]:
                done += 1
            else:
                penalties += 1
                assert raw._states.tobytes() == before[0]
                assert min(env.rewards.values()) == -1
            ended = *env.terminations.values(), *env.truncations.values()
            if any(ended) or not all(env.agents):
                env.reset()
            before, mask = aec_books(raw), mask_of(raw)
        assert_intact(walls)
    assert (penalties > 0) == (face == "env")
    return refused, done, penalties


def fuzz_vec(face, seed, actions):
    """A refused step of many rows moves none of them."""
    rng, rows = np.random.default_rng(seed), 250
    refused = done = 0
    for number, variant in variants():
        vec = variant.vec(rows, episode=episode(number), threads=1 + number % 2)
        vec.reset(seed=seed)
        walls = []
        own = {
            name: walled(array, walls)
            for name, array in vec._rows._asdict().items()
            if isinstance(array, np.ndarray) and name not in ("tables", "offsets")
        }
        vec._rows = vec._rows._replace(**own)
        vec.reset(seed=seed)

        def contents(vec=vec):
            return [array.tobytes() for array in vec._rows if isinstance(array, np.ndarray)]

        for _ in range(actions // rows // 6):
            given = odd_actions(rng, vec.sample().copy(), len(vec.action_names))
            before = contents()
            try:
                vec.step(given)
            except IllegalActionError:
                refused += 1
                assert contents() == before
            else:
                done += 1
                assert contents() != before
        assert_intact(walls)
    return refused, done, 0


def guarded(rows):
    """Move the arrays of a learner's rows, and the scratch of its threads, between walls."""
    walls = []
    for name in SOLO_ARRAYS:
        setattr(rows, name, walled(getattr(rows, name), walls))
    own = rows._rows
    rows._rows = own._replace(**{name: getattr(rows, name) for name in own._fields[3:7]})
    for start, (scratch, *nets) in rows._scratch.items():
        *arrays, rule = scratch
        rule = rule._replace(views=walled(rule.views, walls), scratch=walled(rule.scratch, walls))
        scratch = type(scratch)(*(walled(array, walls) for array in arrays), rule)
        rows._scratch[start] = scratch, *nets
    return walls


def solo_state(rows):
    return rows.states.tobytes() + rows.solos.tobytes()


def fuzz_solo_vec(face, seed, actions):
    """Refused steps move no row; an illegal action costs its row the penalty."""
    rng = np.random.default_rng(seed)
    refused = done = penalties = 0
    for number, variant in variants():
        mode = list(AutoresetMode)[number % 3]
        vec = variant.solo_vec(
            ROWS,
            autoreset_mode=mode,
            illegal_reward=PENALTY,
            episode=episode(number),
            threads=1 + number % 2,
            copy=number % 4 > 0,
            opponents=("random", "rule")[number // 3],
        )
        vec.reset(seed=seed)
        rows = vec._rows
        walls = guarded(rows)
        obs, _ = vec.reset(seed=seed)
        for _ in range(actions // ROWS // 6):
            masks, over = obs["action_mask"].copy(), rows.solos["ending"] != 0
            given = odd_actions(rng, legal_actions(rng, masks), masks.shape[1])
            before, games = solo_state(rows), rows.states.copy()
            try:
                obs, rewards, terminated, *_ = vec.step(given)
            except IllegalActionError:
                refused += 1
                assert solo_state(rows) == before
                if mode == AutoresetMode.DISABLED and over.any():
                    obs, _ = vec.reset(options={"reset_mask": over})
                continue
            done += 1
            wrong = masks[np.arange(ROWS), np.where(over, 0, given).astype(int)] == 0
            wrong &= ~over
            penalties += wrong.sum()
            assert (rewards[wrong] == PENALTY).all()
            assert terminated[wrong].all()
            if mode != AutoresetMode.SAME_STEP:
                assert rows.states[wrong].tobytes() == games[wrong].tobytes()
        assert_intact(walls)
    return refused, done, penalties


FACES = {
    "raw_env": fuzz_aec,
    "env": fuzz_aec,
    "vec": fuzz_vec,
    "solo_vec": fuzz_solo_vec,
}
every_face = pytest.mark.parametrize("face", FACES)


@pytest.mark.parametrize("actions", [30_000, pytest.param(10**6, marks=pytest.mark.slow)])
@every_face
def test_odd_actions_are_refused_or_penalised(face, actions):
    refused, done, penalties = FACES[face](
        face, 1, max(actions, 240_000) if "vec" in face else actions
    )
    assert refused > 300
    assert done > 100
    assert (penalties > 100) == (face not in ("raw_env", "vec"))


@pytest.mark.slow
@every_face
def test_odd_actions_stay_within_bounds(face):
    """The same under NUMBA_BOUNDSCHECK=1."""
    refused, done, _ = bounds_checked(__file__, face, 2, 10**6)
    assert refused > 1000
    assert done > 500


if __name__ == "__main__":
    chosen, *numbers = sys.argv[1:]
    print(*FACES[chosen](chosen, *map(int, numbers)))
