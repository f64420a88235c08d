"""Row i of a vector environment with seed s equals the AEC environment with seed s + i."""

import numpy as np
import pytest
from support.playthroughs import VARIANTS, choose

import bideuchre_env
from bideuchre_env.core.state import Outcome

PARTS = ("observation", "action_mask")


def transcript(vec, steps, seed, rows):
    """Step `vec` `steps` times; return a list for each step: its arrays for the first rows.

    They are the observations, masks, seats, actions, rewards and ends of episodes.
    """
    results = []
    obs, info = vec.reset(seed=seed)
    for step in range(steps):
        seen = [obs["observation"], obs["action_mask"], info["seat"]]
        actions = choose(obs["action_mask"], step)
        results.append([part[:rows].copy() for part in (*seen, actions)])
        obs, rewards, terminated, truncated, info = vec.step(actions)
        ends = (rewards, terminated, truncated, info["_episode"])
        results[-1] += [part[:rows].copy() for part in ends]
    return results


def assert_agree(a, b, rows):
    """Fail unless two transcripts agree on their first rows."""
    for step, other in zip(a, b, strict=True):
        for part, twin in zip(step, other, strict=True):
            np.testing.assert_array_equal(part[:rows], twin[:rows])


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("episode", ["game", "hand"])
def test_rows_are_aec_environments(variant, episode):
    options = {"episode": episode, "max_hands": 4, "reward": "points"}
    factory = bideuchre_env.variants[variant]
    vec = factory.vec(7, **options)
    envs = [factory.raw_env(**options) for _ in range(7)]
    obs, info = vec.reset(seed=2**64 - 3)
    for i, env in enumerate(envs):
        env.reset(seed=2**64 - 3 + i)
    lengths, finished = [0] * 7, 0
    paid = np.zeros((7, 4))
    for step in range(300):
        for i, env in enumerate(envs):
            seen = env.observe(env.agent_selection)
            for part in PARTS:
                np.testing.assert_array_equal(obs[part][i], seen[part])
            assert env.agent_selection == f"player_{info['seat'][i]}"
        actions = choose(obs["action_mask"], step)
        obs, rewards, terminated, truncated, info = vec.step(actions)
        for i, env in enumerate(envs):
            env.step(int(actions[i]))
            lengths[i] += 1
            payments = [env.rewards[agent] for agent in env.possible_agents]
            assert rewards[i].tolist() == payments
            paid[i] += payments
            assert terminated[i] == any(env.terminations.values())
            assert truncated[i] == any(env.truncations.values())
            assert info["_episode"][i] == (terminated[i] or truncated[i])
            if info["_episode"][i]:
                record, episodes = env.record, info["episode"]
                assert episodes["r"][i].tolist() == paid[i].tolist()
                assert episodes["l"][i] == lengths[i]
                assert episodes["hands"][i] == len(record.hands)
                assert episodes["score"][i].tolist() == list(record.hands[-1]["score"])
                winner = -1 if record.winner is None else record.winner
                assert episodes["winner"][i] == winner
                assert Outcome(episodes["outcome"][i]).name.lower() == (
                    record.outcome or Outcome.UNFINISHED.name.lower()
                )
                lengths[i], finished = 0, finished + 1
                paid[i] = 0
                env.reset()
    assert finished >= (40 if episode == "hand" else 7)


@pytest.mark.parametrize("variant", VARIANTS)
def test_number_of_rows_and_threads_changes_nothing(variant):
    factory = bideuchre_env.variants[variant]
    vec = factory.vec(1000, episode="hand")
    big = transcript(vec, 90, 11, 7)
    assert any(step[-1].any() for step in big)  # episodes have ended in rows 0 to 6
    for n, threads in ((1, 1), (7, 2), (1000, 3)):
        other = factory.vec(n, threads=threads, episode="hand")
        assert_agree(big, transcript(other, 90, 11, 7), min(n, 7))
    assert other.get_state().tobytes() == vec.get_state().tobytes()
