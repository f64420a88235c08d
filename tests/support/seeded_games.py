"""Print a transcript of seeded games through every interface: `python -m support.seeded_games`.

`.ci/versions` compares it between versions of Python and of the dependencies. With the argument
`tables` it prints only the games of many tables.
"""

import io
import os
import sys
import tempfile
from contextlib import redirect_stdout
from pathlib import Path

import gymnasium
import numpy as np
import pettingzoo

import bideuchre_env
from bideuchre_env.cli.main import main


def aec_games():
    """Print a record of every variant, through PettingZoo's registry where it has one."""
    for name, variant in bideuchre_env.variants.items():
        stem, version = name.rsplit("_v", 1)
        made = f"bideuchre/{stem.replace('_', '-')}-v{version}"
        registry = hasattr(pettingzoo, "make")
        env = pettingzoo.make("aec", made) if registry else variant()
        env.reset(seed=7)
        for agent in env.agent_iter(3_000):
            observation, _, over, cut, _ = env.last()
            legal = np.flatnonzero(observation["action_mask"])
            env.step(None if over or cut else int(legal[len(legal) // 2]))
            assert agent in env.possible_agents
        print(env.unwrapped.record.dumps())


def learner_games():
    """Print rewards and observations of one learner, and of many."""
    env = gymnasium.make("bideuchre/Barrie-v0", opponents="cautious", episode="hand")
    observation, info = env.reset(seed=3)
    for _ in range(60):
        action = int(info["action_mask"].argmax())
        observation, reward, over, cut, info = env.step(action)
        print(action, reward, over, cut, int(np.sum(observation["observation"])))
        if over or cut:
            observation, info = env.reset()
    vec = gymnasium.make_vec("bideuchre/Cincinnati-v0", num_envs=50, opponents="cautious")
    observations, _ = vec.reset(seed=3)
    for _ in range(60):
        actions = observations["action_mask"].argmax(axis=1)
        observations, rewards, *_ = vec.step(actions)
        print(float(rewards.sum()), int(observations["observation"].sum()))


def table_games():
    """Print the state of many tables that two threads step."""
    vec = bideuchre_env.double_deck_v0.vec(600, threads=2)
    vec.reset(seed=3)
    for _ in range(100):
        vec.step(vec.sample())
    print(vec.get_state().tobytes().hex()[:2_000])


def commands():
    """Print records and pages of games that the command plays; change to the root folder."""
    play = ("selfplay", "--games", "2", "--seed", "5", "--out", "games.jsonl")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        with redirect_stdout(io.StringIO()):  # its times
            assert main([*play, "--agents", "cautious", "random"]) == 0
        print(Path("games.jsonl").read_text(encoding="utf-8"))
        for arguments in (["show", "games.jsonl", "--game", "2"], ["check", "games.jsonl"]):
            sys.stdout.flush()
            assert main(arguments) == 0
        os.chdir(os.sep)


if __name__ == "__main__":
    if sys.argv[1:] == ["tables"]:
        sys.exit(table_games())
    aec_games()
    learner_games()
    table_games()
    commands()
