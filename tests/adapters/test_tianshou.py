"""Tianshou: actions are legal, seats get their rewards, collectors and algorithms run."""

import numpy as np
import pytest

import bideuchre_env
from bideuchre_env.errors import IllegalActionError, OptionError

pytest.importorskip("tianshou")

import torch
from gymnasium.spaces import Discrete
from tianshou.algorithm import DQN, PPO
from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
from tianshou.algorithm.modelfree.reinforce import DiscreteActorPolicy
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Batch, Collector, VectorReplayBuffer
from tianshou.utils.net.common import Net
from tianshou.utils.torch_utils import policy_within_training_step

from bideuchre_env.adapters.tianshou import (
    MaskedActor,
    ObservationCritic,
    SeatCollector,
    Seats,
    VecEnv,
)

GAME = bideuchre_env.cincinnati_v0
[SIZE], WIDTH = GAME.vec(1, observation="flat").single_observation_space.shape, 37
ADAM = AdamOptimizerFactory(lr=1e-3)


def small_network(outputs):
    return torch.nn.Sequential(
        torch.nn.Linear(SIZE, 16), torch.nn.Tanh(), torch.nn.Linear(16, outputs)
    )


def actor_policy():
    return DiscreteActorPolicy(
        actor=MaskedActor(small_network(WIDTH)), action_space=Discrete(WIDTH)
    )


def ppo():
    critic = ObservationCritic(small_network(1))
    return PPO(policy=actor_policy(), critic=critic, optim=ADAM, gamma=1.0)


def dqn():
    net = Net(state_shape=(SIZE,), action_shape=WIDTH, hidden_sizes=(16,))
    policy = DiscreteQLearningPolicy(
        model=net, action_space=Discrete(WIDTH), eps_training=0.5, eps_inference=0.5
    )
    return DQN(policy=policy, optim=ADAM, gamma=1.0, target_update_freq=10)


def seat_collector(tables, policy=None, seed=None, **options):
    """A collector of the decisions of all seats, already reset, and its buffer."""
    seats = Seats(GAME, tables, **options)
    buffer = VectorReplayBuffer(len(seats) * 1000, len(seats))
    collector = SeatCollector(policy or actor_policy(), seats, buffer, exploration_noise=True)
    collector.reset(gym_reset_kwargs={"seed": seed})
    return collector, buffer


def assert_all_legal(buffer):
    data = buffer.sample(0)[0]
    assert data.obs.mask[np.arange(len(data)), data.act].all()


