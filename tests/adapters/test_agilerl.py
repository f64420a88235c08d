"""AgileRL: its PPO, DQN and IPPO respect the masks in infos; self-play has returns by seat."""

import numpy as np
import pytest
from gymnasium.vector import VectorWrapper
from support.seat_returns import expected_returns

import bideuchre_env
from bideuchre_env.errors import OptionError

pytest.importorskip("agilerl")

from agilerl.algorithms import DQN, IPPO, PPO, RainbowDQN
from agilerl.rollouts import collect_rollouts
from agilerl.training.train_multi_agent_on_policy import train_multi_agent_on_policy
from agilerl.training.train_on_policy import train_on_policy

from bideuchre_env.adapters.agilerl import (
    Parallel,
    ParallelVec,
    PolicyAgent,
    SelfPlayVec,
    collect_self_play,
    make_vec,
)

GAME = bideuchre_env.cincinnati_v0
SMALL = {"latent_dim": 16, "encoder_config": {"hidden_size": [16]}}


class IllegalActionCounter(VectorWrapper):
    illegal = steps = 0

    def step(self, actions):
        legal = self.env.action_masks()[np.arange(self.num_envs), actions]
        self.illegal += int((~legal).sum())
        self.steps += len(legal)
        return super().step(actions)


def test_ppo_acts_and_learns_by_the_masks():
    envs = IllegalActionCounter(make_vec(GAME, 8, opponents="rule", episode="hand"))
    spaces = envs.single_observation_space, envs.single_action_space
    agent = PPO(*spaces, net_config=SMALL, num_envs=8, learn_step=320, batch_size=64)
    scores, *_ = collect_rollouts(agent, envs)
    assert np.isfinite(agent.learn())
    assert (envs.steps, envs.illegal) == (320, 0)
    assert len(scores) > 10
    masks = agent.rollout_buffer.get_tensor_batch()["action_masks"]
    assert 0 < masks.float().mean() < 1
    sizes = {"max_steps": 640, "evo_steps": 320, "eval_steps": 20}
    [trained], _ = train_on_policy(envs, "bid", "PPO", [agent], **sizes, verbose=False)
    assert np.isfinite(trained.test(envs, max_steps=30, loop=1))
    assert envs.steps > 960
    assert envs.illegal == 0


def test_self_play_collects_the_steps_of_vec_with_returns_by_seat():
    """Two rollouts continue the same hands; actions are legal, returns those of the definition."""
    options = {"episode": "hand", "observation": "features", "skip_forced": True}
    tables = SelfPlayVec(GAME, 6, reward_scale=2.0, **options)
    spaces = tables.single_observation_space, tables.single_action_space
    rates = {"gamma": 0.9, "gae_lambda": 0.8}
    agent = PPO(*spaces, net_config=SMALL, num_envs=6, learn_step=240, batch_size=64, **rates)
    vec = GAME.vec(6, **options)
    seen, info = vec.reset(seed=5)
    obs, first = tables.reset(seed=5)
    state = {"last_obs": obs, "last_info": first}
    state |= {"last_done": np.zeros(6), "last_scores": np.zeros(6)}
    for _ in range(2):
        _, obs, done, scores, last = collect_self_play(agent, tables, **state)
        state = {"last_obs": obs, "last_done": done, "last_scores": scores, "last_info": last}
        stored = {name: part.numpy() for name, part in agent.rollout_buffer.buffer.items()}
        seats, rewards, ended = [], [], []
        for step in range(40):
            assert np.array_equal(stored["observations"][step], seen)
            assert np.array_equal(stored["action_masks"][step], info["action_mask"])
            actions = stored["actions"][step, :, 0].astype(np.int64)
            assert vec.action_masks()[np.arange(6), actions].all()
            seats.append(info["seat"])
            seen, paid, terminated, truncated, info = vec.step(actions)
            rewards.append(paid / 2)
            ended.append(terminated | truncated)
            own = paid[np.arange(6), seats[-1]] / 2
            assert np.array_equal(stored["rewards"][step], own)
        arrays = (np.stack(each) for each in (seats, rewards, ended))
        expected = expected_returns(*arrays, stored["values"], 0.9, 0.8)
        finished = np.isfinite(expected)
        assert finished.sum() > 60
        assert np.allclose(stored["returns"][finished], expected[finished], atol=1e-4)
        advantages = stored["returns"] - stored["values"]
        assert np.allclose(stored["advantages"], advantages, atol=1e-5)
        before = [part.clone() for part in agent.actor.parameters()]
        assert np.isfinite(agent.learn())
        assert any((a != b).any() for a, b in zip(before, agent.actor.parameters(), strict=True))
    played = bideuchre_env.match(GAME, PolicyAgent(GAME.rules, agent), "random", boards=5)
    assert np.isfinite(played.boards.points_per_hand.mean)
    for wrong, message in (
        ({"reward_scale": 0}, "reward_scale=0: expected a positive number"),
        ({"observation": "dict"}, "observation='dict': for AgileRL it is 'flat' or 'features'"),
    ):
        with pytest.raises(OptionError, match=message):
            SelfPlayVec(GAME, 2, **wrong)


@pytest.mark.parametrize("algorithm", [DQN, RainbowDQN])
def test_dqn_takes_legal_actions(algorithm):
    envs = make_vec(GAME, 8, episode="hand")
    agent = algorithm(envs.single_observation_space, envs.single_action_space, net_config=SMALL)
    seen, info = envs.reset(seed=1)
    for step in range(40):
        noise = {"epsilon": step % 2} if algorithm is DQN else {}
        actions = agent.get_action(seen, action_mask=info["action_mask"], **noise)
        assert envs.action_masks()[np.arange(8), actions].all()
        seen, _, _, _, info = envs.step(actions)


def small_ippo(observation_space, action_space, agents):
    spaces = [observation_space(each) for each in agents], [action_space(each) for each in agents]
    return IPPO(*spaces, agents, net_config=SMALL, learn_step=48, batch_size=32)


def test_ippo_takes_legal_actions_at_one_table():
    env = Parallel(GAME, episode="hand")
    agents = env.possible_agents
    learner = small_ippo(env.observation_space, env.action_space, agents)
    seen, infos = env.reset(seed=3)
    moves = 0
    while env.agents:
        actions = learner.get_action(seen, infos)[0]
        masks = {each: infos[each]["action_mask"] for each in agents}
        [actor] = [each for each, mask in masks.items() if any(mask)]
        assert masks[actor][int(actions[actor].item())] == 1
        seen, _, _, _, infos = env.step({each: int(a.item()) for each, a in actions.items()})
        moves += 1
    assert moves > 20


def test_ippo_takes_legal_actions_and_learns_at_many_tables():
    envs = ParallelVec(GAME, 2, episode="hand")
    try:
        agents = list(envs.agents)
        learner = small_ippo(envs.single_observation_space, envs.single_action_space, agents)
        seen, infos = envs.reset(seed=3)
        for _ in range(40):
            actions = learner.get_action(seen, infos)[0]
            masks = {each: np.reshape(infos[each]["action_mask"], (2, -1)) for each in agents}
            for table in range(2):
                [actor] = [each for each in agents if masks[each][table].any()]
                assert masks[actor][table, int(actions[actor][table])] == 1
            seen, _, _, _, infos = envs.step(actions)
        sizes = {"max_steps": 96, "evo_steps": 48, "eval_steps": 8}
        train_multi_agent_on_policy(envs, "bid", "IPPO", [learner], **sizes, verbose=False)
    finally:
        envs.close(terminate=True)
    with pytest.raises(OptionError, match="num_envs=0"):
        ParallelVec(GAME, 0)
