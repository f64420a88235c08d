"""RLlib's new API stack: its environments are ours, its module learns on them, and as an agent."""

import numpy as np
import pytest
from support.playthroughs import VARIANTS
from support.ray_clusters import settings_for_ray
from support.script_modules import loaded
from support.trainer_runs import points_over_cautious, run_in_seconds

import bideuchre_env
from bideuchre_env.errors import IllegalActionError, OptionError

pytest.importorskip("ray.rllib")
pytest.importorskip("torch")

import ray
import torch

from bideuchre_env.adapters import rllib

MARGIN = 0.5  # points per hand; runs of 200,000 decisions came to 1.6


@pytest.fixture(scope="module")
def local_ray():
    """Ray in this process, with files in a folder that goes afterwards."""
    with pytest.MonkeyPatch.context() as patch, settings_for_ray(patch):
        ray.init(num_cpus=1, include_dashboard=False, object_store_memory=128 << 20)
        yield
        ray.shutdown()


def legal(seen, rng):
    """An action that a mask allows."""
    return int(rng.choice(np.flatnonzero(seen["action_mask"])))


def agree(seen, raw, agent):
    """An observation is the AEC environment's, in RLlib's form."""
    theirs = raw.observe(agent)
    scaled = raw.observation_layout.scaled(theirs["observation"])
    assert (seen["observations"] == scaled).all()
    assert (seen["action_mask"] == theirs["action_mask"]).all()
    assert {part.dtype for part in seen.values()} == {np.dtype(np.float32)}


@pytest.mark.parametrize("name", VARIANTS)
def test_self_play_is_the_aec_environment(name):
    """Deals, turns, views, and what each seat has been paid when it is told."""
    rng = np.random.default_rng(1)
    raw = bideuchre_env.variants[name].raw_env(max_hands=8, reward="points")
    env = rllib.MultiAgentEnv({"game": name, "max_hands": 8, "reward": "points"})
    raw.reset(seed=4)
    seen, infos = env.reset(seed=4)
    assert seen.keys() == infos.keys()
    paid, due = dict.fromkeys(env.possible_agents, 0.0), dict.fromkeys(raw.possible_agents, 0.0)
    while True:
        [agent] = seen
        assert agent == raw.agent_selection
        assert env.observation_spaces[agent].contains(seen[agent])
        agree(seen[agent], raw, agent)
        action = legal(seen[agent], rng)
        seen, rewards, terminated, truncated, infos = env.step({agent: action})
        raw.step(action)
        for each, reward in raw.rewards.items():
            due[each] += reward
        for each, reward in rewards.items():
            paid[each] += reward
        assert seen.keys() == rewards.keys() == infos.keys()
        if terminated["__all__"] or truncated["__all__"]:
            break
    assert list(seen) == env.possible_agents  # the end is told to all
    assert paid == due
    assert any(paid.values())
    assert truncated["__all__"] is not terminated["__all__"] is raw.terminations["player_0"]
    assert [*terminated] == [*truncated] == [*env.possible_agents, "__all__"]
    for agent, final in seen.items():
        agree(final, raw, agent)
        assert not final["action_mask"].any()


def test_an_illegal_action_ends_the_episode(caplog, capsys):
    """As RLlib's own check of environments needs it, which draws blindly; nothing is printed."""
    from ray.rllib.utils.pre_checks.env import check_multiagent_environments

    env = rllib.MultiAgentEnv({"episode": "hand"})
    seen, _ = env.reset(seed=1)
    [agent] = seen
    action = int(np.flatnonzero(seen[agent]["action_mask"] == 0)[0])
    seen, rewards, terminated, _, _ = env.step({agent: action})
    assert rewards == {agent: -1.0}  # nobody else has acted
    assert terminated["__all__"]
    for seed in range(10):
        env.action_spaces["player_0"].seed(seed)
        check_multiagent_environments(env)
    printed = capsys.readouterr()
    assert "llegal" not in caplog.text + printed.out + printed.err


def test_what_is_refused():
    """Actions of others than the seat to act, options that are none, what is no game."""
    env = rllib.MultiAgentEnv({"game": "barrie_v0"})
    [agent] = env.reset(seed=1)[0]
    for actions in ({}, {"player_9": 0}, dict.fromkeys(env.possible_agents, 0)):
        with pytest.raises(IllegalActionError, match=f"{agent} is to act, and nobody else"):
            env.step(actions)
    with pytest.raises(OptionError, match="unexpected keyword argument 'opponents'"):
        rllib.MultiAgentEnv({"opponents": "rule"})
    for kind in (rllib.Env, rllib.MultiAgentEnv):
        with pytest.raises(OptionError, match="observation='round': one of 'dict', 'flat'"):
            kind({"observation": "round"})
    with pytest.raises(OptionError, match="'whist' is no variant"):
        rllib.Env({"game": "whist"})
    with pytest.raises(OptionError, match="a Rules value"):
        rllib.ModuleAgent(None, "barrie_v0")


