"""`env()` behaves as a raw environment in PettingZoo's wrappers, misuse included."""

import copy
import random
from itertools import pairwise

import numpy as np
import pytest
from support.playthroughs import VARIANTS, Chooser, finish, mask_of, plies, row_bytes, same
from support.wrapper_twin import (
    CALLS,
    SITUATIONS,
    Pair,
    books,
    chosen,
    reset_badly,
)

import bideuchre_env
from bideuchre_env.core.one_row import NOT_LEGAL
from bideuchre_env.errors import DealError


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


@pytest.mark.parametrize("kind", ["env", "PettingZoo's wrappers"])
@pytest.mark.parametrize("name", ["cincinnati_v0", "barrie_v0"])
def test_random_calls_have_the_effects_of_pettingzoos_wrappers(name, kind):
    """Games of legal actions with other calls in between."""
    rng = random.Random(VARIANTS.index(name))
    agents_left = set()
    for reward, observation, misuse in (("win", "dict", 0.15), ("points", "flat", 0.03)):
        for episode in ("hand", "game"):
            options = {"episode": episode, "reward": reward, "observation": observation}
            pair = Pair(name, kind, **options, max_hands=4)
            for _ in range(200):
                call = rng.choice(list(CALLS)) if rng.random() < misuse else "step properly"
                if call == "walk without end" and episode == "game":
                    continue
                if "agents" in pair.ours.unwrapped.__dict__:
                    agents_left.add(len(pair.ours.agents))
                pair.do(CALLS[call])
                if pair.ours.unwrapped._actor is None and rng.random() < 0.1:
                    pair.do(CALLS["reset unseeded"])
                if rng.random() < 0.03:
                    pair.copy(rng.random() < 0.5)
    assert agents_left == {0, 1, 2, 3, 4}


def test_a_first_reset_that_fails_is_no_reset():
    """The one difference: PettingZoo's wrapper would count the environment as reset."""
    env = bideuchre_env.barrie_v0()
    with pytest.raises(DealError, match="dealer 7"):
        reset_badly(env)
    with pytest.raises(AssertionError, match="needs to be called before step"):
        env.step(0)
    env.reset(seed=1)
    before = books(env)
    with pytest.raises(DealError, match="dealer 7"):
        reset_badly(env)
    assert same(books(env), before)


@pytest.mark.parametrize("name", VARIANTS)
def test_returned_arrays_are_not_shared_and_do_not_change(name):
    """Only the masks of an observation and of its info are one array."""
    env = bideuchre_env.variants[name](max_hands=4)
    env.reset(seed=12)
    returned = []
    for _ in plies(env, Chooser(4), 90):
        first, again = env.last(), env.last()
        assert first[0]["action_mask"] is first[-1]["action_mask"]
        for seen, *_, info in (first, again):
            returned += [*seen.values(), *info.values()]
        for agent in env.possible_agents:
            returned += env.observe(agent).values()
        returned.append(env.state())
    raw = env.unwrapped
    arrays = list({id(array): array for array in returned}.values())
    copies = [array.copy() for array in arrays]
    everything = (*arrays, raw._states, raw._tables, raw._offsets)
    spans = sorted((a.__array_interface__["data"][0], a.nbytes) for a in everything)
    assert all(at + n <= after for (at, n), (after, _) in pairwise(spans))
    assert all(array.flags.writeable for array in arrays)
    finish(env, Chooser(5))
    env.reset(seed=13)
    finish(env, Chooser(6))
    assert all(map(same, arrays, copies))


def test_truncations_can_be_set():
    """A time limit set on `env()` is the raw environment's too."""
    env = bideuchre_env.cincinnati_v0()
    env.reset(seed=1)
    env.truncations = dict.fromkeys(env.agents, True)
    assert env.unwrapped.truncations is env.truncations
    assert env.last()[3]
    assert not env.last()[0]["action_mask"].any()
    with pytest.raises(ValueError, match="the only valid action is None"):
        env.step(0)
    for left in (3, 2, 1, 0):
        env.step(None)
        assert len(env.agents) == left
    env.reset()
    env.step(chosen(env, True))


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
