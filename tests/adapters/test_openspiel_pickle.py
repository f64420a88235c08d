"""Pickled games of OpenSpiel are the same games in another process."""

import pickle
import subprocess
import sys

import pytest
from support.playthroughs import VARIANTS

import bideuchre_env

pytest.importorskip("pyspiel")

import pyspiel

from bideuchre_env.adapters import openspiel

READ = """
import pickle, sys
for game, text, rules in pickle.load(open(sys.argv[1], "rb")):
    assert (str(game), game.rules) == (text, rules)
    print(game)
"""


def test_a_pickled_game_is_the_same_game_in_another_process(tmp_path):
    """All variants and a registered custom game, which the other process has not registered."""
    rules = bideuchre_env.Rules(ranks="J", partnered=(1, 2), target=10)
    own = openspiel.register(bideuchre_env.make(rules, name="pickled_v0"))
    names = [*(f"bideuchre_{name}" for name in VARIANTS), own]
    games = [pyspiel.load_game(f"{name}(dealer=2,episode=game)") for name in names]
    pickled = pickle.dumps([(game, str(game), game.rules) for game in games])
    (tmp_path / "games").write_bytes(pickled)
    done = subprocess.run(
        [sys.executable, "-c", READ, tmp_path / "games"], capture_output=True, text=True
    )
    assert (done.stdout.splitlines(), done.stderr) == (list(map(str, games)), "")
