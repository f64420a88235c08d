"""95 % confidence intervals: points per hand over duplicate boards, and shares of games.

The sampling unit is the board (or pair of games): both sides play it with the same cards, so the
luck of the deal cancels. The hands of a board are never treated as independent.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from bideuchre_env._intervals import Interval, t_quantile, wilson
from bideuchre_env.runtime.jit import Array

__all__ = ["Interval", "Moments", "mean_per_hand", "t_quantile", "wilson"]


def mean_per_hand(points: Array, hands: float, tie_margin: float = 0.0) -> Interval | None:
    """Return points per hand with the 95 % interval over boards; None without boards.

    `points` (n,) are the points of boards of `hands` hands each; see `Moments.interval`.
    """
    v = np.asarray(points, np.float64)
    n, total = len(v), float(v.sum())
    moments = Moments(n, total, hands * n, float(v @ v), hands * total, hands**2 * n)
    return moments.interval(tie_margin)


@dataclass
class Moments:
    """Running sums over boards of (points, hands), sufficient for the interval of their ratio."""

    boards: int = 0
    points: float = 0.0
    hands: float = 0.0
    points_points: float = 0.0
    points_hands: float = 0.0
    hands_hands: float = 0.0

    def interval(self, tie_margin: float = 0.0) -> Interval | None:
        """Return points per hand, the ratio of the totals, with a 95 % interval; None if empty.

        The interval uses the linearised standard error of the ratio; if every board has the same
        number of hands, it is the t interval of the mean. With one board, its bounds are None.
        `tie_margin` widens it like two more boards, one that many points per hand above the mean,
        one below. Their part of the standard error is proportional to 1 / boards.
        """
        if self.hands == 0:
            return None
        ratio = self.points / self.hands
        if self.boards < 2:
            return Interval(ratio, None, None)
        # scaled for pairs of games: they have more than two hands, which average out
        widened = self.residual() + 4 * tie_margin**2 * self.hands / self.boards
        error = math.sqrt(widened * self.boards / (self.boards - 1)) / self.hands
        half = t_quantile(self.boards - 1) * error
        return Interval(ratio, ratio - half, ratio + half)

    def residual(self) -> float:
        """Return the sum over boards of (points - hands * mean points per hand) squared."""
        if self.hands == 0:
            return 0.0
        ratio = self.points / self.hands
        residual = self.points_points - 2 * ratio * self.points_hands
        residual += ratio * ratio * self.hands_hands
        # below the rounding error of the sums
        return residual if residual > 1e-12 * self.points_points else 0.0
