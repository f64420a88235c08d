"""Arbitrary actions for each environment of learners: an error, or the stated penalty.

They run as compiled for use and, a million of them, in the slow run, with numba's own bounds checks
in a process of their own; with canaries around every array the kernels write. Players
that are asked answer as oddly at times.
"""

import math
import sys

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from support.fuzzing import (
    CANARY,
    bounds_checked,
    legal_actions,
    number_of,
    odd_actions,
    odd_things,
    walled,
)

import bideuchre_env
from bideuchre_env.agents.base import RowAgent
from bideuchre_env.errors import BidEuchreError, IllegalActionError

ROWS = 100
CALLS = 1_700  # of ROWS actions each, for every variant
SINGLES = 170_000  # for every variant
PENALTY = -2.5
ARRAYS = (
    "states",
    "solos",
    "observations",
    "masks",
    "rewards",
    "terminated",
    "truncated",
    "_index",
)
PLAYERS = (
    {"opponents": "random"},
    {"opponents": "rule", "partner": "cautious"},
    {"opponents": lambda rules, seed: OddPlayer(rules), "partner": "rule"},
)


class OddPlayer(RowAgent):
    """Legal choices, but for one answer in `odd`, which may be anything."""

    name = "odd"

    def __init__(self, rules, odd=20):
        super().__init__(rules)
        self.odd, self.rng = odd, np.random.default_rng(7)

    def act_rows(self, observations, action_masks):
        """Choices, or what only looks like some; its masks are its own to write into."""
        choices = legal_actions(self.rng, action_masks)
        observations[:], action_masks[:] = 99, 99
        if self.rng.integers(self.odd):
            return choices
        if len(choices) % 2:
            return choices[1:]
        return odd_actions(self.rng, choices, self.n_actions)


def guarded(rows):
    """Wall in every array of an environment's rows, and the scratch of its threads; the walls."""
    walls = []
    for name in ARRAYS:
        setattr(rows, name, walled(getattr(rows, name), walls))
    own = rows._rows
    rows._rows = own._replace(**{name: getattr(rows, name) for name in own._fields[3:7]})
    for start, (scratch, *nets) in rows._scratch.items():
        *arrays, rule = scratch
        rule = rule._replace(views=walled(rule.views, walls), scratch=walled(rule.scratch, walls))
        scratch = type(scratch)(*(walled(array, walls) for array in arrays), rule)
        rows._scratch[start] = scratch, *nets
    return walls


def position(rows):
    """The games and all that goes with them, as bytes."""
    return rows.states.tobytes() + rows.solos.tobytes()


def reset(env, seed=None, options=None):
    """Reset until no player has spoilt it."""
    while True:
        try:
            return env.reset(seed=seed, options=options)
        except IllegalActionError as error:
            told = str(error)
        assert "'odd'" in told


