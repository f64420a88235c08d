"""AgileRL: its PPO and DQN keep to masks in infos, and its IPPO plays all four seats by them."""

from __future__ import annotations

import re
import subprocess
import sys

import numpy as np
import pytest
from support.script_modules import loaded
from support.trainer_runs import points_over_cautious, run_in_seconds

import bideuchre_env
from bideuchre_env.errors import OptionError

pytest.importorskip("agilerl")

from agilerl.algorithms import DQN, IPPO, PPO
from agilerl.rollouts import collect_rollouts

from bideuchre_env.adapters.agilerl import Parallel, make_vec

GAME = bideuchre_env.cincinnati_v0
SMALL = {"latent_dim": 16, "encoder_config": {"hidden_size": [16]}}


class Watched:
    """A batch of tables that counts actions which were not legal."""

    def __init__(self, envs):
        self._envs, self.illegal, self.taken = envs, 0, 0

    def __getattr__(self, name):
        return getattr(self._envs, name)

    def step(self, actions):
        """As the tables' own."""
        legal = self._envs.action_masks()[np.arange(self._envs.num_envs), actions]
        self.illegal += int((~legal).sum())
        self.taken += len(legal)
        return self._envs.step(actions)


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


def test_dqn_keeps_to_the_masks():
    """Random actions and the best ones."""
    envs = make_vec(GAME, 8, episode="hand")
    agent = DQN(envs.single_observation_space, envs.single_action_space, net_config=SMALL)
    seen, info = envs.reset(seed=1)
    for step in range(40):
        actions = agent.get_action(seen, epsilon=step % 2, action_mask=info["action_mask"])
        assert envs.action_masks()[np.arange(8), actions].all()
        seen, _, _, _, info = envs.step(actions)


def test_ippo_finds_its_masks_in_the_infos():
    """It refuses those in observations; with these every seat to act plays legally."""
    env = Parallel(GAME, episode="hand")
    agents = env.possible_agents
    learner = IPPO(
        [env.observation_space(each) for each in agents],
        [env.action_space(each) for each in agents],
        agents,
        net_config=SMALL,
    )
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


def test_options_that_are_not_free_are_refused_in_words():
    """The observation, and the autoreset mode."""
    with pytest.raises(OptionError, match="observation='dict': for AgileRL it is 'flat'"):
        Parallel(GAME, observation="dict")
    with pytest.raises(OptionError, match="autoreset_mode='Disabled': for AgileRL it is"):
        make_vec(GAME, 2, autoreset_mode="Disabled")


def test_a_missing_peft_is_one_line_that_names_the_extra():
    """AgileRL's own import needs it, and does not install it."""
    code = "import sys; sys.modules['peft'] = None\nimport bideuchre_env.adapters.agilerl"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    line = r'.*adapters.agilerl needs peft[\w.]*: pip install "bideuchre_env\[agilerl\]"'
    assert re.fullmatch(line, done.stderr.splitlines()[-1])


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
