"""Which other action a pair tries: those that a network finds good more often than others."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bideuchre_env.learning.features import features_of
from bideuchre_env.learning.network import Network, evaluate
from bideuchre_env.learning.sampling import random_words, sample
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.jit import Array

_EVEN_BITS = 10


class Proposals(NamedTuple):
    """`propose` of `pairs` by what a network says of each output of a part, "cards" say.

    An action is drawn from the softmax of what is said, in points, over `heat`; a share `even`, to
    a 1,024th, is drawn alike from all. It keeps nothing, so that blocks of pairs are the same
    wherever they are made.
    """

    network: Network
    rules: Rules
    part: str
    seed: int
    heat: float = 0.7
    even: float = 0.25

    def __call__(self, observations: Array, masks: Array, chosen: Array) -> Array:
        """Other actions, int64 (m,), of the `masks`, which lack the `chosen` ones."""
        features = features_of(self.rules, self.part)
        points, legal, symmetries = evaluate(self.network, features, observations, masks)
        n = len(points)
        words = random_words(self.seed, 0, n)
        lowest = words & np.uint64((1 << _EVEN_BITS) - 1)  # `sample` goes by the highest 53
        points[lowest < np.uint64(self.even * (1 << _EVEN_BITS))] = 0.0
        found, log_probs = np.empty(n, np.int64), np.empty(n, np.float32)
        sample(points / np.float32(self.heat), legal, words, found, log_probs)
        return features.actions(found, symmetries)
