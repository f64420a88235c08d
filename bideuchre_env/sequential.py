"""A sequential test of points per hand: it stops as soon as the boards have settled the question.

The question is put as two bounds: H0, "the mean is at most `low`", against H1, "at least `high`".
After every board the log likelihood ratio of a mean of `high` against one of `low` is taken under
a normal distribution with the variance estimated so far (a generalised sequential probability
ratio test): n (high - low) (mean - (low + high) / 2) / variance. Once it is at or above
log((1 - beta) / alpha) H1 is accepted, at or below log(beta / (1 - alpha)) H0 is. A true mean of
`low` or less is then called H1 in at most about alpha of all tests, one of `high` or more H0 in at
most about beta; between the bounds either answer is right.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from bideuchre_env.errors import OptionError

H0, H1, UNDECIDED = "H0", "H1", "undecided"
FIRST_TEST = 32
PRIOR_BOARDS = 32


@dataclass(frozen=True)
class Bounds:
    """The two hypotheses, in points per hand, and how often the test may err under each.

    Raises `OptionError` unless low < high and both errors lie between 0 and 0.5.
    """

    low: float
    high: float
    alpha: float = 0.05
    beta: float = 0.05

    def __post_init__(self) -> None:
        for name in ("low", "high", "alpha", "beta"):
            value = getattr(self, name)
            if not isinstance(value, int | float) or not math.isfinite(value):
                raise OptionError(f"{name}={value!r}: a number is wanted")
        if not self.low < self.high:
            raise OptionError(
                f"bounds {self.low:g} and {self.high:g}: the first must be below the second"
            )
        for name in ("alpha", "beta"):
            if not 0 < getattr(self, name) < 0.5:
                raise OptionError(f"{name}={getattr(self, name)!r}: between 0 and 0.5")

    @property
    def accept_low(self) -> float:
        """H0 is accepted at or below this log likelihood ratio."""
        return math.log(self.beta / (1 - self.alpha))

    @property
    def accept_high(self) -> float:
        """H1 is accepted at or above this log likelihood ratio."""
        return math.log((1 - self.beta) / self.alpha)


@dataclass
class SequentialTest:
    """A test under way; `llr` is the log likelihood ratio. No verdict before board `FIRST_TEST`.

    `prior_sd` is the standard deviation a board is thought to have at first. Boards that differ
    less are taken at their word only by and by, as the prior weighs as much as `PRIOR_BOARDS` of
    them: a run of ties is no proof that agents are equal.
    """

    bounds: Bounds
    prior_sd: float
    boards: int = 0
    mean: float = 0.0
    llr: float = 0.0
    verdict: str = UNDECIDED
    _squares: float = field(default=0.0, repr=False)

    def __post_init__(self) -> None:
        if not self.prior_sd > 0:
            raise OptionError(f"prior_sd={self.prior_sd!r}: above 0")

    @property
    def variance(self) -> float:
        """The variance of a board's points: what was seen, or with the prior if that is more."""
        seen = max(self.boards - 1, 1)
        blend = PRIOR_BOARDS * self.prior_sd**2 + self._squares
        return max(self._squares / seen, blend / (PRIOR_BOARDS + seen))

    def add(self, points: float) -> str:
        """Take one board's points per hand; the verdict, which is final once it is given."""
        if self.verdict != UNDECIDED:
            return self.verdict
        bounds = self.bounds
        self.boards += 1
        step = points - self.mean
        self.mean += step / self.boards
        self._squares += step * (points - self.mean)
        gap, middle = bounds.high - bounds.low, (bounds.low + bounds.high) / 2
        self.llr = self.boards * gap * (self.mean - middle) / self.variance
        if self.boards < FIRST_TEST:
            return self.verdict
        if self.llr >= bounds.accept_high:
            self.verdict = H1
        elif self.llr <= bounds.accept_low:
            self.verdict = H0
        return self.verdict

    def extend(self, points: Iterable[float]) -> str:
        """Take boards in order, up to the one that brings the verdict."""
        for value in points:
            if self.add(value) != UNDECIDED:
                break
        return self.verdict

    def to_dict(self) -> dict[str, Any]:
        """The test as JSON values."""
        bounds = self.bounds
        return {
            "low": bounds.low,
            "high": bounds.high,
            "alpha": bounds.alpha,
            "beta": bounds.beta,
            "llr": self.llr,
            "accept_low": bounds.accept_low,
            "accept_high": bounds.accept_high,
            "boards": self.boards,
            "verdict": self.verdict,
        }

    def __str__(self) -> str:
        bounds = self.bounds
        sides = {
            H0: f"H0 accepted: at most {bounds.low:+g}",
            H1: f"H1 accepted: at least {bounds.high:+g}",
            UNDECIDED: "undecided",
        }
        ratio = f"log likelihood ratio {self.llr:+.2f} of {bounds.accept_low:+.2f}"
        return (
            f"{sides[self.verdict]} points a hand, after {self.boards:,} boards "
            f"({ratio} to {bounds.accept_high:+.2f})"
        )
