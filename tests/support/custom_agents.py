"""Custom agents: a file with several, and classes of known choices, strength or arguments."""

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


class First:
    """Plays the first legal action, for many rows at once."""

    name = "first"

    def act_rows(self, observations, masks):
        return masks.argmax(axis=1)


class Last(First):
    """Plays the last legal action, so the highest bid."""

    name = "last"

    def act_rows(self, observations, masks):
        return masks.shape[1] - 1 - masks[:, ::-1].argmax(axis=1)


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


class ObservationPolicy:
    """Legal actions by a hash of the observation, with more passes than at random."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.calls = 0

    def act_rows(self, observations, masks):
        """A legal action for each row, int64 (n,)."""
        self.calls += 1
        rng = np.random.default_rng(self.seed)
        weights = rng.integers(1, 1 << 40, observations.shape[1], np.int64)
        numbers = observations.astype(np.int64) @ weights * 2_654_435_761 >> 20 & 0xFFFF
        counts = masks.sum(axis=1, dtype=np.int64)
        places = np.where((masks[:, 0] == 1) & (numbers % 3 > 0), 0, numbers // 3 % counts)
        return (np.cumsum(masks, axis=1) == places[:, np.newaxis] + 1).argmax(axis=1)


class Blunders:
    """An agent whose choices are random with probability p, by seed and observation."""

    def __init__(self, base, p, seed=0):
        self.base, self.p, self.seed = base, p, seed
        self.name = f"{base.name} {p}"

    def act_rows(self, observations, masks):
        good = np.asarray(self.base.act_rows(observations, masks))
        words = hashed(observations, self.seed)
        blunder = (words >> np.uint64(32)) / 2**32 < self.p
        counts = masks.sum(axis=1, dtype=np.int64)
        nth = (words & np.uint64(0xFFFFFFFF)).astype(np.int64) % counts
        random = (np.cumsum(masks, axis=1, dtype=np.int64) == nth[:, None] + 1).argmax(axis=1)
        return np.where(blunder, random, good)


def hashed(observations, seed):
    """A uint64 for every row, (n,): a random linear form of the row, then mixed (splitmix64)."""
    keys = np.random.default_rng(seed).integers(0, 2**64, observations.shape[1], dtype=np.uint64)
    words = observations.astype(np.uint64) @ keys
    words = (words ^ words >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ words >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return words ^ words >> np.uint64(31)
