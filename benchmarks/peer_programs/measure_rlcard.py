"""Measure RLCard's card games, one game at a time from Python."""

from __future__ import annotations

import rlcard
from common import Program, Task, timed, uniform

GAMES = ("bridge", "gin-rummy", "doudizhu", "mahjong", "leduc-holdem", "limit-holdem")


def main() -> None:
    """Serve a task for each game: `env.step`, with the observation and legal actions it returns."""
    program = Program()
    for name in GAMES:
        program.add(name, "AEC raw_env()", lambda name=name: episodes(name))
    program.serve("rlcard", "numpy")


def episodes(name: str) -> Task:
    """Return a task: one game of random legal actions, including its reset."""
    env = rlcard.make(name, config={"seed": 1})

    def run() -> int:
        state, _ = env.reset()
        decisions = 0
        while not env.is_over():
            legal = list(state["legal_actions"])
            state, _ = env.step(legal[int(uniform() * len(legal))])
            decisions += 1
        return decisions

    return timed(run)


if __name__ == "__main__":
    main()
