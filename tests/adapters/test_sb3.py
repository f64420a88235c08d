"""Stable-Baselines3 and sb3-contrib: many tables as one `VecEnv`, and single environments."""

import numpy as np
import pytest
from gymnasium import make, make_vec
from gymnasium.wrappers.vector import RecordEpisodeStatistics

from bideuchre_env.errors import OptionError
from bideuchre_env.learning.returns import lambda_returns

pytest.importorskip("sb3_contrib")

from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.evaluation import evaluate_policy
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from sb3_contrib.common.wrappers import ActionMasker
from stable_baselines3 import PPO
from stable_baselines3.common.env_checker import check_env
from stable_baselines3.common.vec_env import (
    DummyVecEnv,
    VecCheckNan,
    VecFrameStack,
    VecMonitor,
    VecNormalize,
)

import bideuchre_env
from bideuchre_env import barrie_v0
from bideuchre_env.adapters import sb3
from bideuchre_env.adapters.sb3 import PolicyAgent, SelfPlayPPO, SelfPlayVecEnv, VecEnv
from bideuchre_env.agents import FeatureAgent

ID = "bideuchre/Cincinnati-v0"
SMALL = {"n_steps": 16, "batch_size": 64, "n_epochs": 1, "device": "cpu", "seed": 1}


def tables(n=4, **options):
    """A `VecEnv` of `n` tables, by default with flat observations and episodes of one hand."""
    return VecEnv(n, "cincinnati_v0", **{"episode": "hand", "observation": "flat"} | options)


def last_legal(envs):
    masks = np.array(envs.env_method("action_masks"))
    return masks.shape[1] - 1 - masks[:, ::-1].argmax(axis=1)


@pytest.mark.parametrize("observation", ["flat", "dict"])
@pytest.mark.parametrize("episode", ["hand", "game"])
def test_steps_equal_a_dummy_vec_env(observation, episode):
    options = {"episode": episode, "observation": observation, "opponents": "rule", "max_hands": 3}
    ours, dummy = tables(3, **options), DummyVecEnv([lambda: make(ID, **options)] * 3)
    for envs in (ours, dummy):
        envs.seed(5)
    assert_same(ours.reset(), dummy.reset())
    ends = 0
    for _ in range(80):
        assert_same(*(np.stack(envs.env_method("action_masks")) for envs in (ours, dummy)))
        for name in ("seat", "players", "action_names"):
            assert ours.get_attr(name) == dummy.get_attr(name)
        actions = last_legal(ours)
        (*result, infos), (*expected, expected_infos) = (e.step(actions) for e in (ours, dummy))
        for actual, other in zip(result, expected, strict=True):
            assert_same(actual, other)
        for info, other, done in zip(infos, expected_infos, result[2], strict=True):
            ends += done
            assert_same(info, other if done else {})
            assert not done or type(info["TimeLimit.truncated"]) is bool
    assert ends > 3


def assert_same(actual, expected):
    """Compare arrays of one kind, or dicts of arrays."""
    if isinstance(expected, dict):
        assert sorted(actual) == sorted(expected)
        for name in expected:
            assert_same(actual[name], expected[name])
    else:
        actual, expected = np.asarray(actual), np.asarray(expected)
        assert actual.dtype.kind == expected.dtype.kind
        np.testing.assert_array_equal(actual, expected)


def test_attributes_and_methods_by_row():
    envs = tables(3, seat=2)
    for name in ("seat", "players", "seats", "action_masks", "view", "episode", "rules"):
        assert envs.has_attr(name)
    with pytest.raises(OptionError, match="nothing has been dealt yet"):
        envs.get_attr("seats")
    envs.reset()
    assert is_masking_supported(envs)
    masks = get_action_masks(envs)
    assert (masks.shape, masks.dtype) == ((3, envs.action_space.n), bool)
    rows = envs.env_method("action_masks", indices=[0, 2])
    assert np.array_equal(rows, masks[[0, 2]])
    methods = envs.get_attr("action_masks", [0, 2])
    assert np.array_equal([method() for method in methods], rows)
    assert envs.get_attr("seat", 1) == [2]
    assert envs.env_is_wrapped(ActionMasker, [0, 1]) == [False, False]
    assert not envs.has_attr("nonsense")
    for call in (envs.env_method, envs.get_attr, lambda name: envs.set_attr(name, 1)):
        with pytest.raises(AttributeError, match="nonsense"):
            call("nonsense")
    envs.close()


