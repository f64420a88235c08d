"""Agents as somebody else writes them: in a file of their own, with weights, with an error."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

FILE = '''\
"""Agents of somebody's own."""

from dataclasses import dataclass

import numpy as np


class First:
    """Takes the first legal action."""

    def act(self, observation, action_mask):
        return action_mask.argmax()


@dataclass
class Last:
    name: "str" = "the last"

    def act_rows(self, observations, action_masks):
        return action_masks.shape[1] - 1 - action_masks[:, ::-1].argmax(axis=1)


class Net:
    """The legal action with the most weight."""

    def __init__(self, weights: str, *, scale: float = 1.0, flag: bool = False):
        self.weights = scale * np.load(weights)["weights"]

    def act_rows(self, observations, action_masks):
        return np.where(action_masks == 1, observations @ self.weights, -np.inf).argmax(axis=1)


class Zoo:
    Inner = First


def broken(rules):
    raise LookupError("no\\nweights")


class Stumbles(First):
    def act(self, observation, action_mask):
        return [][1]


ready = First()
_hidden = First()
number = 3
'''


def write_file(folder, name="mine.py"):
    """The file of agents in a folder, and two checkpoints, a.npz and b.npz, beside it."""
    (folder / name).write_text(FILE, encoding="utf-8")
    weights = np.random.default_rng(1).normal(size=(289, 37))  # Cincinnati's D and A
    np.savez(folder / "a.npz", weights=weights)
    np.savez(folder / "b.npz", weights=-weights)
    return folder / name


class Once:
    """Chooses for one observation at a time: the first legal action."""

    def act(self, observation, action_mask):
        return int(action_mask.argmax())


class Told:
    """Notes what it is told of the game, and takes the first legal action."""

    told: ClassVar[list[tuple[object, ...]]] = []

    def __init__(self, rules, *, seed=None, goal=None, depth=1):
        self.told.append((rules, seed, goal, depth))

    def act_rows(self, observations, action_masks):
        return action_masks.argmax(axis=1)


def make_once(rules):
    """A function that makes an agent."""
    return Once()
