"""Mode "rgb_array": the table as pixels."""

import builtins
import re

import numpy as np
import pytest
from gymnasium.error import DependencyNotInstalled
from support.playthroughs import VARIANTS, Chooser, plies

import bideuchre_env
from bideuchre_env._install import how_to_install

pytest.importorskip("PIL")

SHAPE = (488, 760, 3)
every_variant = pytest.mark.parametrize("name", VARIANTS)
cincinnati = bideuchre_env.cincinnati_v0


def check_frame(frame):
    """Fail unless a picture has the format of video frames and is not blank."""
    assert (frame.shape, frame.dtype) == (SHAPE, np.uint8)
    assert len(np.unique(frame[::4, ::4, 0])) > 8


@every_variant
def test_a_seat_sees_no_hidden_card(name):
    """Deals that differ only in hidden cards give equal pictures, except with all hands open."""
    rng, differ = np.random.default_rng(2), 0
    env = bideuchre_env.variants[name].raw_env(render_mode="rgb_array", episode="hand")
    env.reset(seed=4)
    for at, _ in enumerate(plies(env, Chooser(4))):
        if at % 6:
            continue
        seat = int(env.agent_selection[-1])
        world = env.resample_hidden(seat=seat, rng=rng)
        check_frame(env.render())
        differ += not np.array_equal(env.render(), world.render())
        for view in (seat, "actor"):
            env.view = world.view = view
            assert np.array_equal(env.render(), world.render())
        env.view = "all"
    assert differ


def test_without_pillow_only_rendering_fails(monkeypatch):
    real = builtins.__import__

    def without(name, *args, **kwargs):
        if name.split(".")[0] == "PIL":
            raise ImportError("No module named 'PIL'")
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    for make in (cincinnati.env, cincinnati.solo):
        env = make(render_mode="rgb_array")
        env.reset(seed=1)
        with pytest.raises(DependencyNotInstalled, match=f"{re.escape(how_to_install('render'))}$"):
            env.render()