def test_seeds_and_options_apply_to_the_next_reset_only():
    envs = tables(8, opponents="random")
    envs.seed(3)
    first = envs.reset()
    envs.set_options({"seat": 1, "opponents": "rule", "partner": "random"})
    assert not np.array_equal(envs.reset(), first)
    assert envs.get_attr("seat") == [1] * 8
    players = {"left": "rule", "partner": "random", "right": "rule"}
    assert envs.get_attr("players") == [players] * 8
    envs.seed(3)
    envs.reset()
    assert len(set(envs.get_attr("seat"))) > 1
    envs.set_options([{"seat": 1}] * 7 + [{"seat": 2}])
    with pytest.raises(OptionError, match="the same options for every table"):
        envs.reset()


def test_a_suitable_vector_environment_is_accepted():
    """An environment is suitable with mode SameStep, copies, the CPU, and no Gymnasium wrappers."""
    envs = VecEnv(make_vec(ID, num_envs=4, opponents="rule", observation="flat"))
    assert envs.num_envs == 4
    assert envs.reset().shape == (4, 289)
    for options, message in (
        ({"autoreset_mode": "NextStep"}, "autoreset_mode='NextStep': .* needs 'SameStep'"),
        ({"copy": False}, "copy=False"),
    ):
        with pytest.raises(OptionError, match=message):
            VecEnv(make_vec(ID, num_envs=4, **options))
    on_gpu = make_vec(ID, num_envs=4)
    on_gpu.device = "cuda"
    with pytest.raises(OptionError, match="device='cuda': Stable-Baselines3 needs numpy's arrays"):
        VecEnv(on_gpu)
    for wrapped in (
        RecordEpisodeStatistics(make_vec(ID, num_envs=4)),
        make_vec(ID, num_envs=4, vectorization_mode="sync"),
    ):
        with pytest.raises(OptionError, match=r"(Statistics|Sync).*: expected a SoloVectorEnv"):
            VecEnv(wrapped)


BAD_ARGUMENTS = [(make_vec(ID, num_envs=1), {"opponents": "rule"}, "opponents")]
BAD_ARGUMENTS += [(0, {}, "num_envs"), ("4", {}, "num_envs"), (None, {}, "num_envs")]
BAD_ARGUMENTS += [(4, {"nonsense": 1}, "nonsense")]


@pytest.mark.parametrize(("envs", "options", "message"), BAD_ARGUMENTS)
def test_bad_arguments_are_refused(envs, options, message):
    with pytest.raises(OptionError, match=message):
        VecEnv(envs, **options)


@pytest.mark.slow
def test_maskable_ppo_learns_through_the_wrappers_of_stable_baselines3():
    envs = VecCheckNan(VecMonitor(tables(8)))
    envs = VecNormalize(VecFrameStack(envs, 2), gamma=1.0)
    model = MaskablePPO("MlpPolicy", envs, **SMALL).learn(256)
    assert len(model.ep_info_buffer) > 4
    for episode in model.ep_info_buffer:
        assert episode["l"] >= 1
        assert episode["r"] == int(episode["r"]) != 0  # points, scaled only for learning
    assert envs.env_method("action_masks")[0].dtype == bool


@pytest.mark.parametrize(
    ("policy", "observation"), [("MlpPolicy", "flat"), ("MultiInputPolicy", "dict")]
)
def test_a_model_learns_and_is_evaluated_saved_and_loaded(policy, observation, tmp_path):
    options = {"episode": "hand", "observation": observation}
    check_env(make(ID, **options).unwrapped)
    masked = ActionMasker(make(ID, **options), lambda env: env.unwrapped.action_masks())
    MaskablePPO(policy, masked, **SMALL).learn(32)
    envs = VecMonitor(tables(**options))
    model = MaskablePPO(policy, envs, **SMALL).learn(128)
    mean, _ = evaluate_policy(model, envs, n_eval_episodes=8)
    alone, _ = evaluate_policy(model, make(ID, **options), n_eval_episodes=2, warn=False)
    assert np.isfinite([mean, alone]).all()
    model.save(tmp_path / "model")
    loaded = MaskablePPO.load(tmp_path / "model", env=envs)
    seen, masks = envs.reset(), get_action_masks(envs)
    actions = [m.predict(seen, action_masks=masks, deterministic=True)[0] for m in (model, loaded)]
    assert np.array_equal(*actions)
    assert masks[np.arange(4), actions[0]].all()


@pytest.mark.long
def test_a_policy_without_a_mask_learns_legal_play_only_if_quitting_does_not_pay():
    """With a penalty of 1, PPO learns to quit. The default penalty is the largest loss, 54."""

    def illegal_share(**options):
        options |= {"observation": "features", "skip_forced": True}
        envs = VecMonitor(tables(64, **options), info_keywords=("illegal",))
        settings = SMALL | {"n_steps": 32, "batch_size": 1024, "n_epochs": 10, "gamma": 1.0}
        model = PPO("MlpPolicy", envs, learning_rate=1e-3, stats_window_size=1_000, **settings)
        model.learn(40_000)
        return np.mean([episode["illegal"] for episode in model.ep_info_buffer])

    assert illegal_share(illegal_reward=-1.0) > 0.99
    assert illegal_share() < 0.9


