"""RLlib's new API stack: environments, and modules that learn and play as agents."""

import numpy as np
import pytest
from support.playthroughs import VARIANTS
from support.seat_returns import expected_returns

import bideuchre_env
from bideuchre_env.errors import IllegalActionError, OptionError

pytest.importorskip("ray.rllib")
pytest.importorskip("torch")

import torch
from ray.rllib.core.columns import Columns
from ray.rllib.evaluation.postprocessing import Postprocessing

from bideuchre_env.adapters import rllib


def random_legal(seen, rng):
    return int(rng.choice(np.flatnonzero(seen["action_mask"])))


def assert_same_observation(seen, raw, agent):
    expected = raw.observe(agent)
    scaled = raw.observation_layout.scaled(expected["observation"])
    assert (seen["observations"] == scaled).all()
    assert (seen["action_mask"] == expected["action_mask"]).all()
    assert {part.dtype for part in seen.values()} == {np.dtype(np.float32)}


@pytest.mark.parametrize("name", VARIANTS)
def test_self_play_equals_the_aec_environment(name):
    """Deals, turns, observations and rewards agree; "flat" has observations without masks.

    With "features", observations, masks and actions are those of `FeatureEncoder`.
    """
    rng, config = np.random.default_rng(1), {"game": name, "max_hands": 4, "reward": "points"}
    raw = bideuchre_env.variants[name].raw_env(max_hands=4, reward="points")
    env, flat, features = (
        rllib.MultiAgentEnv(config | {"observation": form}) for form in ("dict", "flat", "features")
    )
    raw.reset(seed=4)
    (seen, infos), (arrays, _), (inputs, _) = (e.reset(seed=4) for e in (env, flat, features))
    assert seen.keys() == infos.keys()
    rewarded = dict.fromkeys(env.possible_agents, 0.0)
    expected = dict.fromkeys(raw.possible_agents, 0.0)
    over, payments = False, 0
    while not over:
        [agent] = seen
        assert agent == raw.agent_selection
        assert env.observation_spaces[agent].contains(seen[agent])
        assert flat.observation_spaces[agent].contains(arrays[agent])
        assert np.array_equal(arrays[agent], seen[agent]["observations"])
        assert_same_observation(seen[agent], raw, agent)
        encoded = raw.features.encode(*(part[None] for part in raw.observe(agent).values()))
        assert features.observation_spaces[agent].contains(inputs[agent])
        assert np.array_equal(inputs[agent]["observations"], encoded.inputs[0])
        assert np.array_equal(inputs[agent]["action_mask"], encoded.legal[0])
        action = random_legal(seen[agent], rng)
        seen, rewards, terminated, truncated, infos = env.step({agent: action})
        arrays, *_ = flat.step({agent: action})
        renamed = raw.features.renamed(np.array([action]), encoded.symmetries)
        inputs, own_rewards, *_ = features.step({agent: renamed[0]})
        assert own_rewards == rewards
        raw.step(action)
        for each, reward in raw.rewards.items():
            expected[each] += reward
        for each, reward in rewards.items():
            rewarded[each] += reward
            payments += reward != 0
        assert seen.keys() == rewards.keys() == infos.keys()
        over = terminated["__all__"] or truncated["__all__"]
    assert list(seen) == env.possible_agents  # all agents get a final observation
    assert rewarded == expected
    assert payments > 0
    assert truncated["__all__"] is not terminated["__all__"] is raw.terminations["player_0"]
    assert [*terminated] == [*truncated] == [*env.possible_agents, "__all__"]
    for agent, final in seen.items():
        assert_same_observation(final, raw, agent)
        assert not final["action_mask"].any()


def test_an_illegal_action_ends_the_episode_without_a_warning(caplog, capsys):
    """RLlib's environment check, which samples actions without masks, prints no warning either."""
    from ray.rllib.utils.pre_checks.env import check_multiagent_environments

    env = rllib.MultiAgentEnv({"episode": "hand"})
    seen, _ = env.reset(seed=1)
    [agent] = seen
    action = int(np.flatnonzero(seen[agent]["action_mask"] == 0)[0])
    seen, rewards, terminated, _, _ = env.step({agent: action})
    assert rewards == {agent: -54.0}  # no other seat has acted
    assert terminated["__all__"]
    for seed in range(5):
        env.action_spaces["player_0"].seed(seed)
        check_multiagent_environments(env)
    printed = capsys.readouterr()
    assert "llegal" not in caplog.text + printed.out + printed.err


