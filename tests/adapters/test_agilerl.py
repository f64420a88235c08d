"""AgileRL: its PPO and DQN keep to masks in infos, and its IPPO plays all four seats by them."""

from __future__ import annotations

import numpy as np
import pytest
from gymnasium.vector import VectorWrapper
from support.script_modules import loaded
from support.trainer_runs import points_over_cautious, run_in_seconds

import bideuchre_env
from bideuchre_env.errors import OptionError

pytest.importorskip("agilerl")

from agilerl.algorithms import DQN, IPPO, PPO, RainbowDQN
from agilerl.rollouts import collect_rollouts
from agilerl.training.train_multi_agent_on_policy import train_multi_agent_on_policy
from agilerl.training.train_on_policy import train_on_policy
from agilerl.vector.pz_async_vec_env import AsyncPettingZooVecEnv

from bideuchre_env.adapters.agilerl import Parallel, ParallelVec, make_vec

GAME = bideuchre_env.cincinnati_v0
SMALL = {"latent_dim": 16, "encoder_config": {"hidden_size": [16]}}


class Watched(VectorWrapper):
    """A batch of tables that counts actions which were not legal."""

    illegal = taken = 0

    def step(self, actions):
        """As the tables' own."""
        legal = self.env.action_masks()[np.arange(self.num_envs), actions]
        self.illegal += int((~legal).sum())
        self.taken += len(legal)
        return super().step(actions)


def test_ppo_keeps_to_the_masks_and_learns_with_them():
    """`collect_rollouts` passes them on, and they are kept for learning."""
    envs = Watched(make_vec(GAME, 8, opponents="rule", episode="hand"))
    agent = PPO(
        envs.single_observation_space, envs.single_action_space, net_config=SMALL,
        num_envs=8, learn_step=320, batch_size=64,
    )  # fmt: skip
    for _ in range(2):
        scores, *_ = collect_rollouts(agent, envs)
        assert np.isfinite(agent.learn())
    assert envs.taken == 2 * 320
    assert envs.illegal == 0
    assert len(scores) > 20
    kept = agent.rollout_buffer.get_tensor_batch()["action_masks"]
    assert 0 < kept.float().mean() < 1


def test_what_a_hand_pays_reaches_all_its_decisions():
    """Without GAE, as the page says: every decision's return is what its hand came to."""
    envs = make_vec(GAME, 4, opponents="rule", episode="hand")
    agent = PPO(
        envs.single_observation_space, envs.single_action_space, net_config=SMALL,
        num_envs=4, learn_step=160, gamma=1.0, rollout_buffer_config={"use_gae": False},
    )  # fmt: skip
    collect_rollouts(agent, envs)
    kept = agent.rollout_buffer.buffer
    rewards, ended, returns = (
        np.asarray(kept[key]).reshape(40, 4) for key in ("rewards", "dones", "returns")
    )
    hands = 0
    for row in range(4):
        begin = 0
        for end in np.flatnonzero(ended[:, row]):
            paid = rewards[begin : end + 1, row]
            np.testing.assert_allclose(
                returns[begin : end + 1, row], paid.sum() - paid.cumsum() + paid
            )
            begin, hands = end + 1, hands + 1
    assert hands > 12
    assert np.any(returns)


def test_agilerls_own_training_runs():
    """`train_on_policy`, which tests by `agent.test`; every action is legal."""
    envs = Watched(make_vec(GAME, 4, opponents="random", episode="hand"))
    agent = PPO(
        envs.single_observation_space, envs.single_action_space, net_config=SMALL,
        num_envs=4, learn_step=64, batch_size=32, rollout_buffer_config={"use_gae": False},
    )  # fmt: skip
    sizes = {"max_steps": 128, "evo_steps": 64, "eval_steps": 20}
    [trained], _ = train_on_policy(envs, "bid", "PPO", [agent], **sizes, verbose=False)
    assert np.isfinite(trained.test(envs, max_steps=30, loop=1))
    assert envs.taken > 128
    assert envs.illegal == 0


@pytest.mark.parametrize("algorithm", [DQN, RainbowDQN])
def test_dqn_keeps_to_the_masks(algorithm):
    """Random actions and the best ones, as far as it has random ones."""
    envs = make_vec(GAME, 8, episode="hand")
    agent = algorithm(envs.single_observation_space, envs.single_action_space, net_config=SMALL)
    seen, info = envs.reset(seed=1)
    for step in range(40):
        noise = {"epsilon": step % 2} if algorithm is DQN else {}
        actions = agent.get_action(seen, action_mask=info["action_mask"], **noise)
        assert envs.action_masks()[np.arange(8), actions].all()
        seen, _, _, _, info = envs.step(actions)


def ippo(observation_space, action_space, agents):
    """A small IPPO."""
    return IPPO(
        [observation_space(each) for each in agents],
        [action_space(each) for each in agents],
        agents, net_config=SMALL, learn_step=48, batch_size=32,
    )  # fmt: skip


def test_ippo_finds_its_masks_in_the_infos():
    """It refuses those in observations; with these every seat to act plays legally."""
    env = Parallel(GAME, episode="hand")
    agents = env.possible_agents
    learner = ippo(env.observation_space, env.action_space, agents)
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


def test_ippo_plays_and_learns_at_many_tables():
    """Its masks are right at every table, which `AsyncPettingZooVecEnv` alone does not give it."""
    envs = ParallelVec(GAME, 2, episode="hand")
    try:
        agents = list(envs.agents)
        learner = ippo(envs.single_observation_space, envs.single_action_space, agents)
        seen, infos = envs.reset(seed=3)
        arrays = AsyncPettingZooVecEnv._add_info  # what it makes of masks that are arrays
        bare = {}
        for table in range(2):
            masks = {each: {"action_mask": np.ones(37, np.int8)} for each in agents}
            bare = arrays(envs, bare, masks, table)
        with pytest.raises(ValueError, match="truth value of an array with more than one"):
            learner.get_action(seen, bare)
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


@pytest.fixture(scope="module")
def script():
    """`experiments/trainers/agilerl_ppo.py`."""
    with loaded("experiments/trainers", "agilerl_ppo") as [module]:
        yield module


def test_the_script_runs(script, tmp_path, capsys):
    """In seconds; what it keeps is an agent."""
    sizes = ("--steps", "4096", "--tables", "64", "--table-steps", "16")
    run_in_seconds(script, tmp_path, capsys, *sizes)


@pytest.mark.slow
def test_the_script_beats_cautious(script, tmp_path):
    """By 1.5 points per hand; it came to 2.4 and more, the rest is room for other machines."""
    assert points_over_cautious(script, tmp_path).low > 1.5
