"""`Interval`, an estimate with its 95 % confidence interval; Wilson's interval and Student's t."""

from __future__ import annotations

import math
from dataclasses import dataclass

Z = 1.959963984540054  # the normal distribution's 97.5 % point
_T_SMALL = (12.706205, 4.302653, 3.182446, 2.776445)  # Student's t, 1 to 4 degrees of freedom


@dataclass(frozen=True)
class Interval:
    """An estimate (`mean`) with its 95 % interval; `low` and `high` are None for a single case."""

    mean: float
    low: float | None
    high: float | None

    def to_dict(self) -> dict[str, float | None]:
        """Return the interval as a JSON object: mean, low, high."""
        return {"mean": self.mean, "low": self.low, "high": self.high}

    @property
    def half(self) -> float:
        """Half the width of the interval; infinite if there is none."""
        if self.low is None or self.high is None:
            return math.inf
        return (self.high - self.low) / 2


def t_quantile(degrees: int) -> float:
    """Return the 97.5 % point of Student's t distribution with these degrees of freedom.

    It is from a table up to 4 degrees, then by the Cornish-Fisher expansion (error below 1e-3).
    """
    if degrees <= len(_T_SMALL):
        return _T_SMALL[max(degrees, 1) - 1]
    z, n = Z, float(degrees)
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    fourth = (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160
    return z + first / n + second / n**2 + third / n**3 + fourth / n**4


def wilson(successes: float, trials: float) -> Interval | None:
    """Return a share with Wilson's 95 % interval; None without trials.

    For weighted cases, the number of trials is the effective sample size, which may be fractional.
    """
    if trials == 0:
        return None
    share, z2 = successes / trials, Z * Z
    centre = (share + z2 / (2 * trials)) / (1 + z2 / trials)
    deviation = math.sqrt(share * (1 - share) / trials + z2 / (4 * trials * trials))
    half = Z * deviation / (1 + z2 / trials)
    return Interval(share, min(max(0.0, centre - half), share), max(min(1.0, centre + half), share))