def fuzz_rows(seed, part=1):
    """How many actions were given; how many calls were refused, carried out; how many penalties."""
    rng = np.random.default_rng(seed)
    given = refused = done = penalties = 0
    for round_, variant in enumerate(bideuchre_env.variants.values()):
        mode = list(AutoresetMode)[round_ % 3]
        vec = variant.solo_vec(
            ROWS,
            autoreset_mode=mode,
            illegal_reward=PENALTY,
            episode=("game", "hand")[round_ % 2],
            threads=1 + round_ % 2,
            copy=round_ % 4 > 0,
            **PLAYERS[round_ * 2 % 3],
        )
        reset(vec, seed)
        rows = vec._rows
        walls = guarded(rows)
        obs, _ = reset(vec, seed)
        for _ in range(CALLS // part):
            masks, over = obs["action_mask"].copy(), rows.solos["ending"] != 0
            actions = odd_actions(rng, legal_actions(rng, masks), masks.shape[1])
            given += ROWS
            before, games = position(rows), rows.states.copy()
            try:
                obs, rewards, terminated, *_ = vec.step(actions)
            except IllegalActionError as error:
                refused += 1
                if "'odd'" in str(error):
                    obs, _ = reset(vec)
                    continue
                assert position(rows) == before
                if mode == AutoresetMode.DISABLED and over.any():
                    obs, _ = reset(vec, options={"reset_mask": over})
                continue
            done += 1
            wrong = masks[np.arange(ROWS), np.where(over, 0, actions).astype(int)] == 0
            wrong &= ~over
            penalties += wrong.sum()
            assert (rewards[wrong] == PENALTY).all()
            assert terminated[wrong].all()
            if mode != AutoresetMode.SAME_STEP:
                assert rows.states[wrong].tobytes() == games[wrong].tobytes()
        assert all((wall == CANARY).all() for wall in walls)
    return given, refused, done, penalties


def fuzz_singles(seed, part=1):
    """As `fuzz_rows`, one action at a time."""
    rng = np.random.default_rng(seed)
    given = refused = done = penalties = 0
    for round_, variant in enumerate(bideuchre_env.variants.values()):
        env = variant.solo(
            illegal_reward=PENALTY,
            episode=("game", "hand")[round_ % 2],
            **PLAYERS[(0, 1, 2, 0, 1, 0)[round_]],
        )
        reset(env, seed)
        rows = env._rows
        walls = guarded(rows)
        obs, _ = reset(env, seed)
        things = odd_things(rng, env.action_space.n)
        kinds = [np.int8, np.uint16, np.int32, np.uint64, int, np.array]
        before = position(rows)
        turns = rng.integers(0, 60, SINGLES // part).tolist()
        picks = rng.integers(0, len(things), SINGLES // part).tolist()
        for turn, pick in zip(turns, picks, strict=True):
            thing = things[pick]
            if turn == 0:
                thing = kinds[pick % 6](pick % len(obs["action_mask"]))
            elif turn == 1:
                thing = kinds[pick % 6](legal_actions(rng, obs["action_mask"][None])[0])
            given += 1
            try:
                seen, reward, terminated, truncated, _ = env.step(thing)
            except IllegalActionError as error:
                refused += 1
                if "'odd'" in str(error):
                    obs, _ = reset(env)
                    before = position(rows)
                assert position(rows) == before
                continue
            done += 1
            if not obs["action_mask"][number_of(thing)]:
                penalties += 1
                assert (reward, terminated, truncated) == (PENALTY, True, False)
                assert rows.states.tobytes() == before[: rows.states.nbytes]
            obs = seen
            if terminated or truncated:
                obs, _ = reset(env)
            before = position(rows)
        assert all((wall == CANARY).all() for wall in walls)
    return given, refused, done, penalties


FACES = {"rows": fuzz_rows, "singles": fuzz_singles}
every_face = pytest.mark.parametrize("face", FACES)


@every_face
def test_odd_actions(face):
    """As it is used: canaries unharmed, rows unmoved by what is refused, penalties as stated."""
    given, refused, done, penalties = FACES[face](1, 10)
    assert given >= 10**5
    assert refused > 500
    assert done > 100
    assert penalties > 300


@pytest.mark.slow  # it compiles the rule player once more
@every_face
def test_a_million_odd_actions_bounds_checked(face):
    """The same under NUMBA_BOUNDSCHECK=1: no bound is overstepped."""
    given, refused, done, penalties = bounds_checked(__file__, face, 2)
    assert given >= 10**6
    assert refused > 3000
    assert done > 1500
    assert penalties > 3000


ODD_SEEDS = (None, -1, 1.0, "1", True, 2**128, -(2**63), math.nan, [], [1], (1, 2), b"1", 2**127)
ODD_OPTIONS = (
    None,
    {},
    3,
    "seat",
    [("seat", 1)],
    {"seat": 4},
    {"seat": True},
    {"seat": 1.0},
    {"dealer": -1},
    {"dealer": "x"},
    {"score": (1, 2, 3)},
    {"score": (10**16, 0)},
    {"score": (np.nan, 0)},
    {"deal": []},
    {"deal": [["AS"] * 6] * 4},
    {"deal": "AS"},
    {"reset_mask": True},
    {"reset_mask": np.ones(3)},
    {"reset_mask": np.ones((4, 1), bool)},
    {"nonsense": object()},
    {"seat": np.int8(2)},
)


def test_odd_seeds_and_options():
    """Every pair of them: a reset, or an error of ours that leaves everything as it was."""
    for env in (
        bideuchre_env.cincinnati_v0.solo(opponents="rule"),
        bideuchre_env.cincinnati_v0.solo_vec(4, opponents="rule"),
    ):
        env.reset(seed=1)
        refused = done = 0
        for seed in ODD_SEEDS:
            for options in ODD_OPTIONS:
                before = position(env._rows)
                try:
                    obs, _ = env.reset(seed=seed, options=options)
                except BidEuchreError:
                    refused += 1
                    assert position(env._rows) == before
                else:
                    done += 1
                    assert obs in env.observation_space
        assert refused > 100
        assert done >= 6


if __name__ == "__main__":
    print(*FACES[sys.argv[1]](*map(int, sys.argv[2:])))