def test_bad_actions_and_options_are_refused():
    env = rllib.MultiAgentEnv({"game": "barrie_v0"})
    [agent] = env.reset(seed=1)[0]
    for actions in ({}, {"player_9": 0}, dict.fromkeys(env.possible_agents, 0)):
        with pytest.raises(IllegalActionError, match=f"expected an action of {agent} only"):
            env.step(actions)
    with pytest.raises(OptionError, match="unexpected keyword argument 'opponents'"):
        rllib.MultiAgentEnv({"opponents": "rule"})
    for kind in (rllib.Env, rllib.MultiAgentEnv):
        with pytest.raises(
            OptionError, match="observation='round': expected one of 'dict', 'flat'"
        ):
            kind({"observation": "round"})
    with pytest.raises(OptionError, match="'whist' is no variant"):
        rllib.Env({"game": "whist"})
    with pytest.raises(OptionError, match="a Rules value"):
        rllib.PolicyAgent("barrie_v0", None)


def test_one_learner_equals_the_solo_environment():
    options = {"opponents": "cautious", "seat": 2, "episode": "hand"}
    env = rllib.Env({"game": "barrie_v0", **options})
    flat = rllib.Env({"game": "barrie_v0", "observation": "flat", **options})
    solo, rng = bideuchre_env.barrie_v0.solo(**options), np.random.default_rng(2)
    for seed in range(3):
        (seen, info), (array, _), (plain, _) = (e.reset(seed=seed) for e in (env, flat, solo))
        assert info["seat"] == 2
        over = False
        while not over:
            assert env.observation_space.contains(seen)
            assert (seen["action_mask"] == plain["action_mask"]).all()
            scaled = solo.observation_layout.scaled(plain["observation"])
            assert (seen["observations"] == scaled).all()
            assert np.array_equal(array, scaled)
            action = random_legal(seen, rng)
            (seen, reward, over, *_), (array, *_), (plain, expected, *_) = (
                e.step(action) for e in (env, flat, solo)
            )
            assert reward == expected


@pytest.mark.parametrize("kind", [rllib.Env, rllib.MultiAgentEnv])
def test_environments_render(kind):
    env = kind({"render_mode": "ansi"})
    env.reset(seed=1)
    assert env.render_mode == "ansi"
    assert "ansi" in env.metadata["render_modes"]
    assert "dealer" in env.render()
    env.close()


def ppo_config(**config):
    from ray.rllib.algorithms.ppo import PPOConfig

    return (
        PPOConfig()
        .environment(rllib.Env, env_config={"episode": "hand", **config})
        .env_runners(num_env_runners=0, num_envs_per_env_runner=4)
        .training(train_batch_size_per_learner=100, minibatch_size=50, num_epochs=1)
    )


@pytest.mark.parametrize("masked", [True, False])
def test_a_module_learns_and_plays_as_an_agent(local_ray, masked):
    """The masked module takes only legal actions; RLlib's default module needs "flat"."""
    config = ppo_config(illegal_reward=-1000.0, observation="dict" if masked else "flat")
    if masked:
        config = config.rl_module(rl_module_spec=rllib.masked_module((16,)))
    algorithm = config.build_algo()
    result = algorithm.train()
    rules, module = bideuchre_env.cincinnati_v0.rules, algorithm.get_module()
    agent = rllib.PolicyAgent(rules, module, observation="flat")
    algorithm.stop()
    assert np.isfinite(result["learners"]["default_policy"]["total_loss"])
    assert not masked or result["env_runners"]["episode_return_min"] > -1000
    played = bideuchre_env.match("cincinnati_v0", agent, "random", boards=10)
    assert np.isfinite(played.boards.points_per_hand.mean)


def self_play_config(tables, steps, **options):
    return (
        rllib.SelfPlayConfig()
        .environment(env_config={"game": "barrie_v0", "episode": "hand", **options})
        .env_runners(num_envs_per_env_runner=tables)
        .rl_module(rl_module_spec=rllib.masked_module((16,), vf_share_layers=False))
        .training(train_batch_size_per_learner=tables * steps, minibatch_size=64, num_epochs=1)
        .training(gamma=0.9, lambda_=0.8)
        .debugging(seed=3)
    )


