"""`env()` behaves as a raw environment in PettingZoo's wrappers, misuse included."""

import random

import numpy as np
import pytest
from support.playthroughs import VARIANTS, Chooser, finish, mask_of, plies, row_bytes, same
from support.wrapper_twin import CALLS, Pair

import bideuchre_env
from bideuchre_env.core.one_row import NOT_LEGAL


@pytest.mark.parametrize("name", ["cincinnati_v0", "barrie_v0"])
@pytest.mark.parametrize("episode", ["game", "hand"])
@pytest.mark.parametrize("misuse", [0.3, 0.03])
def test_every_call_has_the_effects_of_pettingzoos_wrappers(name, episode, misuse):
    """The games have other calls between steps, before the first reset and after the end."""
    rng = random.Random(f"{name} {episode}")
    options = {"reward": "win"} if misuse > 0.1 else {"reward": "points", "observation": "flat"}
    pair = Pair(name, episode=episode, render_mode="ansi", **options)
    for _ in range(400):
        pair.do(CALLS[rng.choice(list(CALLS)) if rng.random() < misuse else "step properly"])
        if pair.ours.unwrapped._actor is None and rng.random() < 0.1:
            pair.do(CALLS["reset unseeded"])


@pytest.mark.parametrize("name", VARIANTS)
def test_returned_arrays_do_not_change_with_the_game(name):
    env = bideuchre_env.variants[name](max_hands=4)
    env.reset(seed=12)
    arrays = []
    for _ in plies(env, Chooser(4), 90):
        seen, *_, info = env.last()
        arrays += [*seen.values(), *info.values(), env.state()]
    copies = [array.copy() for array in arrays]
    finish(env, Chooser(5))
    env.reset(seed=13)
    finish(env, Chooser(6))
    assert all(map(same, arrays, copies))


def test_the_step_kernel_refuses_illegal_actions():
    env = bideuchre_env.double_deck_v0.raw_env()
    env.reset(seed=1)
    before, n = row_bytes(env), len(env.action_names)
    numbers = [-1, n, n + 1, 64, 127, 2**31, 2**63 - 1, -(2**63), -64]
    for number in numbers + [int(i) for i in np.flatnonzero(mask_of(env) == 0)]:
        for kind in (int, np.int64):
            arrays = env._states, env._tables, env._offsets
            assert env._play(*arrays, kind(number), env._seen, env._mask) == NOT_LEGAL
    assert row_bytes(env) == before
