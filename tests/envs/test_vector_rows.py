"""The vector environment: row i with seed s is the AEC environment with seed s + i, bit for bit."""

import numpy as np
import pytest
from oracles.reference import ReferenceGame
from support.playthroughs import VARIANTS
from support.vector_actions import choose

import bideuchre_env
from bideuchre_env.core.state import Outcome
from bideuchre_env.rules.cards import hand_names

PARTS = ("observation", "action_mask")


def transcript(vec, steps, seed, rows):
    """All that a vector environment tells of its first rows, step by step."""
    told = []
    obs, info = vec.reset(seed=seed)
    for step in range(steps):
        seen = [obs["observation"], obs["action_mask"], info["seat"]]
        actions = choose(obs["action_mask"], step)
        told.append([part[:rows].copy() for part in (*seen, actions)])
        obs, rewards, terminated, truncated, info = vec.step(actions)
        ends = (rewards, terminated, truncated, info["_episode"])
        told[-1] += [part[:rows].copy() for part in ends]
        episode = info.get("episode")
        for row in np.flatnonzero(info["_episode"][:rows]):
            told[-1].append({name: value[row].tolist() for name, value in episode.items()})
    return told


def same(a, b, rows):
    """Whether two transcripts agree on their first rows."""
    for step, other in zip(a, b, strict=True):
        for part, twin in zip(step[:8], other[:8], strict=True):
            np.testing.assert_array_equal(part[:rows], twin[:rows])
    return True


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("episode", ["game", "hand"])
def test_rows_are_aec_environments(variant, episode):
    """Seven rows beside seven AEC environments: everything either tells is the same."""
    options = {"episode": episode, "max_hands": 4, "reward": "points"}
    factory = bideuchre_env.variants[variant]
    vec = factory.vec(7, **options)
    envs = [factory.raw_env(**options) for _ in range(7)]
    obs, info = vec.reset(seed=2**64 - 3)
    for i, env in enumerate(envs):
        env.reset(seed=2**64 - 3 + i)
    lengths, finished = [0] * 7, 0
    paid = np.zeros((7, 4))
    for step in range(450):
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
            given = [env.rewards[agent] for agent in env.possible_agents]
            assert rewards[i].tolist() == given
            paid[i] += given
            assert terminated[i] == any(env.terminations.values())
            assert truncated[i] == any(env.truncations.values())
            assert info["_episode"][i] == (terminated[i] or truncated[i])
            if info["_episode"][i]:
                record, told = env.record, info["episode"]
                assert told["r"][i].tolist() == paid[i].tolist()
                assert told["l"][i] == lengths[i]
                assert told["hands"][i] == len(record.hands)
                assert told["score"][i].tolist() == list(record.hands[-1]["score"])
                winner = -1 if record.winner is None else record.winner
                assert told["winner"][i] == winner
                assert Outcome(told["outcome"][i]).name.lower() == (
                    record.outcome or Outcome.UNFINISHED.name.lower()
                )
                lengths[i], finished = 0, finished + 1
                paid[i] = 0
                env.reset()
    assert finished >= (60 if episode == "hand" else 14)


@pytest.mark.parametrize("variant", VARIANTS)
def test_sizes_and_threads_make_no_difference(variant):
    """1, 7 and 4,096 rows, one thread and two and three: the same transcripts."""
    factory = bideuchre_env.variants[variant]
    big = transcript(factory.vec(4096, episode="hand"), 130, 11, 7)
    assert any(len(step) > 8 for step in big)  # episodes have ended in rows 0 to 6
    for n, threads in ((1, 1), (7, 1), (7, 2), (4096, 2), (4096, 3)):
        other = transcript(factory.vec(n, threads=threads, episode="hand"), 130, 11, 7)
        assert same(big, other, min(n, 7))


@pytest.mark.parametrize("variant", VARIANTS)
def test_rows_follow_the_rules(variant):
    """The last of 4,096 rows, beside the reference: turns, legal actions, tricks, points, ends."""
    factory = bideuchre_env.variants[variant].replace(max_hands=4)
    vec = factory.vec(4096, threads=2, reward="points")
    obs, info = vec.reset(seed=5)
    row, games = 4095, 0
    names, slow = vec.action_names, None
    for step in range(420):
        state = vec.get_state()[row]
        if slow is None:
            slow = ReferenceGame(factory.rules.to_dict(), int(state["dealer"]), (0, 0))
        if slow.needs_deal:
            assert slow.dealer == state["dealer"]
            slow.deal([hand_names(hand) for hand in state["hands"]])
        assert info["seat"][row] == slow.to_act
        legal = {names[i] for i in np.flatnonzero(obs["action_mask"][row])}
        assert legal == slow.legal()
        actions = choose(obs["action_mask"], step)
        slow.play(names[actions[row]])
        obs, rewards, terminated, truncated, info = vec.step(actions)
        over = slow.phase == "over"
        assert (terminated[row] or truncated[row]) == over
        if over or slow.needs_deal:
            ours, theirs = slow.last_hand["points"]
            difference = ours - theirs
            assert rewards[row].tolist() == [difference, -difference] * 2
        else:
            assert not rewards[row].any()
        if over:
            assert truncated[row] == (slow.outcome == "truncated")
            assert info["episode"]["score"][row].tolist() == list(slow.score)
            slow, games = None, games + 1
    assert games >= 1
