"""Measure PettingZoo's classic games in the AEC loop, with and without standard wrappers."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from common import Program, Task, timed, uniform

GAMES = (
    *("connect_four_v3", "leduc_holdem_v4", "rps_v2", "texas_holdem_v4"),
    *("texas_holdem_no_limit_v6", "hanabi_v5"),
)
RAW, WRAPPED = "AEC raw_env()", "AEC env()"


def main() -> None:
    """Serve two tasks of each game, raw and wrapped, and OpenSpiel's euchre through Shimmy."""
    program = Program()
    for game in GAMES:
        name = game.rpartition("_v")[0]
        program.add(f"{name} raw_env()", RAW, lambda game=game: episodes(new_env(game, "raw_env")))
        program.add(f"{name} env()", WRAPPED, lambda game=game: episodes(new_env(game, "env")))
    program.add("OpenSpiel's euchre through Shimmy", RAW, lambda: episodes(shimmy("euchre")))
    program.serve("pettingzoo", "gymnasium", "rlcard", "shimmy", "numpy")


def new_env(game: str, way: str) -> Any:
    """Return a classic game by the function `way` of its module: `env` or `raw_env`."""
    return getattr(import_module(f"pettingzoo.classic.{game}"), way)()


def shimmy(name: str) -> Any:
    """Return an OpenSpiel game as an AEC environment."""
    from shimmy.openspiel_compatibility import OpenSpielCompatibilityV0

    return OpenSpielCompatibilityV0(game_name=name)


def episodes(env: Any) -> Task:
    """Return a task: one random game with `last()` at every step; final steps do not count.

    A final step is the step with None of an agent whose game is over. The mask of legal actions
    comes from the observation or the info; without a mask all actions are legal.
    """
    env.reset(seed=1)

    def run() -> int:
        decisions = 0
        env.reset()
        for agent in env.agent_iter():
            observation, _, terminated, truncated, info = env.last()
            if terminated or truncated:
                env.step(None)
                continue
            decisions += 1
            mask = observation["action_mask"] if isinstance(observation, dict) else None
            mask = info.get("action_mask") if mask is None else mask
            if mask is None:
                env.step(int(uniform() * env.action_space(agent).n))
                continue
            legal = mask.nonzero()[0]
            env.step(legal[int(uniform() * len(legal))])
        return decisions

    return timed(run)


if __name__ == "__main__":
    main()