def test_every_seat_gets_its_own_rewards():
    """Transitions are the decisions of `vec`; rewards are summed until the next decision."""
    collector, buffer = seat_collector(2, seed=9, episode="hand")
    stats = collector.collect(n_step=300)
    assert stats.n_collected_steps == len(buffer) >= 300
    assert_all_legal(buffer)
    parts = [iter(part.sample(0)[0]) for part in buffer.buffers]
    vec = GAME.vec(2, episode="hand", observation="flat", copy=True)
    observations, info = vec.reset(9)
    pending, checked = {}, 0  # transitions that are not complete, and their rewards so far
    while True:
        masks, ids = info["action_mask"] == 1, np.arange(2) * 4 + info["seat"]
        for table, i in enumerate(ids):
            if i in pending:
                row, reward = pending.pop(i)
                checked += 1
                assert (row.rew, row.terminated, row.done) == (reward, False, False)
                np.testing.assert_array_equal(row.obs_next.obs, observations[table])
                np.testing.assert_array_equal(row.obs_next.mask, masks[table])
        rows = [next(parts[i], None) for i in ids]
        if None in rows:
            break  # the transition of this decision is not collected yet
        for table, (i, row) in enumerate(zip(ids, rows, strict=True)):
            np.testing.assert_array_equal(row.obs.obs, observations[table])
            np.testing.assert_array_equal(row.obs.mask, masks[table])
            pending[i] = row, 0.0
        observations, rewards, terminated, _, info = vec.step(np.array([row.act for row in rows]))
        for i, (row, reward) in list(pending.items()):
            pending[i] = row, reward + float(rewards[i // 4, i % 4])
            if terminated[i // 4]:
                del pending[i]
                checked += 1
                assert row.terminated
                assert row.done
                assert row.rew == reward + float(rewards[i // 4, i % 4])
    assert checked > 250


def test_the_last_transition_of_every_seat_has_the_points_of_the_hand():
    collector, buffer = seat_collector(1, episode="hand")
    stats = collector.collect(n_episode=332)
    assert stats.n_collected_episodes == 332
    ended, rewards = buffer.terminated, buffer.rew
    assert ended.sum() == 332
    assert np.abs(stats.returns).sum() == np.abs(rewards[ended]).sum() == np.abs(rewards).sum()
    hands = stats.returns.reshape(83, 4)  # the sides' points sum to zero
    np.testing.assert_array_equal(hands, hands[:, :1] * [1, -1, 1, -1])
    assert np.count_nonzero(hands[:, 0]) > 70  # some hands are even


def test_a_truncated_episode_is_not_bootstrapped():
    """The value target of a truncated step is the seat's reward, whatever the critic's value."""
    options = {"episode": "game", "reward": "points", "max_hands": 1}
    collector, buffer = seat_collector(2, **options)
    collector.collect(n_episode=40)
    cut = np.flatnonzero(buffer.truncated)
    assert len(cut) >= 40
    values = np.full(len(cut), 7.0)
    returns, _ = PPO.compute_episodic_return(
        buffer[cut], buffer, cut, values, values, gamma=1.0, gae_lambda=1.0
    )
    np.testing.assert_array_equal(returns, buffer.rew[cut])


def assert_learns(learner, buffer):
    sizes = {"batch_size": 64, "repeat": 2} if isinstance(learner, PPO) else {"sample_size": 64}
    with policy_within_training_step(learner.policy):
        losses = learner.update(buffer, **sizes).get_loss_stats_dict()
    assert all(np.isfinite(loss) for loss in losses.values())


@pytest.mark.parametrize("algorithm", [ppo, dqn])
def test_one_algorithm_learns_from_all_seats(algorithm):
    torch.manual_seed(0)
    learner = algorithm()
    collector, buffer = seat_collector(4, learner, episode="hand")
    for _ in range(2):
        collector.collect(n_step=400)
        assert_all_legal(buffer)
        assert_learns(learner, buffer)
        if algorithm is ppo:
            collector.reset_buffer(keep_statistics=True)


@pytest.mark.parametrize("algorithm", [ppo, dqn])
def test_the_collector_of_tianshou_collects_from_one_learner_at_many_tables(algorithm):
    torch.manual_seed(0)
    envs = VecEnv(GAME, 6, opponents="rule", episode="hand")
    learner, buffer = algorithm(), VectorReplayBuffer(6 * 300, 6)
    collector = Collector(learner, envs, buffer, exploration_noise=True)
    collector.reset()
    collector.collect(n_step=300)
    assert len(buffer) == 300
    assert_all_legal(buffer)
    assert_learns(learner, buffer)
    for episodes in (20, 3):
        collector.reset()
        assert collector.collect(n_episode=episodes).n_collected_episodes == episodes
    collector.collect(n_step=60, reset_before_collect=True)


def test_a_table_is_the_solo_environment_of_its_seed():
    envs = VecEnv(GAME, 3, opponents="rule", episode="hand")
    solo = GAME.solo(opponents="rule", episode="hand", observation="flat")
    assert envs.seed(40) == [[40], [41], [42]]
    seen, infos = envs.reset()
    assert [info["env_id"] for info in infos] == [0, 1, 2]
    for row in range(3):
        one, info = solo.reset(seed=40 + row)
        np.testing.assert_array_equal(seen.obs[row], one)
        np.testing.assert_array_equal(seen.mask[row], info["action_mask"] == 1)
    first = seen.mask.argmax(axis=1)
    after, rewards, terminated, truncated, infos = envs.step(first[[0, 2]], [0, 2])
    assert after.obs.shape == (2, SIZE)
    assert rewards.shape == terminated.shape == truncated.shape == (2,)
    assert [info["env_id"] for info in infos] == [0, 2]
    with pytest.raises(IllegalActionError, match=r"table 1: reset\(\) starts an episode"):
        envs.step(first)
    envs.seed(50)
    for row in (1, 0):  # a seed waits for its own table's reset
        seen, _ = envs.reset([row])
        np.testing.assert_array_equal(seen.obs[0], solo.reset(seed=50 + row)[0])
    assert len(envs.action_space) == len(envs) == 3


def test_infos_have_the_result_and_the_players_of_an_episode():
    pool = bideuchre_env.OpponentPool("cautious", "rule")
    options = {"opponents": pool, "partner": "rule", "episode": "hand", "observation": "flat"}
    envs, solo = VecEnv(GAME, 2, **options), GAME.solo(**options)
    seen, infos = envs.reset([0, 1], seed=4)
    _, info = solo.reset(seed=4)
    places = ("left", "partner", "right")
    assert {place: infos[0][place] for place in places} == {place: info[place] for place in places}
    terminated = [False]
    while not terminated[0]:
        action = int(seen.mask[0].argmax())
        seen, _, terminated, _, infos = envs.step([action], [0])
        _, _, _, _, info = solo.step(action)
    del info["action_mask"], info["seat"]
    assert infos[0].keys() == {"env_id", *info}
    for name, value in info.items():
        np.testing.assert_array_equal(infos[0][name], value)


def test_the_mask_of_a_truncated_episode_is_all_true():
    """DQN maximizes over the mask; an empty mask would make Tianshou lower every value."""
    envs = VecEnv(GAME, 2, opponents="random", episode="game", reward="points", max_hands=1)
    seen, _ = envs.reset()
    truncated = np.zeros(2, bool)
    while not truncated.any():
        seen, _, terminated, truncated, _ = envs.step(seen.mask.argmax(axis=1))
        assert not terminated.any()
    assert seen.mask[truncated].all()


def test_the_actor_gives_illegal_actions_no_probability():
    mask = np.zeros((2, WIDTH), bool)
    mask[0, 3] = mask[1, :5] = True
    seen = Batch(obs=np.zeros((2, SIZE), np.float32), mask=mask)
    result = actor_policy()(Batch(obs=seen, info=Batch()))
    assert (result.dist.probs.detach().numpy()[~mask] == 0).all()
    assert result.act[0] == 3
    assert torch.isfinite(result.dist.entropy()).all()


def test_bad_calls_are_refused():
    collector = SeatCollector(actor_policy(), Seats(GAME, 1))
    with pytest.raises(OptionError, match=r"nothing has been dealt yet: call reset\(\)"):
        collector.collect(n_step=4)
    collector.reset()
    with pytest.raises(OptionError, match=r"render=0\.1: expected None; a SeatCollector"):
        collector.collect(n_step=4, render=0.1)
    with pytest.raises(OptionError, match="set_env_attr"):
        VecEnv(GAME, 3).set_env_attr("seat", 1)
    with pytest.raises(OptionError, match="device='cuda': for Tianshou it is 'cpu'"):
        VecEnv(GAME, 2, device="cuda")
