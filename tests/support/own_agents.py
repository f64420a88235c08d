"""Custom agents: a file with several, and classes that record their arguments."""

from typing import ClassVar

import numpy as np

FILE = '''\
"""Custom agents."""

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
    """Write the file of agents and two checkpoints, a.npz and b.npz, into a folder."""
    (folder / name).write_text(FILE, encoding="utf-8")
    weights = np.random.default_rng(1).normal(size=(289, 37))  # Cincinnati's D and A
    np.savez(folder / "a.npz", weights=weights)
    np.savez(folder / "b.npz", weights=-weights)
    return folder / name


class Once:
    """Chooses for one observation at a time: the first legal action."""

    def act(self, observation, action_mask):
        return int(action_mask.argmax())


class Recorder:
    """Records its constructor arguments, and takes the first legal action."""

    calls: ClassVar[list[tuple[object, ...]]] = []

    def __init__(self, rules, *, seed=None, goal=None, depth=1):
        self.calls.append((rules, seed, goal, depth))

    def act_rows(self, observations, action_masks):
        return action_masks.argmax(axis=1)
