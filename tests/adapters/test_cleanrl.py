"""The script in CleanRL's style gives each seat its own returns."""

from dataclasses import replace

import numpy as np
import pytest
from support.commands import load_scripts

import bideuchre_env


def test_each_decision_has_the_points_of_its_own_side():
    """With lambda 1 and a critic of zeros, a return is the scaled points of the seat's side.

    Forced moves are not in the batch, and all actions are legal.
    """
    pytest.importorskip("torch")
    with load_scripts("experiments/trainers", "cleanrl_ppo") as [script]:
        vec = bideuchre_env.cincinnati_v0.vec(16, episode="hand", observation="flat")
        agent = script.Agent(289, vec.single_action_space.n, 16)
        storage = script.Storage(48, 16, 289, vec.single_action_space.n)
        script.play(agent, vec, storage, vec.reset(seed=3))
        args = replace(script.Args.parse([]), gae_lambda=1.0)
    storage.values.zero_()
    seats, rewards, ended = storage.seats, storage.rewards, storage.ended
    expected = []
    for t, row in np.argwhere(seats >= 0):
        seat, ends = seats[t, row], np.flatnonzero(ended[t:, row])
        if len(ends):
            expected.append(rewards[t + ends[0], row, seat] / script.SCALE)
        elif (seats[t + 1 :, row] == seat).any():  # otherwise its return is not known
            expected.append(0.0)
    _, masks, actions, log_probs, returns, *_ = storage.batch(args)
    assert len(expected) > 100
    assert np.allclose(returns, expected)
    assert (masks.sum(1) > 1).all()
    assert masks.gather(1, actions[:, None]).all()
    assert (log_probs < 0).all()
    assert (storage.seats == -1).any()
