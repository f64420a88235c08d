"""Decisions of games, one by one from the AEC environment: the content of a dataset."""

from typing import Any

import numpy as np
from support.playthroughs import Chooser, over, start

from bideuchre_env import make
from bideuchre_env.envs.aec.bookkeeping import AGENT_NAMES


def game_decisions(
    variant: str, seed: int, *, episode: str, reward: str, **options: Any
) -> tuple[list[list[dict[str, Any]]], Any]:
    """Play a whole game by `Chooser(seed)`; return its decisions by episode, and its record.

    A decision is a dict with most columns of a dataset. The rewards of a step are added to each
    agent's own last decision.
    """
    env = start(variant, seed, reward=reward, **options)
    choose, episodes, hand = Chooser(seed), [], 0
    decisions: list[dict[str, Any]] = []
    last: dict[str, dict[str, Any]] = {}
    while not over(env):
        agent = env.agent_selection
        seen = env.observe(agent)
        action = choose(env)
        dealt = int(env.get_state()["hands_dealt"][0])
        env.step(action)
        last[agent] = {
            "observation": seen["observation"],
            "action_mask": seen["action_mask"].astype(bool),
            "action": action,
            "reward": 0.0,
            "terminated": False,
            "truncated": False,
            "seat": AGENT_NAMES.index(agent),
            "forced": int(seen["action_mask"].sum()) == 1,
            "hand": hand,
            "decision": len(decisions),
        }
        decisions.append(last[agent])
        for each in last:
            last[each]["reward"] += env.rewards[each]
        ended = over(env)
        if ended or int(env.get_state()["hands_dealt"][0]) != dealt:
            hand += 1
            if ended or episode == "hand":
                for each in last:
                    cut = env.truncations[each] and episode == "game"
                    last[each]["truncated" if cut else "terminated"] = True
                episodes.append(decisions)
                decisions, last = [], {}
                hand = hand if episode == "game" else 0
    return episodes, env.record


def columns_by_hand(episodes: list[list[dict[str, Any]]], gamma: float) -> dict[str, Any]:
    """The columns of a dataset of these decisions, except the players' names.

    The return of a decision discounts rewards by `gamma` for each later decision of the seat.
    """
    rows = []
    for number, decisions in enumerate(episodes):
        returns = [0.0] * 4
        for row in reversed(decisions):
            returns[row["seat"]] = row["reward"] + gamma * returns[row["seat"]]
            row["return"], row["episode"] = returns[row["seat"]], number
        rows += decisions
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}


def only_dealt(seed: int, hands: int = 0) -> Any:
    """The record of a Barrie game that stops right after the deal that follows `hands` hands."""
    env = make("barrie_v0").raw_env()
    env.reset(seed=seed)
    while len(env.record.hands) <= hands:
        legal = env.observe(env.agent_selection)["action_mask"]
        env.step(int(np.flatnonzero(legal)[0]))
    assert env.record.hands[-1]["actions"] == []
    return env.record
