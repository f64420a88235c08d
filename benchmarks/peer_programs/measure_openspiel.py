"""Measure OpenSpiel's card games: steps from Python, and C++ loops."""

from __future__ import annotations

import ctypes
import os
import subprocess
import tempfile
from collections.abc import Callable
from functools import lru_cache
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import open_spiel
import pyspiel
from common import Program, Task, timed, uniform
from open_spiel.python import rl_environment
from open_spiel.python.observation import make_observation

GAMES = {
    "euchre": "euchre",
    "bridge": "bridge(use_double_dummy_result=false)",  # otherwise the play is a table look-up
    "spades": "spades",
    "hearts": "hearts",
}
LOOP = Path(__file__).with_name("openspiel_loop.cc")
LOOKS = ("nothing", "mask", "mask and tensor")  # output before a decision, as in the C++ loop
ROLLOUTS = 200
LENGTH_GAMES = 400
PYTHON, ROLLED, OBSERVED = "AEC raw_env()", "rollouts", "rollouts, observing"


def main() -> None:
    """Serve the tasks of the four games that are most similar to Bid Euchre."""
    program = Program()
    for name, full in GAMES.items():
        game = pyspiel.load_game(full)
        program.add(f"{name}, C++ rollouts after the deal", ROLLED, lambda g=game: rollouts(g))
        for look, way in enumerate(LOOKS):
            like = OBSERVED if look else ROLLED
            program.add(f"{name}, C++, {way}", like, lambda f=full, k=look: looping(f, k))
        program.add(f"{name}, Python", PYTHON, lambda g=game: stepping(g, nothing))
    game = pyspiel.load_game("euchre")
    watch = make_observation(game, pyspiel.IIGObservationType(perfect_recall=True))

    def as_array(state: Any) -> None:
        state.legal_actions_mask()
        watch.set_from(state, state.current_player())

    def as_list(state: Any) -> None:
        state.legal_actions_mask()
        np.asarray(state.information_state_tensor(), np.float32)

    ways = {"mask": lambda state: state.legal_actions_mask()}
    ways |= {"mask and tensor in an array": as_array, "mask and tensor as a list": as_list}
    for way, look in ways.items():
        program.add(f"euchre, Python, {way}", PYTHON, lambda look=look: stepping(game, look))
    program.add("euchre, rl_environment", PYTHON, lambda: environment("euchre"))
    program.serve("open_spiel", "numpy")


def nothing(state: Any) -> None:
    """Do nothing: play without observations."""


def play(state: Any, look: Callable[[Any], Any] = nothing) -> int:
    """Play from `state` at random to the end; return the number of decisions.

    Chance moves are not counted. `look(state)` is called before every decision.
    """
    decisions = 0
    while not state.is_terminal():
        legal = state.legal_actions()
        if not state.is_chance_node():
            look(state)
            decisions += 1
        state.apply_action(legal[int(uniform() * len(legal))])
    return decisions


def dealt(game: Any) -> Any:
    """Return a new state after a random deal."""
    state = game.new_initial_state()
    while state.is_chance_node():
        legal = state.legal_actions()
        state.apply_action(legal[int(uniform() * len(legal))])
    return state


def stepping(game: Any, look: Callable[[Any], Any]) -> Task:
    """Return a task: one random game from Python, with `look` called before every decision."""
    return timed(lambda: play(game.new_initial_state(), look))


def rollouts(game: Any) -> Task:
    """Return a task: the random rollouts of OpenSpiel's tree search, which never leave C++.

    The search starts after a random deal. Its two simulations roll out from that state and from
    one decision later; the time of the tree itself is negligible.
    """
    # the rollouts do not count decisions: use the mean number in games from the start
    length = sum(play(game.new_initial_state()) for _ in range(LENGTH_GAMES)) / LENGTH_GAMES
    evaluator = pyspiel.RandomRolloutEvaluator(n_rollouts=ROLLOUTS, seed=1)
    bot = pyspiel.MCTSBot(game, evaluator, 1.0, 2, 10, False, 7, False)
    decisions = round(ROLLOUTS * (2 * length - 1))

    def run() -> tuple[int, float]:
        state = dealt(game)

        def search() -> int:
            bot.step(state)
            return decisions

        return timed(search)()

    return run


@lru_cache
def loop() -> Any:
    """Compile `openspiel_loop.cc` with OpenSpiel's headers; return its function `play_games`.

    Raise `RuntimeError` if it cannot be compiled.
    """
    source = Path(open_spiel.__file__).parent
    headers = (source.parent, source, source / "abseil-cpp", source / "json" / "include")
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "loop.so"
        options = ["-O3", "-march=native", "-std=c++17", "-shared", "-fPIC"]
        options += [f"-I{path}" for path in headers]
        command = [os.environ.get("CXX", "g++"), *options, str(LOOP), "-o", str(library)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"{LOOP.name} cannot be compiled: {done.stderr.strip()}")
        ctypes.CDLL(pyspiel.__file__, mode=ctypes.RTLD_GLOBAL)  # has the symbols of the loop
        play_games = ctypes.CDLL(str(library)).play_games
    play_games.restype = ctypes.c_long
    play_games.argtypes = [ctypes.c_char_p, ctypes.c_long, ctypes.c_int, ctypes.c_uint]
    return play_games


def looping(name: str, look: int) -> Task:
    """Return a task: 100 whole games in C++; before each decision `LOOKS[look]` is written."""
    play_games, seeds = loop(), count(1)
    return timed(lambda: int(play_games(name.encode(), 100, look, next(seeds))))


def environment(name: str) -> Task:
    """Return a task: an episode of `rl_environment`, which OpenSpiel's learning algorithms use."""
    env = rl_environment.Environment(name)

    def run() -> int:
        decisions = 0
        step = env.reset()
        while not step.last():
            seat = step.observations["current_player"]
            legal = step.observations["legal_actions"][seat]
            step = env.step([legal[int(uniform() * len(legal))]])
            decisions += 1
        return decisions

    return timed(run)


if __name__ == "__main__":
    main()