def test_one_learner_is_the_solo_environment():
    """With its options; observations in RLlib's form."""
    options = {"opponents": "cautious", "seat": 2, "episode": "hand"}
    env, solo = rllib.Env({"game": "barrie_v0", **options}), bideuchre_env.barrie_v0.solo(**options)
    rng = np.random.default_rng(2)
    for seed in range(5):
        (seen, info), (plain, _) = env.reset(seed=seed), solo.reset(seed=seed)
        assert info["seat"] == 2
        over = False
        while not over:
            assert env.observation_space.contains(seen)
            assert (seen["action_mask"] == plain["action_mask"]).all()
            assert (
                seen["observations"] == solo.observation_layout.scaled(plain["observation"])
            ).all()
            action = legal(seen, rng)
            seen, reward, over, _, _ = env.step(action)
            plain, same, *_ = solo.step(action)
            assert reward == same


@pytest.mark.parametrize("kind", [rllib.Env, rllib.MultiAgentEnv])
def test_one_array(kind):
    """With "flat": the observations of the other form, without their masks."""
    config = {"episode": "hand", "seat": 0} if kind is rllib.Env else {"episode": "hand"}
    flat, masked = kind(config | {"observation": "flat"}), kind(config)
    rng, over = np.random.default_rng(3), False
    got, wanted = flat.reset(seed=6)[0], masked.reset(seed=6)[0]
    while not over:
        if kind is rllib.Env:
            got, wanted = {0: got}, {0: wanted}
        else:
            assert flat.observation_spaces["player_0"].contains(next(iter(got.values())))
        for agent, seen in got.items():
            assert seen.dtype == np.float32
            assert np.array_equal(seen, wanted[agent]["observations"])
        [agent] = wanted
        action = legal(wanted[agent], rng)
        action = action if kind is rllib.Env else {agent: action}
        (got, *_), (wanted, _, over, *_) = flat.step(action), masked.step(action)
        over = over if kind is rllib.Env else over["__all__"]


@pytest.mark.parametrize("kind", [rllib.Env, rllib.MultiAgentEnv])
def test_pictures_for_rllibs_callbacks(kind):
    """`render_mode` is the environment's own, and `render` draws in it."""
    env = kind({"render_mode": "ansi"})
    env.reset(seed=1)
    assert env.render_mode == "ansi"
    assert "ansi" in env.metadata["render_modes"]
    assert "dealer" in env.render()
    env.close()


def trainer(**config):
    """PPO on a few tables with one learner each."""
    from ray.rllib.algorithms.ppo import PPOConfig

    return (
        PPOConfig()
        .environment(rllib.Env, env_config={"episode": "hand", **config})
        .env_runners(num_env_runners=0, num_envs_per_env_runner=4)
        .training(train_batch_size_per_learner=100, minibatch_size=50, num_epochs=1)
    )


def plays_on(algorithm):
    """Whether what it has learned is finite, and its module an agent; stops it."""
    learner = algorithm.train()["learners"]["default_policy"]
    agent = rllib.ModuleAgent(algorithm.get_module(), bideuchre_env.cincinnati_v0.rules)
    algorithm.stop()
    result = bideuchre_env.match.play("cincinnati_v0", agent, "random", boards=10)
    return np.isfinite([learner["total_loss"], result.boards.points_per_hand.mean]).all()


def test_the_masked_module_learns_one_seat(local_ray):
    """No KeyError 'observations'; every action is legal."""
    config = trainer(illegal_reward=-1000.0).rl_module(rl_module_spec=rllib.masked_module((16,)))
    algorithm = config.build_algo()
    assert algorithm.train()["env_runners"]["episode_return_min"] > -1000
    assert plays_on(algorithm)


def test_the_default_module_learns_from_one_array(local_ray):
    """On dicts it ends in 'No default encoder config'; with "flat" it learns, without masks."""
    with pytest.raises(ValueError, match="No default encoder config"):
        trainer().build_algo()
    assert plays_on(trainer(observation="flat").build_algo())


def test_a_module_is_given_tensors_on_its_own_device():
    """As one is that has learned on a graphics processor; its answers come back from there."""

    class OnDevice(torch.nn.Linear):
        observation_space = None

        def forward_inference(self, batch):
            assert batch["obs"].device == self.weight.device == torch.device("meta")
            return {"action_dist_inputs": torch.zeros(len(batch["obs"]), self.out_features)}

    rules = bideuchre_env.cincinnati_v0.rules
    env = bideuchre_env.cincinnati_v0.vec(3)
    seen, _ = env.reset(seed=1)
    masks = env.action_masks()
    agent = rllib.ModuleAgent(OnDevice(289, masks.shape[1], device="meta"), rules)
    observations = seen["observation"] if isinstance(seen, dict) else seen
    assert agent.act_rows(observations, masks).tolist() == masks.argmax(axis=1).tolist()


# --- the script -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def script():
    """`experiments/trainers/rllib_ppo.py`."""
    with loaded("experiments/trainers", "rllib_ppo") as [module]:
        yield module


def test_the_script_learns_in_seconds(local_ray, script, tmp_path, capsys):
    """Self-play with one network; its policy can be named as an agent."""
    small = ("--steps", "500", "--batch", "500", "--tables", "8", "--epochs", "1")
    run_in_seconds(script, tmp_path, capsys, *small)


@pytest.mark.slow
def test_the_script_beats_cautious(local_ray, script, tmp_path):
    """By a margin, after a whole run."""
    assert points_over_cautious(script, tmp_path).low > MARGIN
