"""`env()` behaves as a raw environment in PettingZoo's wrappers, misuse included."""

import copy
import random

import numpy as np
import pytest
from support.playthroughs import VARIANTS, Chooser, finish, mask_of, plies, row_bytes, same
from support.wrapper_twin import CALLS, SITUATIONS, Pair

import bideuchre_env
from bideuchre_env.core.one_row import NOT_LEGAL


@pytest.mark.parametrize("situation", SITUATIONS, ids=lambda situation: situation.__name__)
def test_every_call_has_the_effects_of_pettingzoos_wrappers(situation):
    """In every situation, and so have the next calls."""
    start = Pair("cincinnati_v0", render_mode="ansi", reward="points", episode="hand")
    situation(start)
    for call in CALLS.values():
        pair = copy.deepcopy(start)
        pair.do(call)
        for name in ("step properly", "last", "step None", "step illegal int", "walk 5", "reset"):
            pair.do(CALLS[name])


@pytest.mark.parametrize("name", ["cincinnati_v0", "barrie_v0"])
@pytest.mark.parametrize("episode", ["game", "hand"])
@pytest.mark.parametrize(("reward", "observation"), [("win", "dict"), ("points", "flat")])
def test_games_have_the_effects_of_pettingzoos_wrappers(name, episode, reward, observation):
    """Games of legal actions with a few other calls in between."""
    rng = random.Random(VARIANTS.index(name))
    pair = Pair(name, episode=episode, reward=reward, observation=observation)
    for _ in range(200):
        pair.do(CALLS[rng.choice(list(CALLS)) if rng.random() < 0.1 else "step properly"])
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


def test_the_step_kernel_refuses_numbers_that_are_not_legal():
    env = bideuchre_env.double_deck_v0.raw_env()
    env.reset(seed=1)
    before, n = row_bytes(env), len(env.action_names)
    numbers = [-1, n, n + 1, 64, 127, 2**31, 2**63 - 1, -(2**63), -64]
    for number in numbers + [int(i) for i in np.flatnonzero(mask_of(env) == 0)]:
        for kind in (int, np.int64):
            arrays = env._states, env._tables, env._offsets
            assert env._play(*arrays, kind(number), env._seen, env._mask) == NOT_LEGAL
    assert row_bytes(env) == before