@pytest.mark.parametrize("explore", [True, False])
def test_a_runner_collects_the_steps_of_vec(local_ray, explore):
    """Two rollouts continue the same hands; actions are legal, with their log-probabilities."""
    runner = rllib.SelfPlayRunner(config=self_play_config(5, 30, skip_forced=True), worker_index=1)
    options = {"episode": "hand", "observation": "features", "skip_forced": True}
    vec = bideuchre_env.barrie_v0.vec(5, **options)
    seen, info = vec.reset(seed=3 + 5)  # the first process that plays has other deals than seed 3
    for _ in range(2):
        [rollout] = runner.sample(num_timesteps=146, explore=explore)  # rounded up to all tables
        assert len(rollout) == 150
        columns = rollout.columns
        for step in range(30):
            mask, actions = vec.action_masks(), columns[Columns.ACTIONS][step]
            assert np.array_equal(columns[Columns.OBS][step], seen)
            assert np.array_equal(columns["action_mask"][step], mask)
            assert mask[np.arange(5), actions].all()
            logits = columns[Columns.ACTION_DIST_INPUTS][step]
            assert explore or np.array_equal(actions, logits.argmax(axis=1))
            log_probs = torch.log_softmax(torch.from_numpy(logits), 1).numpy()
            drawn = log_probs[np.arange(5), actions]
            assert np.allclose(columns[Columns.ACTION_LOGP][step], drawn, atol=1e-5)
            assert np.array_equal(columns["seats"][step], info["seat"])
            seen, rewards, terminated, truncated, info = vec.step(actions)
            assert np.array_equal(columns["rewards"][step], rewards)
            assert np.array_equal(columns["ended"][step], terminated | truncated)
    assert runner.get_metrics()["num_env_steps_sampled"].peek() == 300
    for wrong in ({"num_episodes": 1}, {"num_timesteps": 5, "random_actions": True}):
        with pytest.raises(OptionError, match="SelfPlayRunner samples steps by its module"):
            runner.sample(**wrong)
    with pytest.raises(OptionError, match="observation='dict': for RLlib it is 'features'"):
        rllib.SelfPlayEnv({"observation": "dict"})


def test_self_play_learns_from_returns_by_seat(local_ray):
    """The learner's batch has the returns of the definition, and standardized advantages."""
    algorithm = self_play_config(8, 60).build_algo()
    try:
        [rollout] = algorithm.env_runner.sample(num_timesteps=480)
        modules = algorithm.learner_group._learner.module
        module = modules["default_policy"]
        batch = rllib.SeatReturns()(rl_module=modules, episodes=[rollout])["default_policy"]
        columns = rollout.columns
        inputs = torch.from_numpy(columns[Columns.OBS])
        with torch.no_grad():
            values = module.compute_values({Columns.OBS: inputs.flatten(0, 1)})
        arrays = (columns[name] for name in ("seats", "rewards", "ended"))
        expected = expected_returns(*arrays, values.reshape(60, 8).numpy(), 0.9, 0.8)
        returns = {
            row.numpy().tobytes(): float(target)
            for row, target in zip(
                batch[Columns.OBS], batch[Postprocessing.VALUE_TARGETS], strict=True
            )
        }
        finished = np.argwhere(np.isfinite(expected))
        assert len(finished) > 200
        for step, row in finished:
            actual = returns[columns[Columns.OBS][step, row].tobytes()]
            assert actual == pytest.approx(expected[step, row], abs=1e-3)
        assert float(batch[Postprocessing.ADVANTAGES].mean()) == pytest.approx(0, abs=1e-4)
        assert float(batch[Postprocessing.ADVANTAGES].std()) == pytest.approx(1, abs=1e-3)
        before = [part.clone() for part in module.parameters()]
        result = algorithm.train()
        assert any((a != b).any() for a, b in zip(before, module.parameters(), strict=True))
        assert np.isfinite(result["learners"]["default_policy"]["total_loss"])
        assert result["env_runners"]["num_env_steps_sampled_lifetime"] == 960
        rules = bideuchre_env.barrie_v0.rules
        agent = rllib.PolicyAgent(rules, algorithm.get_module())
    finally:
        algorithm.stop()
    played = bideuchre_env.match("barrie_v0", agent, "random", boards=5)
    assert np.isfinite(played.boards.points_per_hand.mean)


def test_a_module_receives_tensors_on_its_own_device():

    class OnDevice(torch.nn.Linear):
        observation_space = None

        def forward_inference(self, batch):
            assert batch["obs"].device == self.weight.device == torch.device("meta")
            return {"action_dist_inputs": torch.zeros(len(batch["obs"]), self.out_features)}

    vec = bideuchre_env.cincinnati_v0.vec(3)
    seen, _ = vec.reset(seed=1)
    masks = vec.action_masks()
    module = OnDevice(289, masks.shape[1], device="meta")
    rules = bideuchre_env.cincinnati_v0.rules
    agent = rllib.PolicyAgent(rules, module, observation="flat")
    actions = agent.act_rows(seen["observation"], masks.astype(np.int8))
    assert actions.tolist() == masks.argmax(axis=1).tolist()
