"""Agents of known strength: a fixed one, and any agent with random errors."""

import numpy as np


class Plain:
    """Plays the first legal action."""

    name = "plain"

    def act_rows(self, observations, masks):
        return masks.argmax(axis=1)


class Blunders:
    """An agent whose choices are replaced by random legal actions with probability p.

    The errors depend on the seed and the observation alone.
    """

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
