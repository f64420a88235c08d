"""95 % intervals: of points per hand over duplicate boards, and of a share of games.

Boards (or pairs of games) are what is counted: both sides have played each with the same cards, so
the luck of the deal cancels. The hands of a board are never treated as independent of one another.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

_Z = 1.959963984540054  # the normal distribution's 97.5 % point
_T_SMALL = (12.706205, 4.302653, 3.182446, 2.776445)  # Student's t, 1 to 4 degrees of freedom


@dataclass(frozen=True)
class Interval:
    """An estimate with its 95 % interval; `low` and `high` are None for a single board."""

    mean: float
    low: float | None
    high: float | None

    def to_dict(self) -> dict[str, float | None]:
        """The notation's object: mean, low, high."""
        return {"mean": self.mean, "low": self.low, "high": self.high}

    @property
    def half(self) -> float:
        """Half the width; infinite where there is no interval."""
        if self.low is None or self.high is None:
            return math.inf
        return (self.high - self.low) / 2


def t_quantile(degrees: int) -> float:
    """Student's t, 97.5 % point: a table, then the Cornish-Fisher expansion (right to 1e-3)."""
    if degrees <= len(_T_SMALL):
        return _T_SMALL[max(degrees, 1) - 1]
    z, n = _Z, float(degrees)
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    fourth = (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160
    return z + first / n + second / n**2 + third / n**3 + fourth / n**4


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


def wilson(successes: int, trials: int) -> Interval | None:
    """A share with Wilson's 95 % interval; None of no trials."""
    if trials == 0:
        return None
    share, z2 = successes / trials, _Z * _Z
    centre = (share + z2 / (2 * trials)) / (1 + z2 / trials)
    deviation = math.sqrt(share * (1 - share) / trials + z2 / (4 * trials * trials))
    half = _Z * deviation / (1 + z2 / trials)
    return Interval(share, max(0.0, centre - half), min(1.0, centre + half))
