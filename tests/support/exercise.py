"""Checksums and transcripts of games, decisions of agents: `python -m support.exercise PART`.

`tox -e versions` compares the transcript between versions of Python and of the dependencies.
"""

import hashlib
import io
import os
import sys
import tempfile
from contextlib import redirect_stdout
from pathlib import Path
from unittest import mock
from zlib import crc32

import gymnasium
import numpy as np
import pettingzoo

import bideuchre_env
from bideuchre_env import GameRecord, agents, make
from bideuchre_env.agents.search import sampler
from bideuchre_env.cli.main import main

EXERCISED = (
    ("cincinnati_v0", {}),
    ("club_v0", {"partnered": None, "lone": [{"name": "call-3", "value": 9, "exchange": 3}]}),
    ("simplified_v0", {"dealer_may_equal": "lone"}),
    ("barrie_v0", {"opening_lead": "eldest", "all_pass": "eldest_forced"}),
    ("six_card_v0", {"win_rule": "any", "both_over": "highest", "target": 3}),
    ("double_deck_v0", {}),
)


def exercise(games, episode):
    """A checksum of states, views, redeals, records and texts of random games of `EXERCISED`."""
    digest = hashlib.sha256()
    for name, options in EXERCISED:
        for game in range(games):
            variant = make(name, **({"max_hands": 4} | options))
            env = variant.raw_env(episode=episode, render_mode="ansi")
            env.reset(seed=2**70 * game + 5)
            ply = 0
            while not any(env.terminations.values()) and not any(env.truncations.values()):
                legal = np.flatnonzero(env.infos[env.agent_selection]["action_mask"])
                add_position(env, digest)
                if ply % 9 == 0:
                    for seat in range(4):
                        add_position(env.resample_hidden(seat, np.random.default_rng(ply)), digest)
                env.step(int(legal[crc32(f"{game} {ply}".encode()) % len(legal)]))
                ply += 1
            line = env.record.dumps()
            assert GameRecord.loads(line).dumps() == line
            digest.update(line.encode())
            digest.update(env.render().encode())
    return digest.hexdigest()


def add_position(env, digest):
    """Add the state, and every player's observation, to a checksum."""
    for field in env._states.dtype.names:
        digest.update(env._states[field].tobytes())
    for agent in env.possible_agents:
        for part in env.observe(agent).values():
            digest.update(part.tobytes())
    digest.update(env.state().tobytes())


def exercise_searchers():
    """Decisions of expert, net and inference with few worlds, as text."""
    decisions = []
    for name in ("cincinnati_v0", "barrie_v0"):
        env = make(name).raw_env(episode="hand")
        env.reset(seed=4, options={"score": [-9, 14]})  # a score below 0 is usual
        rule = agents.make("rule", env.rules)
        # for points: a table of the chance to win takes plain Python minutes
        players = [agents.make(agent, env.rules, goal="points") for agent in ("expert", "net")]
        few = {"worlds": 2, "played_out": 2, "considered": 3, "solved": 1}
        players.append(agents.make("inference", env.rules, goal="points", seed=1, **few))
        for ply in range(24):
            seen, *_ = env.last()
            row, mask = seen["observation"], seen["action_mask"]
            if mask.sum() > 1 and ply in (1, 12, 13, 20):
                # weighing 100,000 hands takes plain Python minutes too
                with mock.patch.object(sampler, "list_caller", return_value=False):
                    decisions.append([int(player.act(row, mask)) for player in players])
                plan = players[2].space.plans[0]
                decisions.append(np.round(plan["sums"][: plan["n"]], 6).tolist())
            env.step(int(rule.act(row, mask)))
    return str(decisions)


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
            assert main([*play, "cautious", "random"]) == 0
        print(Path("games.jsonl").read_text(encoding="utf-8"))
        for arguments in (["show", "games.jsonl", "--game", "2"], ["check", "games.jsonl"]):
            sys.stdout.flush()
            assert main(arguments) == 0
        os.chdir(os.sep)


def transcript():
    """Print a transcript of seeded games through every interface, for `tox -e versions`."""
    aec_games()
    learner_games()
    table_games()
    commands()


PARTS = {
    "short": lambda: exercise(1, "hand"),
    "long": lambda: exercise(15, "game"),
    "searchers": exercise_searchers,
}

PRINTED = {"tables": table_games, "transcript": transcript}

if __name__ == "__main__":
    part = sys.argv[1]
    if part in PRINTED:
        PRINTED[part]()
    else:
        print(PARTS[part]())
