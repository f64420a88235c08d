"""Odd values, and sound ones of everything that the package's functions take."""

from __future__ import annotations

import itertools
from pathlib import Path
from types import SimpleNamespace

import numpy as np

import bideuchre_env
from bideuchre_env import agents, datasets, records_io, selfplay, sequential
from bideuchre_env.learning import features, fitting, network, weights
from bideuchre_env.play.session import Session
from bideuchre_env.rules.variants import RULES

GAME = bideuchre_env.cincinnati_v0
RULES_OF_IT = GAME.rules


class _Unprintable:
    def __repr__(self):
        raise RuntimeError("no repr")


class _NoArray:
    def __array__(self, *args, **keywords):
        raise RuntimeError("no array")

    def __len__(self):
        raise RuntimeError("no length")


def _nested():
    value = []
    for _ in range(50):
        value = [value]
    return value


ODD = {
    "None": None,
    "array of no axes": np.array(0),
    "object": object(),
    "type": type,
    "empty list": [],
    "empty dict": {},
    "empty text": "",
    "long text": "x" * 5000,
    "-1": -1,
    "0": 0,
    "5": 5,
    "2**70": 2**70,
    "1.5": 1.5,
    "nan": float("nan"),
    "inf": float("inf"),
    "1j": 1j,
    "True": True,
    "bytes": b"abc",
    "NUL": "a\0b",
    "surrogate": "\ud800",
    "function": lambda *args, **keywords: None,
    "nested list": _nested(),
    "floats": np.zeros(3),
    "empty array": np.zeros((0, 4)),
    "objects": np.array([object(), None]),
    "texts": np.array(["a", "b"]),
    "masked": np.ma.masked_array([1, 2, 3], [0, 1, 0]),
    "int64": np.int64(-5),
    "unprintable": _Unprintable(),
    "no array": _NoArray(),
    "set": {1, 2},
    "mixed tuple": (1, "a", None),
    "four Nones": [None] * 4,
    "four texts": ["zzz"] * 4,
    "odd keys": {1: 2},
    "range": range(3),
    "path": Path("nowhere/x"),
    "rules": RULES["barrie_v0"],
}


def sound_values(folder):
    """Sound values: a record and its file, observations and masks, features, a network."""
    file = folder / "games.jsonl"
    selfplay.play(GAME.replace(max_hands=2), "random", "random", games=1, seed=1, out=file)
    game = next(records_io.read(file))
    vec = GAME.vec(4)
    seen, _ = vec.reset(seed=1)
    auction = features.features_of(RULES_OF_IT, "auction")
    net = network.new_network(auction.size, (8, 8), auction.outputs, np.random.default_rng(0))
    packed = auction.pack(seen["observation"], seen["action_mask"])
    zeros, ones = np.zeros(4, np.int64), np.ones(4, np.float32)
    Session(GAME, (0,), ["random"] * 4, seed=1, path=folder / "saved.json").close()
    kept = folder / "weights.npz"
    weights.write_weights(kept, {"first": np.zeros((5, 3), np.float32)}, {"kind": "net"})
    return SimpleNamespace(
        folder=folder,
        numbers=itertools.count(),
        weights=kept,
        file=file,
        game=game,
        deal=game.hands[0]["deal"],
        observations=seen["observation"].copy(),
        masks=seen["action_mask"].copy(),
        auction=auction,
        network=net,
        packed=packed,
        examples=fitting.Examples(packed.inputs, zeros, zeros - 1, ones),
        rng=np.random.default_rng(0),
        policy=agents.make("cautious", RULES_OF_IT),
        vec=vec,
        states=vec.get_state(),
    )


def new_env(options=None):
    env = GAME.raw_env(**(options or {}))
    env.reset(seed=1)
    return env


def new_ending():
    """An environment in the fifth trick of a hand, where advice takes little time."""
    env = new_env()
    while env._states[0]["trick"] < 4:
        env.step(int(env.action_masks().argmax()))
    return env


def new_vec():
    vec = GAME.vec(4)
    vec.reset(seed=1)
    return vec


def new_solo():
    env = GAME.solo(opponents="random")
    env.reset(seed=1)
    return env


def new_solo_vec():
    env = GAME.solo_vec(4, opponents="random")
    env.reset(seed=1)
    return env


def new_test():
    return sequential.SequentialTest(sequential.Bounds(0.0, 0.1), 0.5)


def new_recorder(path):
    recorder = datasets.VecRecorder(new_vec(), path)
    recorder.reset(seed=1)
    return recorder


def new_session():
    return Session(GAME, (0,), ["random"] * 4, seed=1)
