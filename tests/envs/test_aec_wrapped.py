"""`env()` does what PettingZoo's wrappers do, and is driven beside them here, misuse and all."""

import copy
import random
from itertools import pairwise

import numpy as np
import pytest
from pettingzoo import AECEnv
from support.playthroughs import VARIANTS, Chooser, finish, mask_of, plies, row_bytes, same
from support.wrapper_twin import (
    CALLS,
    SITUATIONS,
    Pair,
    books,
    chosen,
    playing,
    proper,
    resets_badly,
)

import bideuchre_env
from bideuchre_env.core.one_row import NOT_LEGAL
from bideuchre_env.envs.aec.env import BidEuchreEnv
from bideuchre_env.errors import DealError, IllegalActionError, OutOfBoundsError


@pytest.mark.parametrize("situation", SITUATIONS, ids=lambda situation: situation.__name__)
def test_every_call_in_every_situation(situation):
    """The same comes of it, and so it goes on: the same of the next calls."""
    for options in ({"render_mode": "ansi", "episode": "hand"}, {"reward": "points"}):
        start = Pair("cincinnati_v0", **options, max_hands=2)
        situation(start)
        for call in CALLS.values():
            pair = copy.deepcopy(start)
            pair.do(call)
            for name in ("step properly", "last", "step None", "step False int", "walk 5", "reset"):
                pair.do(CALLS[name])
            pair.do(CALLS["step properly"])


@pytest.mark.parametrize("kind", ["env", "PettingZoo's wrappers"])
@pytest.mark.parametrize("name", VARIANTS)
def test_any_calls_in_any_order(name, kind):
    """Games of legal actions with anything in between; the raw environment is fit for both."""
    rng = random.Random(VARIANTS.index(name))
    met = set()
    for episode in ("hand", "game"):
        for reward, misuse in (("win", 0.15), ("points", 0.03)):
            seen = "dict" if reward == "win" else "flat"
            options = {"episode": episode, "reward": reward, "observation": seen}
            pair = Pair(name, kind, **options, max_hands=4)
            for _ in range(300):
                word = rng.choice(list(CALLS)) if rng.random() < misuse else "step properly"
                if word == "walk without end" and episode == "game":
                    continue
                if "agents" in pair.ours.unwrapped.__dict__:
                    met.add((len(pair.ours.agents), max(pair.ours.rewards.values(), default=0) > 0))
                pair.do(CALLS[word])
                if pair.ours.unwrapped._actor is None and rng.random() < 0.1:
                    pair.do(CALLS["reset on"])
                if rng.random() < 0.03:
                    pair.keep(rng.random() < 0.5)
    assert {n for n, _ in met} == {0, 1, 2, 3, 4}
    assert (4, True) in met


def test_printing_as_it_goes():
    """In mode "human" a step prints the table, and an illegal or a refused one does not."""
    pair = Pair("cincinnati_v0", render_mode="human")
    playing(pair)
    for word, prints in (("properly", True), ("-1", False), ("False int", False), ("None", False)):
        printed = pair.do(CALLS[f"step {word}"])[1]
        assert bool(printed) == prints


@pytest.mark.parametrize("max_iter", [0, 1, 9, 2**63, float("inf")])
def test_the_turns_of_a_raw_environment(max_iter):
    """`agent_iter` gives the agents that PettingZoo's own gives, and can be walked again."""
    walked = []
    for agent_iter in (BidEuchreEnv.agent_iter, AECEnv.agent_iter):
        env = bideuchre_env.club_v0.raw_env(episode="hand")
        env.reset(seed=2)
        turns = agent_iter(env, max_iter)
        for _ in range(3):
            walked.append([])
            for agent in turns:
                walked[-1].append(agent)
                env.step(proper(env))
        env.reset(seed=2)
        assert len([agent for agent, _ in zip(turns, range(99), strict=False)]) == min(max_iter, 99)
    assert walked[:3] == walked[3:]
    assert len(walked[0]) == min(max_iter, 9) or not walked[1]


def test_a_first_reset_that_fails_is_none():
    """The one way in which `env()` differs: PettingZoo's would think that it had been reset."""
    env = bideuchre_env.barrie_v0()
    with pytest.raises(DealError, match="dealer 7"):
        resets_badly(env)
    with pytest.raises(AssertionError, match="needs to be called before step"):
        env.step(0)
    env.reset(seed=1)
    before = books(env)
    with pytest.raises(DealError, match="dealer 7"):
        resets_badly(env)
    assert same(books(env), before)


@pytest.mark.parametrize("scribbled", [0, 1])
def test_a_scribbled_mask_misleads_nobody(scribbled):
    """What is legal is read off the game: not off a mask that the caller has, or gave back."""
    for legal in (True, False):
        env = bideuchre_env.club_v0()
        env.reset(seed=4)
        agent = env.agent_selection
        observation, _, _, _, info = env.last()
        action = chosen(env, legal)
        for mask in (
            observation["action_mask"],
            info["action_mask"],
            env.infos[agent]["action_mask"],
            env.observe(agent)["action_mask"],
        ):
            mask[:] = scribbled
        assert chosen(env, legal) == action
        env.step(action)
        assert env.rewards[agent] == (0 if legal else -1)
        assert any(env.terminations.values()) != legal


@pytest.mark.parametrize("name", VARIANTS)
def test_what_was_handed_out_stays_as_it_was(name):
    """No two arrays share memory, none is the environment's own, none is rewritten later.

    But the mask that the first `last()` gives is that of the info, the same array.
    """
    env = bideuchre_env.variants[name](max_hands=4)
    env.reset(seed=12)
    handed = []
    for _ in plies(env, Chooser(4), 90):
        first, again = env.last(), env.last()
        assert first[0]["action_mask"] is first[-1]["action_mask"]
        for seen, *_, info in (first, again):
            handed += [*seen.values(), *info.values()]
        for agent in env.possible_agents:
            handed += env.observe(agent).values()
        handed.append(env.state())
    finish(env, Chooser(5))
    raw = env.unwrapped
    own = [raw._states, raw._tables, raw._offsets]
    arrays = list({id(array): array for array in handed}.values())
    kept = [array.copy() for array in arrays]
    spans = sorted((a.__array_interface__["data"][0], a.nbytes) for a in (*arrays, *own))
    assert all(at + n <= after for (at, n), (after, _) in pairwise(spans))
    assert all(array.flags.writeable for array in arrays)
    env.reset(seed=13)
    finish(env, Chooser(6))
    assert all(map(same, arrays, kept))


def test_the_books_can_be_set():
    """A time limit of one's own, set on `env()`, is the raw environment's too."""
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


def test_the_kernel_refuses_any_number_that_is_no_legal_action():
    """It is handed numbers that nobody has looked at, and leaves the game as it is."""
    env = bideuchre_env.double_deck_v0.raw_env()
    env.reset(seed=1)
    before, n = row_bytes(env), len(env.action_names)
    numbers = [-1, n, n + 1, 64, 127, 2**31, 2**63 - 1, -(2**63), -64]
    for number in numbers + [int(i) for i in np.flatnonzero(mask_of(env) == 0)]:
        for kind in (int, np.int64):
            given = (env._states, env._tables, env._offsets, kind(number), env._seen, env._mask)
            assert env._play(*given) == NOT_LEGAL
            error = IllegalActionError if 0 <= number < n else OutOfBoundsError
            with pytest.raises(error):
                env.step(kind(number))
    assert row_bytes(env) == before
