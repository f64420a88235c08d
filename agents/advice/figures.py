"""From outcomes, world by world, to figures: means, shares, paired differences, and how sure.

Worlds count by weights, and are as many as an even sample that says as much: their *effective* size
is the square of the sum of the weights over the sum of their squares, divided by how far they are
`alike`: so many of them tell as much as one drawn by itself. With `alike` 0 they are all there are,
and nothing is left to chance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, sqrt

import numpy as np

from bideuchre_env._intervals import Interval, t_quantile, wilson
from bideuchre_env.runtime.jit import Array

NO_GAP = Interval(0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Counted:
    """What n actions come to in m worlds, which count by `weights`, float64 (m,).

    `outcomes` are (m, n), and `hands`, int64 (m, 4), what each seat holds there.
    """

    actions: list[int]
    outcomes: Array
    weights: Array
    hands: Array
    alike: float = 1.0

    @classmethod
    def of_all(cls, several: Sequence[Counted]) -> Counted:
        """The worlds of several counts in one, with the actions that all of them have tried."""
        tried = [set(each.actions) for each in several]
        common = [action for action in several[0].actions if all(action in one for one in tried)]
        columns = [[each.actions.index(action) for action in common] for each in several]
        return cls(
            common,
            np.concatenate(
                [each.outcomes[:, order] for each, order in zip(several, columns, strict=True)]
            ),
            np.concatenate([each.weights for each in several]),
            np.concatenate([each.hands for each in several]),
            max(each.alike for each in several),
        )

    @property
    def effective(self) -> float:
        """The effective size of all its worlds, and no more than there are."""
        return min(effective(self.weights, self.alike), float(len(self.weights)))

    def column(self, action: int) -> Array:
        """The outcomes of one action, (m,)."""
        column: Array = self.outcomes[:, self.actions.index(action)]
        return column

    def average(self, action: int, figure: str) -> float:
        """The mean of a field of `OUTCOMES` after an action."""
        return mean(self.column(action)[figure], self.weights)

    def points(self, action: int) -> Interval:
        """The points of the hand, ours minus theirs."""
        return interval(self.column(action)["points"], self.weights, self.alike)

    def wins(self, action: int) -> Interval:
        """The chance to win the game."""
        found = interval(self.column(action)["wins"], self.weights, self.alike)
        if found.low is None or found.high is None:
            return found
        return Interval(found.mean, max(0.0, found.low), min(1.0, found.high))

    def made(self, action: int, bids: bool) -> Interval | None:
        """The chance that our contract is made or theirs is set; None where none is ever played.

        Of an action that `bids`, the chance that it is made where it becomes the contract, which
        may be nowhere.
        """
        column = self.column(action)
        among = column["level"] >= 0
        if bids:
            among = column["declarer"] == 0
        return share(column["good"], self.weights * among, self.alike)

    def tricks(self, action: int, bids: bool) -> Array:
        """The shares, float64 (13,), of so many tricks of ours; of a bid, where it is played."""
        column, own = self.column(action), self.column(action)["declarer"] == 0
        weights = self.weights * own if bids and own.any() else self.weights
        counts: Array = np.bincount(column["tricks"], weights, 13) / weights.sum()
        return counts

    def deviation(self, action: int) -> float:
        """The standard deviation of the points after an action, from deal to deal."""
        points = self.column(action)["points"]
        return sqrt(mean((points - mean(points, self.weights)) ** 2, self.weights))

    def behind(self, action: int, best: int, figure: str = "points") -> tuple[float, float]:
        """By how much an action is behind another in the same worlds, and the standard error.

        `figure` is a field of `OUTCOMES`.
        """
        if action == best:
            return 0.0, 0.0
        differences = self.differences(action, best, figure)
        return mean(differences, self.weights), error(differences, self.weights, self.alike)

    def gap(self, action: int, best: int, figure: str) -> Interval:
        """The same difference with its 95 % interval."""
        if action == best:
            return NO_GAP
        return interval(self.differences(action, best, figure), self.weights, self.alike)

    def differences(self, action: int, best: int, figure: str) -> Array:
        """By how much an action is behind another in each world, float64 (m,)."""
        differences: Array = self.column(best)[figure] - self.column(action)[figure]
        return differences.astype(float)


def effective(weights: Array, alike: float = 1.0) -> float:
    """The effective size of a sample with these weights, 0.0 for none; infinite for all worlds."""
    total, squares = float(weights.sum()), float((weights * weights).sum())
    if not squares:
        return 0.0
    return total * total / squares / alike if alike else inf


def mean(values: Array, weights: Array) -> float:
    """The weighted mean."""
    return float(np.average(values, weights=weights))


def error(values: Array, weights: Array, alike: float = 1.0) -> float:
    """The standard error of the weighted mean; infinite where one world is all that counts.

    As if one more world had the opposite of the most extreme value: a sample without a rare result
    does not exclude it.
    """
    others = effective(weights, alike) - 1
    if others < 1e-9:
        return inf
    centre = mean(values, weights)
    unseen = (2.0 * float(np.abs(values).max())) ** 2 / (others + 2.0)
    return sqrt((mean((values - centre) ** 2, weights) + unseen) / others)


def interval(values: Array, weights: Array, alike: float = 1.0) -> Interval:
    """The weighted mean with its 95 % interval by Student's t."""
    centre, size = mean(values, weights), effective(weights, alike)
    if size == inf:
        return Interval(centre, centre, centre)
    if size - 1 < 1e-9:
        return Interval(centre, None, None)
    half = t_quantile(max(1, round(size - 1))) * error(values, weights, alike)
    return Interval(centre, centre - half, centre + half)


def share(good: Array, weights: Array, alike: float = 1.0) -> Interval | None:
    """The weighted share of what is 1, with Wilson's interval; None where nothing counts."""
    size = effective(weights, alike)
    if size == 0.0:
        return None
    if size == inf:
        return Interval(mean(good, weights), mean(good, weights), mean(good, weights))
    return wilson(mean(good, weights) * size, size)
