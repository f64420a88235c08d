"""Statistics of finished boards from `boards.TOTALS`: points, ties, contracts and games."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields
from typing import Any

from bideuchre_env.evaluation.boards import BOARD, TOTALS, add_boards
from bideuchre_env.evaluation.statistics.intervals import Interval, Moments, wilson
from bideuchre_env.runtime.jit import Array, new_rows

MOMENTS = tuple(field.name for field in fields(Moments))
CONTRACT_WORDS = ("bid", "made", "set", "lone_bid", "lone_made")

Contracts = dict[str, int]  # by `CONTRACT_WORDS`


@dataclass(frozen=True)
class Scores:
    """Statistics of finished boards, from A's side; a board is one deal played at two tables.

    `boards` counts boards (pairs of games), `hands` the hands dealt at them, passed-out ones
    included. `ties` counts the boards where A and B have equal points in total. `contracts` are two
    dicts, the counts of A's and of B's contracts by `CONTRACT_WORDS`. `a_won`, `b_won`, `drawn` and
    `truncated` count whole games. `moments` are over boards, `tables` over single tables.

    If nearly all boards are ties, the few others are too small a sample for the variance, and the
    plain interval is far too narrow. `tie_margin`, in points per hand, widens it: the product of
    it and the square root of the share of ties is passed to `Moments.interval`.
    """

    moments: Moments = field(default_factory=Moments)
    tables: Moments = field(default_factory=Moments)
    ties: int = 0
    contracts: tuple[Contracts, ...] = field(
        default_factory=lambda: (dict.fromkeys(CONTRACT_WORDS, 0), dict.fromkeys(CONTRACT_WORDS, 0))
    )
    a_won: int = 0
    b_won: int = 0
    drawn: int = 0
    truncated: int = 0
    tie_margin: float = 0.0

    @classmethod
    def of_totals(cls, totals: Array, tie_margin: float = 0.0) -> Scores:
        """Return the statistics of totals, shape (1,) of `boards.TOTALS`."""
        total = totals[0]
        sums = {name: total[name].item() for name in MOMENTS}
        squares = {name: total[f"table_{name}"].item() for name in MOMENTS[3:]}
        a, b = (
            dict(zip(CONTRACT_WORDS, counts, strict=True)) for counts in total["contracts"].tolist()
        )
        return cls(
            moments=Moments(**sums),
            tables=Moments(2 * sums["boards"], sums["points"], sums["hands"], **squares),
            ties=int(total["ties"]),
            contracts=(a, b),
            a_won=int(total["won"][0]),
            b_won=int(total["won"][1]),
            drawn=int(total["drawn"]),
            truncated=int(total["truncated"]),
            tie_margin=tie_margin,
        )

    @classmethod
    def of_boards(cls, rows: Array, tie_margin: float = 0.0) -> Scores:
        """Return the statistics of rows of `boards.BOARD`, shape (n,)."""
        totals, own = new_rows(TOTALS, 1), new_rows(BOARD, len(rows))
        own[:] = rows  # any memory layout
        add_boards(own, totals)
        return cls.of_totals(totals, tie_margin)

    @property
    def boards(self) -> int:
        """Number of boards, or of pairs of games."""
        return self.moments.boards

    @property
    def hands(self) -> int:
        """Number of hands dealt, at both tables of all boards together."""
        return int(self.moments.hands)

    @property
    def games(self) -> int:
        """Number of whole games played."""
        return self.a_won + self.b_won + self.drawn + self.truncated

    @property
    def points_per_hand(self) -> Interval | None:
        """A's points per hand minus B's, with the 95 % interval over boards; None if empty."""
        tied = self.ties / self.boards if self.boards else 0.0
        return self.moments.interval(self.tie_margin * math.sqrt(tied))

    @property
    def win_rate(self) -> Interval | None:
        """A's share of all games, drawn and truncated ones included, with Wilson's interval.

        Games count as independent. The two of a pair have the same deals with the sides swapped,
        so their results are negatively correlated and the interval is too wide for equal agents.
        """
        return wilson(self.a_won, self.games)

    @property
    def board_sd(self) -> float | None:
        """Standard deviation of points per hand between boards; None with fewer than two."""
        if self.boards < 2 or not self.hands:
            return None
        variance = self.moments.residual() / (self.boards - 1)
        return math.sqrt(variance) * self.boards / self.hands

    @property
    def variance_reduction(self) -> float | None:
        """Factor by which duplicate deals reduce the variance of points per hand.

        It is the variance over as many single tables with independent deals, divided by the
        variance over the boards. None with fewer than two boards, or if all boards are equal.
        """
        paired = self.moments.residual()
        if self.boards < 2 or paired == 0:
            return None
        return self.tables.residual() / paired

    def to_dict(self, keys: tuple[str, ...]) -> dict[str, Any]:
        """Return the statistics as a dict of JSON values, without the counts of games.

        `contracts` maps the agents' `keys` to counts.
        """
        return {
            "boards": self.boards,
            "hands": self.hands,
            "points_per_hand": interval_dict(self.points_per_hand),
            "board_sd": self.board_sd,
            "tie_boards": self.ties,
            "variance_reduction": self.variance_reduction,
            "contracts": dict(zip(keys, self.contracts, strict=True)),
        }


def interval_dict(interval: Interval | None) -> dict[str, float | None]:
    """Return an interval as a JSON object: mean, low and high, all None for None."""
    return interval.to_dict() if interval else {"mean": None, "low": None, "high": None}
