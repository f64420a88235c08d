"""`bideuchre export`: its options reach the dataset."""

import io
import json
import sys
from pathlib import Path

import numpy as np
import pytest
from support.commands import run

from bideuchre_env import selfplay


@pytest.fixture
def games():
    """A file of six games."""
    selfplay.play("six_card_v0", "rule", "random", games=6, seed=4, out="games.jsonl")
    return "games.jsonl"


def test_export_prints_the_size_of_the_dataset(games, capsys, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(Path(games).read_bytes())))
    for source in (games, "-"):
        assert run("export", source, "out.npz", "--force") == 0
        out, err = capsys.readouterr()
        with np.load("out.npz") as file:
            decisions = len(file["action"])
            metadata = json.loads(str(file["metadata"]))
        assert (out, err) == (f"out.npz: {decisions:,} decisions in 6 episodes of 6 games\n", "")
        options = {"episode": "game", "reward": "win", "gamma": 1.0, "forced": True}
        assert options.items() <= metadata.items()


def test_every_option_reaches_the_dataset(games, capsys):
    options = ("--episode", "hand", "--reward", "win", "--gamma", "0.5", "--no-forced")
    more = ("--observation", "flat", "--player", "rule")
    assert run("export", games, games, "out.npz", *options, *more) == 0
    assert "of 12 games\n" in capsys.readouterr().out
    with np.load("out.npz") as file:
        metadata = json.loads(str(file["metadata"]))
        assert set(file["players"][file["player"]]) == {"rule"}
        assert file["observation"].dtype == np.float32
        assert not file["forced"].any()
    expected = {"episode": "hand", "reward": "win", "gamma": 0.5, "forced": False, "player": "rule"}
    assert expected.items() <= metadata.items()
