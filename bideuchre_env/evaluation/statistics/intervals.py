"""95 % intervals: of points per hand over duplicate boards, and of a share of games.

Boards (or pairs of games) are what is counted: both sides have played each with the same cards, so
the luck of the deal cancels. The hands of a board are never treated as independent of one another.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from bideuchre_env._intervals import Interval, t_quantile, wilson

__all__ = ["Interval", "Moments", "t_quantile", "wilson"]


@dataclass
class Moments:
    """Running sums over boards of (points, hands): all that the interval of a ratio needs."""

    boards: int = 0
    points: float = 0.0
    hands: float = 0.0
    points_points: float = 0.0
    points_hands: float = 0.0
    hands_hands: float = 0.0

    def interval(self, tie_margin: float = 0.0) -> Interval | None:
        """Points per hand, total over total, with its linearised error; None without a hand.

        Where every board has the same number of hands this is the plain mean and its t interval.
        `tie_margin` widens it as two more boards would that lay so many points per hand off the
        mean, one to either side; what that adds falls as one over the boards.
        """
        if self.hands == 0:
            return None
        ratio = self.points / self.hands
        if self.boards < 2:
            return Interval(ratio, None, None)
        # a board is two hands; a pair of games has more, whose luck averages out
        widened = self.residual() + 4 * tie_margin**2 * self.hands / self.boards
        error = math.sqrt(widened * self.boards / (self.boards - 1)) / self.hands
        half = t_quantile(self.boards - 1) * error
        return Interval(ratio, ratio - half, ratio + half)

    def residual(self) -> float:
        """The sum over boards of (points - hands * points per hand) squared."""
        if self.hands == 0:
            return 0.0
        ratio = self.points / self.hands
        residual = self.points_points - 2 * ratio * self.points_hands
        residual += ratio * ratio * self.hands_hands
        # below the rounding of the sums a deviation is none
        return residual if residual > 1e-12 * self.points_points else 0.0
