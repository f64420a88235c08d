"""AgileRL: its PPO, DQN and IPPO respect the masks in infos, at one table and at many."""

import numpy as np
import pytest
from gymnasium.vector import VectorWrapper

import bideuchre_env
from bideuchre_env.errors import OptionError

pytest.importorskip("agilerl")

from agilerl.algorithms import DQN, IPPO, PPO, RainbowDQN
from agilerl.rollouts import collect_rollouts
from agilerl.training.train_multi_agent_on_policy import train_multi_agent_on_policy
from agilerl.training.train_on_policy import train_on_policy

from bideuchre_env.adapters.agilerl import Parallel, ParallelVec, make_vec

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
