"""`env()` behaves as a raw environment in PettingZoo's wrappers, misuse included.

Its twin is `OrderEnforcingWrapper` around a bounds check around `TerminateIllegalWrapper` around
a raw environment that uses PettingZoo's own helpers.
"""

import contextlib
import copy
import io
import random
import warnings
from zlib import crc32

import numpy as np
import pytest
from pettingzoo import AECEnv
from pettingzoo.utils.env_logger import EnvLogger
from pettingzoo.utils.wrappers import BaseWrapper, OrderEnforcingWrapper, TerminateIllegalWrapper
from support.playthroughs import VARIANTS, Chooser, finish, mask_of, plies, row_bytes, same

import bideuchre_env
from bideuchre_env.core.one_row import NOT_LEGAL
from bideuchre_env.envs.aec.env import BidEuchreEnv
from bideuchre_env.envs.face import default_illegal_reward, whole_action
from bideuchre_env.errors import IllegalActionError, OptionError

BOOKS = ("agents", "agent_selection", "rewards", "terminations", "truncations", "infos")


class Plain(BidEuchreEnv):
    """The raw environment, with its attributes updated by PettingZoo's own helpers."""

    last = AECEnv.last
    agent_iter = AECEnv.agent_iter
    _clear_rewards = AECEnv._clear_rewards

    def step(self, action):
        agent, paid = self.agent_selection, dict(self.rewards)
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        owed = self._cumulative_rewards | {agent: 0}
        self._clear_rewards()
        try:
            super().step(action)
        except IllegalActionError:
            self.rewards = paid
            raise
        self._cumulative_rewards = owed
        self._accumulate_rewards()
        self.infos = {agent: self._info() for agent in self.agents}
        if self._actor is not None:
            self.infos[self._actor] = {"action_mask": mask_of(self)}


Plain.__name__ = "BidEuchreEnv"  # error messages on missing attributes contain it


class Bounds(BaseWrapper):
    """PettingZoo's bounds check with this package's error messages."""

    def step(self, action):
        agent = self.agent_selection
        done = self.terminations[agent] or self.truncations[agent]
        if not (done and action is None):
            who, states = f"{self.unwrapped.agent_selection}: ", self.unwrapped._states
            action = whole_action(action, self.unwrapped.rules, who, states)
        super().step(action)


class NoMaskLeft(TerminateIllegalWrapper):
    """PettingZoo's wrapper, without the old mask that it leaves in infos after illegal actions."""

    def step(self, action):
        agent, before = self.agent_selection, self._terminated
        super().step(action)
        if self._terminated and not before:
            self.unwrapped.infos[agent] = self.unwrapped._info()


class OwnSentence(OrderEnforcingWrapper):
    """PettingZoo's wrapper, with this package's error if `last` has no agent left."""

    def last(self, observe=True):
        try:
            return super().last(observe)
        except KeyError:
            raise OptionError("no game in progress: call reset() first") from None


def in_wrappers(raw):
    penalty = default_illegal_reward(raw.rules, raw.episode, raw.reward)
    return OwnSentence(Bounds(NoMaskLeft(raw, illegal_reward=penalty)))


def effects(call, env):
    """Call `call(env)`; return result or exception, output, warnings, and PettingZoo's log."""
    EnvLogger.flush()
    out = io.StringIO()
    with warnings.catch_warnings(record=True) as caught, contextlib.redirect_stdout(out):
        warnings.simplefilter("always")
        try:
            result = call(env)
        except Exception as error:
            result = (type(error), str(error))
    return [result, out.getvalue(), [str(w.message) for w in caught], list(EnvLogger.mqueue)]


def books(env):
    """Return PettingZoo's attributes of the raw environment and the state of the game."""
    raw = env.unwrapped
    attributes = {name: copy.deepcopy(raw.__dict__.get(name, "none")) for name in BOOKS}
    return attributes | {
        "cumulative": dict(getattr(raw, "_cumulative_rewards", {})),
        "row": row_bytes(raw),
    }


class Pair:
    """An `env()` and its twin in PettingZoo's wrappers, which get the same calls."""

    def __init__(self, name, **options):
        variant = bideuchre_env.variants[name].replace(max_hands=4)
        self.ours = variant.env(**options)
        self.theirs = in_wrappers(Plain(variant.rules, name, **options))

    def do(self, call):
        """Make a call on both environments; fail if their effects or attributes then differ."""
        ours, theirs = effects(call, self.ours), effects(call, self.theirs)
        assert same(ours, theirs), (call, ours, theirs)
        assert same(books(self.ours), books(self.theirs)), call
        return ours


def chosen(env, legal, at=0):
    """Return the `at`-th (modulo their number) legal or illegal action; `at` if there is none."""
    numbers = np.flatnonzero(mask_of(env.unwrapped) == legal)
    return int(numbers[at % len(numbers)]) if len(numbers) else at


def proper(env):
    """Return a legal action of the agent to act, or None when it is done."""
    raw, agent = env.unwrapped, env.agent_selection
    done = raw.terminations.get(agent, True) or raw.truncations.get(agent, True)
    return None if done else chosen(env, True, crc32(row_bytes(raw)))


def walk(max_iter, forget=-1):
    """Return a walk by `agent_iter` that omits the step of turn number `forget`."""

    def call(env):
        seen = []
        for agent in env.agent_iter(max_iter):
            seen.append(agent)
            if len(seen) != forget:
                env.step(proper(env))
        return seen

    return call


CALLS = {
    f"step {action!r}": lambda env, a=action: env.step(a)
    for action in (None, -1, 1.5, "pass", "trump Z", True, np.zeros(2))
}
CALLS |= {
    f"step {word} {kind.__name__}": lambda env, k=kind, i=legal: env.step(k(chosen(env, i)))
    for kind in (int, np.int64)
    for word, legal in (("legal", True), ("illegal", False))
}
CALLS |= {f"read {name}": lambda env, n=name: getattr(env, n) for name in (*BOOKS, "nonsense")}
CALLS |= {
    "step properly": lambda env: env.step(proper(env)),
    "observe": lambda env: env.observe("player_3"),
    "last": lambda env: env.last(),
    "last without observation": lambda env: env.last(observe=False),
    "state": lambda env: env.state(),
    "render": lambda env: env.render(),
    "reset": lambda env: env.reset(seed=3),
    "reset unseeded": lambda env: (env.unwrapped._has_stream or env.reset(seed=3)) and env.reset(),
    "walk 5": walk(5),
    "walk and forget": walk(40, forget=2),
}


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