def test_self_play_credits_each_seat_with_its_own_points(tmp_path, monkeypatch):
    """With lambda 1, the return of a decision is what its seat wins until the end of the hand."""
    envs = SelfPlayVecEnv(3, "cincinnati_v0", episode="hand", reward_scale=2.0, skip_forced=True)
    envs.seed(4)
    rates = {"gamma": 1.0, "gae_lambda": 1.0}
    model = SelfPlayPPO("MultiInputPolicy", envs, **rates, **SMALL | {"n_steps": 40})
    collected = []

    def recorded(*arrays, **rates):
        collected.extend(arrays)
        return lambda_returns(*arrays, **rates)

    monkeypatch.setattr(sb3, "lambda_returns", recorded)
    model.learn(120)
    seats, rewards, ended, _ = collected
    assert envs.steps is None
    assert seats.shape == (40, 3)
    assert set(np.unique(seats)) == {0, 1, 2, 3}
    buffer, complete = model.rollout_buffer, 0
    shape = (3, 40)  # the buffer's order after learning: by table
    returns, advantages = buffer.returns.reshape(shape).T, buffer.advantages.reshape(shape).T
    values = buffer.values.reshape(shape).T
    for row in range(3):
        for step in range(40):
            ends = np.flatnonzero(ended[step:, row])
            if not len(ends):
                continue  # an unfinished hand
            last = step + ends[0]
            total = rewards[step : last + 1, row, seats[step, row]].sum()
            assert returns[step, row] == pytest.approx(total, abs=1e-5)
            assert advantages[step, row] == pytest.approx(total - values[step, row], abs=1e-5)
            complete += 1
    assert complete > 50
    model.save(tmp_path / "model")
    again = SelfPlayPPO.load(tmp_path / "model", device="cpu")
    for one, other in zip(model.policy.parameters(), again.policy.parameters(), strict=True):
        assert (one == other).all()


def test_self_play_tables_are_rows_of_vec():
    envs = SelfPlayVecEnv(4, "barrie_v0", episode="hand", observation="features")
    vec = barrie_v0.vec(4, episode="hand", observation="features")
    envs.seed(7)
    seen, info = vec.reset(seed=7)
    assert_same(envs.reset(), seen)
    ends = 0
    for _ in range(60):
        masks = np.stack(envs.env_method("action_masks"))
        assert_same(masks, vec.action_masks())
        actions, seats = masks.argmax(axis=1), info["seat"]
        obs, paid, done, infos = envs.step(actions)
        seen, rewards, terminated, truncated, info = vec.step(actions)
        assert_same(obs, seen)
        assert_same(paid, rewards[np.arange(4), seats])
        assert_same(done, terminated | truncated)
        for i in np.flatnonzero(done):
            assert infos[i]["hands"] == 1
            assert infos[i]["score"].tolist() == info["episode"]["score"][i].tolist()
            ends += 1
    assert ends >= 4
    assert envs.get_attr("render_mode") == [None] * 4
    assert envs.get_attr("seat") == info["seat"].tolist()
    with pytest.raises(OptionError, match=r"env=.*: expected a SelfPlayVecEnv"):
        SelfPlayPPO("MlpPolicy", tables(), **SMALL).learn(16)
    for options, message in (
        ({"copy": False}, "copy=False: for Stable-Baselines3 it is True"),
        ({"reward_scale": 0}, "reward_scale=0: expected a positive number"),
    ):
        with pytest.raises(OptionError, match=message):
            SelfPlayVecEnv(2, **options)


@pytest.mark.slow
def test_a_trained_model_plays_as_an_agent_and_is_saved(tmp_path):
    """It chooses what the model predicts without exploration."""
    options = {"episode": "hand", "observation": "features"}
    model = MaskablePPO("MlpPolicy", VecEnv(8, "cincinnati_v0", **options), n_steps=8, seed=1)
    model.learn(64)
    rules = bideuchre_env.cincinnati_v0.rules
    agent = PolicyAgent(rules, model)
    agent.save(tmp_path / "policy.npz")
    vec = bideuchre_env.cincinnati_v0.vec(100)
    seen, _ = vec.reset(seed=5)
    encoded = vec.features.encode(seen["observation"], vec.action_masks().astype(np.int8))
    predicted, _ = model.predict(encoded.inputs, action_masks=encoded.legal, deterministic=True)
    expected = vec.features.actions(predicted, encoded.symmetries).tolist()
    for each in (agent, FeatureAgent(rules, tmp_path / "policy.npz")):
        masks = vec.action_masks().astype(np.int8)
        assert each.act_rows(seen["observation"], masks).tolist() == expected
