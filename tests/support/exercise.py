"""Checksums of games, and decisions of agents: `python -m support.exercise PART`."""

import hashlib
import sys
from unittest import mock
from zlib import crc32

import numpy as np

from bideuchre_env import GameRecord, agents, make
from bideuchre_env.agents.search import sampler

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


PARTS = {
    "short": lambda: exercise(1, "hand"),
    "long": lambda: exercise(15, "game"),
    "searchers": exercise_searchers,
}

if __name__ == "__main__":
    print(PARTS[sys.argv[1]]())
