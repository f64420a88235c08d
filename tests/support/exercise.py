"""Everything there is to see of some games, and what solver and agents say, as a checksum.

`python -m support.exercise 3`, in the folder of the tests, plays three games of everything;
`python -m support.exercise players` solves some endings and lets the quick agents play;
`python -m support.exercise searchers` asks those that search for a few decisions.
"""

from __future__ import annotations

import hashlib
import sys
from unittest import mock
from zlib import crc32

import numpy as np
from support import solver_positions
from support.agent_games import play_on, start

from bideuchre_env import GameRecord, agents, make, solver
from bideuchre_env.agents.search import sampler

EXERCISED = (
    ("cincinnati_v0", {}),
    ("simplified_v0", {"dealer_may_equal": "lone"}),
    ("club_v0", {"partnered": None, "lone": [{"name": "call-3", "value": 9, "exchange": 3}]}),
    ("barrie_v0", {"opening_lead": "eldest", "all_pass": "eldest_forced"}),
    ("six_card_v0", {"win_rule": "any", "both_over": "highest", "target": 3}),
    ("double_deck_v0", {}),
)


def exercise(games):
    """A checksum of some games of every kind: rows, masks, views, redeals, records, pictures."""
    seen = hashlib.sha256()
    for name, options in EXERCISED:
        for game in range(games):
            env = make(name, **({"max_hands": 4} | options)).raw_env(render_mode="ansi")
            env.reset(seed=2**70 * game + 5)
            ply = 0
            while not any(env.terminations.values()) and not any(env.truncations.values()):
                legal = np.flatnonzero(env.infos[env.agent_selection]["action_mask"])
                look(env, seen)
                if ply % 9 == 0:
                    for seat in range(4):
                        look(env.resample_hidden(seat, np.random.default_rng(ply)), seen)
                env.step(int(legal[crc32(f"{game} {ply}".encode()) % len(legal)]))
                ply += 1
            line = env.record.dumps()
            assert GameRecord.loads(line).dumps() == line
            seen.update(line.encode())
            seen.update(env.render().encode())
    return seen.hexdigest()


def look(env, seen):
    """Add everything there is to see of a position to the checksum."""
    for field in env._states.dtype.names:
        seen.update(env._states[field].tobytes())
    for agent in env.possible_agents:
        for part in env.observe(agent).values():
            seen.update(part.tobytes())
    seen.update(env.state().tobytes())


def exercise_players():
    """A checksum of the worth of some endings of every deck, and of hands of the quick agents."""
    seen = hashlib.sha256()
    endings = solver_positions.random_endings(60, seed=3)
    for rules in solver_positions.RULES.values():
        rows = solver_positions.Ending.rows([e for e in endings if e.rules == rules])
        seen.update(np.array(solver.solve_batch(rows, rules, threads=1)).tobytes())
    for name in ("cincinnati_v0", "barrie_v0"):
        rules = make(name).rules
        sides = [agents.make(agent, rules) for agent in ("rule", "expert")]
        play_on(rules, start(rules, 8), sides, watch=lambda *parts: seen.update(parts[2].tobytes()))
    return seen.hexdigest()


def exercise_searchers():
    """What expert, net and one that searches decide in a hand or two, with few worlds, in words."""
    told = []
    for name in ("cincinnati_v0", "barrie_v0"):
        env = make(name).raw_env(episode="hand")
        env.reset(seed=4, options={"score": [-9, 14]})  # a score below 0 is usual
        rule = agents.make("rule", env.rules)
        # for points: a table of the chance to win takes plain Python minutes
        players = [agents.make(agent, env.rules, goal="points") for agent in ("expert", "net")]
        few = {
            "goal": "points",
            "seed": 1,
            "worlds": 2,
            "played_out": 2,
            "considered": 3,
            "solved": 1,
        }
        players.append(agents.make("inference", env.rules, **few))
        for ply in range(24):
            seen, *_ = env.last()
            row, mask = seen["observation"], seen["action_mask"]
            if mask.sum() > 1 and ply in (1, 12, 13, 20):
                # weighing 100,000 hands takes plain Python minutes too
                with mock.patch.object(sampler, "list_caller", return_value=False):
                    told.append([int(player.act(row, mask)) for player in players])
                plan = players[2].space.plans[0]
                told.append(np.round(plan["sums"][: plan["n"]], 6).tolist())
            env.step(int(rule.act(row, mask)))
    return str(told)


PARTS = {"players": exercise_players, "searchers": exercise_searchers}

if __name__ == "__main__":
    asked = sys.argv[1]
    print(PARTS[asked]() if asked in PARTS else exercise(int(asked)))
