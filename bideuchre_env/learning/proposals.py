"""`Proposals`: a network chooses the other action of a pair, good actions more often."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bideuchre_env._checks import brief, is_number
from bideuchre_env.errors import OptionError
from bideuchre_env.learning.features import features_of
from bideuchre_env.learning.network import Network, checked, evaluate
from bideuchre_env.learning.returns import checked_rate
from bideuchre_env.learning.sampling import observation_words, required_seed, sample
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.jit import Array

_EVEN_BITS = 10


@dataclass(frozen=True, eq=False)
class Proposals:
    """A function for the argument `propose` of `pairs`, with a network of one part of the hand.

    The argument `phases` of `pairs` must be phases of this part ("auction" or "cards").

    An action is drawn from the softmax of the network's outputs divided by `temperature`, both in
    points. A fraction `even` of the draws (in steps of 1/1,024) is uniform instead. The draw
    depends only on the seed, the observation and the mask, so the pairs do not depend on the size
    of blocks or on the worker. Raises `OptionError` for a network that does not fit, and for
    invalid numbers.
    """

    network: Network
    rules: Rules
    part: str
    seed: int
    temperature: float = 0.7
    even: float = 0.25

    def __post_init__(self) -> None:
        """Validate the fields."""
        checked(self.network, features_of(self.rules, self.part))
        required_seed(self.seed)
        checked_rate("even", self.even)
        if not is_number(self.temperature) or self.temperature <= 0:
            raise OptionError(f"temperature={brief(self.temperature)}: expected a number above 0")

    def __call__(self, observations: Array, masks: Array, chosen: Array) -> Array:
        """Return legal actions other than the chosen ones, int64 (m,).

        `masks` must already exclude the `chosen` actions, which are not read, and leave at least
        one action in each row.
        """
        features = features_of(self.rules, self.part)
        points, legal, symmetries = evaluate(self.network, features, observations, masks)
        n = len(points)
        words = observation_words(self.seed, observations)
        lowest = words & np.uint64((1 << _EVEN_BITS) - 1)  # `sample` uses the highest 53
        points[lowest < np.uint64(self.even * (1 << _EVEN_BITS))] = 0.0
        outputs, log_probs = np.empty(n, np.int64), np.empty(n, np.float32)
        sample(points / np.float32(self.temperature), legal, words, outputs, log_probs)
        return features.actions(outputs, symmetries)
