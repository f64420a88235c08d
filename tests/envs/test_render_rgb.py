"""Mode "rgb_array": the table as pixels."""

from __future__ import annotations

import builtins
from itertools import pairwise

import numpy as np
import pytest
from gymnasium.error import DependencyNotInstalled
from support.playthroughs import VARIANTS, Chooser, plies

import bideuchre_env
from bideuchre_env.errors import OptionError

pytest.importorskip("PIL")

SHAPE = (488, 760, 3)
every_variant = pytest.mark.parametrize("name", VARIANTS)
cincinnati = bideuchre_env.cincinnati_v0


def check_frame(frame):
    """Fail unless a picture is as video writers take it, and not blank."""
    assert (frame.shape, frame.dtype) == (SHAPE, np.uint8)
    assert frame.flags.c_contiguous
    assert frame.flags.writeable
    assert len(np.unique(frame[::4, ::4, 0])) > 8


@every_variant
def test_every_action_of_a_hand_changes_the_picture(name):
    env = bideuchre_env.variants[name].raw_env(render_mode="rgb_array", episode="hand")
    env.reset(seed=1)
    frames = [env.render() for _ in plies(env, Chooser(1))]
    frames.append(env.render())
    for frame, after in pairwise(frames):
        check_frame(frame)
        assert not np.array_equal(frame, after)
    frames[-1][:] = 0
    check_frame(env.render())


@every_variant
def test_a_seat_sees_no_hidden_card(name):
    """Deals that differ only in hidden cards give equal pictures; with all hands open, others."""
    rng, differ = np.random.default_rng(2), 0
    env = bideuchre_env.variants[name].raw_env(render_mode="rgb_array", episode="hand")
    env.reset(seed=4)
    for at, _ in enumerate(plies(env, Chooser(4))):
        if at % 6:
            continue
        seat = int(env.agent_selection[-1])
        world = env.resample_hidden(seat=seat, rng=rng)
        differ += not np.array_equal(env.render(), world.render())
        for view in (seat, "actor"):
            env.view = world.view = view
            assert np.array_equal(env.render(), world.render())
        env.view = "all"
    assert differ


def test_every_view_is_another_picture():
    """View "actor" is that of the seat to act."""
    env = bideuchre_env.club_v0.raw_env(render_mode="rgb_array")
    env.reset(seed=3)
    frames = {}
    for view in ("all", "actor", 0, 1, 2, 3):
        env.view = view
        frames[view] = env.render()
    actor = int(env.agent_selection[-1])
    assert np.array_equal(frames.pop("actor"), frames[actor])
    assert len({frame.tobytes() for frame in frames.values()}) == 5


def test_rows_of_learners_are_drawn_as_one_table_is():
    options = {"render_mode": "rgb_array", "opponents": "rule", "seat": None}
    vec = cincinnati.solo_vec(3, **options)
    vec.reset(seed=5)
    for i, frame in enumerate(vec.render()):
        solo = cincinnati.solo(**options)
        solo.reset(seed=5 + i)
        check_frame(frame)
        assert np.array_equal(frame, solo.render())


def test_rendering_before_the_first_reset_is_refused():
    for make in (bideuchre_env.barrie_v0.raw_env, bideuchre_env.barrie_v0.solo):
        with pytest.raises(OptionError, match=r"reset\(\) deals"):
            make(render_mode="rgb_array").render()


def test_without_pillow_only_rendering_fails(monkeypatch):
    """Trainers ask for the mode and seldom render."""
    real = builtins.__import__

    def without(name, *args, **kwargs):
        if name.split(".")[0] == "PIL":
            raise ImportError("No module named 'PIL'")
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    options = {"render_mode": "rgb_array"}
    envs = cincinnati.env(**options), cincinnati.solo(**options), cincinnati.solo_vec(2, **options)
    for env in envs:
        env.reset(seed=1)
        with pytest.raises(DependencyNotInstalled, match=r'pip install "bideuchre_env\[render\]"$'):
            env.render()
