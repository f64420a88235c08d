"""Mode "rgb_array": the picture of the table as pixels, and the tools that ask for it."""

from __future__ import annotations

import builtins
import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.error import DependencyNotInstalled
from support.playthroughs import VARIANTS, Chooser, plies

import bideuchre_env
from bideuchre_env.core.state import Phase
from bideuchre_env.errors import OptionError

pytest.importorskip("PIL")

SHAPE = (488, 760, 3)
ID = "bideuchre/Cincinnati-v0"
every_variant = pytest.mark.parametrize("name", VARIANTS)


def made(name, **options):
    """A raw environment that draws."""
    return bideuchre_env.variants[name].raw_env(render_mode="rgb_array", **options)


def check_frame(frame):
    """A picture as video writers take it, and not a blank one."""
    assert isinstance(frame, np.ndarray)
    assert (frame.shape, frame.dtype) == (SHAPE, np.uint8)
    assert frame.flags.c_contiguous
    assert frame.flags.writeable
    assert len(np.unique(frame[::4, ::4, 0])) > 8


@every_variant
def test_frames_of_whole_hands(name):
    """Of one size, changed by every action, in every phase, and a new array every time."""
    phases = set()
    for seed in range(2):
        env = made(name, episode="hand")
        env.reset(seed=seed)
        last = None
        for _ in plies(env, Chooser(seed)):
            frame = env.render()
            check_frame(frame)
            assert last is None or not np.array_equal(frame, last)
            phases.add(Phase(int(env.get_state()[0]["phase"])))
            last = frame
        over = env.render()
        check_frame(over)
        assert not np.array_equal(over, last)
        again = env.render()
        assert np.array_equal(over, again)
        again[:] = 0
        assert np.array_equal(over, env.render())
    assert {Phase.AUCTION, Phase.PLAY} <= phases


def test_every_phase_is_drawn():
    """A call for cards to the end, and naming where it is an action of its own."""
    env = made("barrie_v0", view=0)
    env.reset(seed=1, options={"dealer": 3})
    for name in ("bid call-2 S", "pass", "pass", "pass"):
        env.step(name)
    seen = [env.render()]
    while env.get_state()[0]["phase"] < Phase.PLAY:
        env.step(int(np.flatnonzero(env.last()[0]["action_mask"])[0]))
        seen.append(env.render())
    assert len(seen) == 5
    assert len({frame.tobytes() for frame in seen}) == 5
    env = made("cincinnati_v0", view="actor")
    env.reset(seed=1, options={"dealer": 3})
    for name in ("bid 3", "pass", "pass", "pass"):
        env.step(name)
    check_frame(env.render())


@every_variant
def test_a_seat_sees_no_card_that_is_hidden_from_it(name):
    """Deals that differ only in hidden cards give equal pictures; with all hands open, others."""
    rng, differ = np.random.default_rng(2), 0
    env = made(name, episode="hand")
    env.reset(seed=4)
    for at, _ in enumerate(plies(env, Chooser(4))):
        if at % 3:
            continue
        seat = int(env.agent_selection[-1])
        world = env.resample_hidden(seat=seat, rng=rng)
        differ += not np.array_equal(env.render(), world.render())
        for view in (seat, "actor"):
            env.view = world.view = view
            assert np.array_equal(env.render(), world.render())
        env.view = "all"
    assert differ


def test_views_turn_the_table():
    """Each seat sees another picture; "actor" is the seat to act, all hands are more than one."""
    env = made("club_v0")
    env.reset(seed=3)
    frames = {}
    for view in ("all", "actor", 0, 1, 2, 3):
        env.view = view
        frames[view] = env.render()
    actor = int(env.agent_selection[-1])
    assert np.array_equal(frames["actor"], frames[actor])
    distinct = {frame.tobytes() for view, frame in frames.items() if view != "actor"}
    assert len(distinct) == 5


def test_a_learner_sits_at_the_bottom():
    """With all hands open, too; the vector environment draws every row as one table does."""
    options = {"render_mode": "rgb_array", "opponents": "rule", "seat": None}
    vec = bideuchre_env.cincinnati_v0.solo_vec(3, **options)
    vec.reset(seed=5)
    frames = vec.render()
    assert isinstance(frames, tuple)
    assert vec.metadata["render_fps"] == 2
    for i, frame in enumerate(frames):
        solo = bideuchre_env.cincinnati_v0.solo(**options)
        solo.reset(seed=5 + i)
        check_frame(frame)
        assert np.array_equal(frame, solo.render())
    env = bideuchre_env.cincinnati_v0.solo(render_mode="rgb_array", view="actor", seat=2)
    env.reset(seed=9)
    seen = env.render()
    env.view = 2
    assert np.array_equal(seen, env.render())


def test_before_the_first_reset():
    """There is no table to draw."""
    for env in (made("barrie_v0"), bideuchre_env.barrie_v0.solo(render_mode="rgb_array")):
        with pytest.raises(OptionError, match=r"reset\(\) deals"):
            env.render()


def test_without_pillow_it_is_made_and_says_what_to_install(monkeypatch):
    """Trainers ask for the mode and seldom render; whoever does reads one line."""
    real = builtins.__import__

    def without(name, *args, **kwargs):
        if name.split(".")[0] == "PIL":
            raise ImportError("No module named 'PIL'")
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    variant = bideuchre_env.cincinnati_v0
    aec, solo, vec = (
        make(*n, render_mode="rgb_array")
        for make, n in ((variant.env, ()), (variant.solo, ()), (variant.solo_vec, (2,)))
    )
    for env in (aec, solo, vec):
        env.reset(seed=1)
        with pytest.raises(DependencyNotInstalled) as error:
            env.render()
        assert str(error.value).endswith('pip install "bideuchre_env[render]"')
        assert "\n" not in str(error.value)


def play(env, episodes=1):
    """Whole episodes of a Gymnasium environment, by chance."""
    for seed in range(episodes):
        _, info = env.reset(seed=seed)
        env.action_space.seed(seed)
        done = False
        while not done:
            action = env.action_space.sample(mask=info["action_mask"])
            _, _, terminated, truncated, info = env.step(action)
            done = terminated or truncated


def test_gymnasium_collects_frames():
    """`render_mode="rgb_array_list"`, as `gymnasium.make` turns it into a wrapper."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env = gymnasium.make(ID, render_mode="rgb_array_list", episode="hand", seat=0)
        play(env)
        frames = env.render()
    assert len(frames) >= 8
    for frame in frames:
        check_frame(frame)


def test_stable_baselines_makes_its_environments(tmp_path):
    """`make_vec_env` asks for "rgb_array" first; its video of all rows is a grid of theirs."""
    pytest.importorskip("stable_baselines3")
    from stable_baselines3.common.env_util import make_vec_env

    envs = make_vec_env(ID, 4, env_kwargs={"opponents": "rule"})
    assert envs.render_mode == "rgb_array"
    envs.reset()
    assert envs.render(mode="rgb_array").shape == (2 * SHAPE[0], 2 * SHAPE[1], 3)
    envs.close()
