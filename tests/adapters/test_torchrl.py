"""TorchRL environments: TorchRL's checks, masks, resets of rows, and rewards by seat."""

from itertools import pairwise

import gymnasium
import numpy as np
import pytest

import bideuchre_env

pytest.importorskip("torchrl")

import torch
from torchrl.envs import ActionMask, GymEnv, GymWrapper, PettingZooWrapper, TransformedEnv
from torchrl.envs.utils import check_env_specs
from torchrl.modules import MaskedCategorical

from bideuchre_env.adapters import torchrl as adapter

GAME = bideuchre_env.cincinnati_v0
both_environments = pytest.mark.parametrize("kind", [adapter.Env, adapter.SelfPlayEnv])


def random_legal(tensordict):
    mask = tensordict["action_mask"]
    actions = MaskedCategorical(logits=torch.zeros(mask.shape), mask=mask).sample()
    return tensordict.set("action", actions)


@both_environments
def test_specs_pass_the_check_of_torchrl_and_random_play_is_legal(kind):
    env = TransformedEnv(kind("cincinnati_v0", 16, episode="hand"), ActionMask())
    check_env_specs(env, seed=5)
    env.set_seed(5)
    data = env.rollout(60, break_when_any_done=False)
    assert data["observation"].shape == (16, 60, 289)
    assert data["observation"].dtype == torch.float32
    assert data["action_mask"].shape == (16, 60, env.action_spec.n)
    assert data["action_mask"].dtype == torch.bool
    assert data["action_mask"].gather(-1, data["action"][..., None]).all()
    assert data["next", "done"].sum() > 16
    assert not data["done"].any()  # no action is taken in a row that is over


def test_a_row_equals_the_solo_environment_of_its_seed():
    options = {"opponents": "rule", "episode": "hand"}
    env = adapter.Env("cincinnati_v0", 2, **options)
    env.set_seed(30)
    data = env.rollout(50, random_legal, break_when_any_done=False)
    for row in range(2):
        solo = GAME.solo(observation="flat", **options)
        seen, info = solo.reset(seed=30 + row)
        for step in range(50):
            np.testing.assert_array_equal(data["observation"][row, step], seen)
            np.testing.assert_array_equal(data["action_mask"][row, step], info["action_mask"] == 1)
            seen, reward, terminated, _, info = solo.step(int(data["action"][row, step]))
            assert float(data["next", "reward"][row, step, 0]) == reward
            assert bool(data["next", "terminated"][row, step, 0]) == terminated
            np.testing.assert_array_equal(data["next", "observation"][row, step], seen)
            if terminated:
                seen, info = solo.reset()


@both_environments
def test_a_reset_of_some_rows_leaves_the_others(kind):
    """`_reset` is the mask of rows; a seed waits for the reset of its own row."""
    env = kind("cincinnati_v0", 3, episode="hand")
    env.set_seed(40)
    first = env.reset()
    data = after = env.step(random_legal(first.clone()))["next"]
    env.set_seed(40)
    for row, expected in ((1, [False, True, False]), (0, [True, True, False]), (2, [True] * 3)):
        chosen = torch.arange(3)[:, None] == row
        data = env.reset(data.clone().set("_reset", chosen))
        assert (data["observation"] == first["observation"]).all(1).tolist() == expected
        same = (data["observation"] == after["observation"]).all(1)
        assert same.tolist() == [not each for each in expected]
    env.step(random_legal(data))


@both_environments
def test_the_end_of_an_episode_has_its_result(kind):
    env = kind("cincinnati_v0", 4, episode="game", max_hands=10)
    env.set_seed(1)
    data = env.rollout(400, random_legal, break_when_any_done=False)["next"]
    ended = data["done"][..., 0]
    score, hands, winner = (data[key][ended] for key in ("score", "hands", "winner"))
    assert len(score) >= 4
    assert ((hands >= 1) & (hands <= 10)).all()
    won = winner >= 0
    assert torch.equal(won, data["terminated"][ended][:, 0])
    assert torch.equal(score[won].argmax(1), winner[won])


def test_self_play_equals_vec():
    env = adapter.SelfPlayEnv("cincinnati_v0", 5, episode="hand")
    env.set_seed(12)
    data = env.rollout(70, random_legal, break_when_any_done=False)
    vec = GAME.vec(5, episode="hand", observation="flat", copy=True)
    seen, info = vec.reset(seed=12)
    for step in range(70):
        row = data[:, step]
        np.testing.assert_array_equal(row["observation"], seen)
        np.testing.assert_array_equal(row["seat"], info["seat"])
        seen, rewards, terminated, _, info = vec.step(row["action"].numpy())
        np.testing.assert_array_equal(row["next", "reward"], rewards)
        np.testing.assert_array_equal(row["next", "terminated"][:, 0], terminated)


def test_the_points_of_a_seat_reach_its_own_decisions():
    """With zero values and lambda 1, a decision's target is its seat's points of the hand."""
    env = adapter.SelfPlayEnv("cincinnati_v0", 6, episode="hand")
    env.set_seed(2)
    data = env.rollout(80, random_legal, break_when_any_done=False)
    data["state_value"] = torch.zeros(6, 80, 1)
    adapter.add_advantages(data, lambda_=1.0)
    hands = 0
    for row in range(6):
        ends = [-1, *data["next", "done"][row, :, 0].nonzero()[:, 0].tolist()]
        for before, end in pairwise(ends):
            hand = data[row, before + 1 : end + 1]
            points = hand["next", "reward"].sum(0)
            assert torch.equal(hand["value_target"][:, 0], points[hand["seat"].long()])
            assert torch.equal(hand["advantage"], hand["value_target"])
            hands += 1
        assert data["complete"][row, : ends[-1] + 1].all()
        for seat in range(4):  # in an unfinished hand, all but the last decision are complete
            steps = (data["seat"][row, ends[-1] + 1 :] == seat).nonzero()[:, 0] + ends[-1] + 1
            assert data["complete"][row, steps[:-1]].all()
            assert not data["complete"][row, steps[-1]]
    assert hands >= 12


def test_the_wrappers_of_torchrl_work_without_an_adapter():
    check_env_specs(GymEnv("bideuchre/Cincinnati-v0", episode="hand"))
    batch = gymnasium.make_vec(
        "bideuchre/Cincinnati-v0", num_envs=4, vectorization_mode="vector_entry_point",
        autoreset_mode="Disabled", episode="hand",
    )  # fmt: skip
    check_env_specs(GymWrapper(batch))
    four = PettingZooWrapper(GAME.env(episode="hand"), use_mask=True)
    check_env_specs(four)
    assert four.rollout(40).shape[0] > 20
