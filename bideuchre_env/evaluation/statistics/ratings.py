"""Bradley-Terry ratings of agents, from the boards that they win against each other.

A difference of 400 points means ten boards won for each board lost, as in chess; a tied board is
half a win for each agent. The prior is a pseudo-board for each pair that met, half won and half
lost. So an agent that loses every board has a finite rating too, which then depends on the prior
as much as on the boards. Ratings are for display; points per hand are the measurement.

Intervals come from the Bayesian bootstrap: random board weights from an exponential distribution,
those of the half pseudo-boards from a gamma distribution of shape 1/2. A board has the same weight
in every match, because its deal is the same.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bideuchre_env._checks import brief, check_type, is_integer, to_array, to_list
from bideuchre_env.errors import OptionError
from bideuchre_env.evaluation.statistics.intervals import Interval
from bideuchre_env.runtime.jit import Array

SCALE = 400 / math.log(10)
PRIOR = 0.5  # pseudo-count of boards won, and of boards lost
RESAMPLES, MOST_RESAMPLES = 1000, 10**6
MOST_BOARDS = 10**7
AT_ONCE = 50
MOST_STEPS = 200


@dataclass(frozen=True)
class Meeting:
    """A match as input of the ratings.

    Args:
        a, b: the names of the agents.
        boards: the numbers of the boards, integers (n,) from 0 to 9,999,999.
        results: a number per board (n,), of which the sign counts: positive if `a` won the board,
            negative if `b` did, 0 for a tie.

    Raises:
        OptionError: for invalid values.
    """

    a: str
    b: str
    boards: Array
    results: Array

    def __post_init__(self) -> None:
        for name, agent in (("a", self.a), ("b", self.b)):
            check_type(name, agent, str, "the name of an agent")
        for name, kinds in (("boards", "iu"), ("results", "iuf")):
            array = to_array(name, getattr(self, name))
            if array.ndim != 1 or array.dtype.kind not in kinds:
                raise OptionError(f"{name}: expected numbers (n,), not {array.dtype} {array.shape}")
            object.__setattr__(self, name, array)
        if self.boards.size and not 0 <= self.boards.min() <= self.boards.max() < MOST_BOARDS:
            raise OptionError(f"boards: expected numbers from 0 to {MOST_BOARDS - 1}")
        if not np.isfinite(self.results).all():
            raise OptionError("results: expected finite numbers")
        if self.a == self.b or len(self.boards) != len(self.results):
            raise OptionError(f"{self.a} - {self.b}: expected two agents, and a result per board")


def ratings(
    meetings: Sequence[Meeting],
    *,
    anchor: str | None = None,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> dict[str, Interval]:
    """Return a dict from agent to rating with 95 % interval, the highest rating first.

    It has all agents that a chain of meetings with boards connects to the anchor, and no others.

    Args:
        meetings: the matches.
        anchor: the agent with rating 0 and an interval of zero width; by default the first agent of
            the first meeting.
        seed: fixes the resampling.
        resamples: the number of bootstrap samples, rounded up to a multiple of 50.

    Raises:
        OptionError: for invalid arguments, such as no meetings.
    """
    meetings = to_list("meetings", meetings, "Meeting values")
    for meeting in meetings:
        check_type("meetings", meeting, Meeting, "Meeting values")
    names = list(dict.fromkeys(name for meeting in meetings for name in (meeting.a, meeting.b)))
    anchor = names[0] if anchor is None and names else anchor
    if not isinstance(anchor, str) or anchor not in names:
        raise OptionError(
            f"anchor={brief(anchor)}: expected a player of these matches ({', '.join(names)})"
        )
    if not is_integer(seed) or seed < 0:
        raise OptionError(f"seed={brief(seed)}: expected a whole number from 0 on")
    if not is_integer(resamples) or not 1 <= resamples <= MOST_RESAMPLES:
        raise OptionError(
            f"resamples={brief(resamples)}: expected a whole number from 1 to {MOST_RESAMPLES}"
        )
    names = [anchor, *sorted(_connected(meetings, anchor) - {anchor}, key=names.index)]
    met = [meeting for meeting in meetings if meeting.a in names and meeting.boards.size]
    if not met:
        return {anchor: Interval(0.0, 0.0, 0.0)}
    estimate = _fit(_wins(met, names, None, 1))[0]
    rng = np.random.default_rng(seed)
    drawn = [_fit(_wins(met, names, rng, AT_ONCE)) for _ in range(-(-resamples // AT_ONCE))]
    low, high = np.quantile(np.concatenate(drawn), (0.025, 0.975), axis=0)
    order = np.argsort(-estimate, kind="stable")
    return {
        names[i]: Interval(float(estimate[i]), float(low[i]), float(high[i]))
        for i in order.tolist()
    }


def _connected(meetings: Sequence[Meeting], anchor: str) -> set[str]:
    """Return the anchor and all agents that a chain of meetings connects with it."""
    linked = {anchor}
    while True:
        more = {n for m in meetings if m.boards.size for n in (m.a, m.b) if {m.a, m.b} & linked}
        if more <= linked:
            return linked
        linked |= more


def _wins(
    meetings: Sequence[Meeting], names: list[str], rng: np.random.Generator | None, n: int
) -> Array:
    """Return the weighted wins of agent i over agent j, float64 (n, k, k): [draw, i, j].

    The prior is included. `rng` draws n sets of random board weights; without it all weights are 1.
    """
    wins = np.zeros((n, len(names), len(names)))
    most = max(int(meeting.boards.max()) + 1 for meeting in meetings)
    weights = np.ones((n, most)) if rng is None else rng.exponential(size=(n, most))
    for meeting in meetings:
        i, j = names.index(meeting.a), names.index(meeting.b)
        own = weights[:, meeting.boards]
        sign = np.sign(meeting.results)
        half = np.full((n, 2), PRIOR) if rng is None else rng.gamma(PRIOR, size=(n, 2))
        wins[:, i, j] += own @ ((1 + sign) / 2) + half[:, 0]
        wins[:, j, i] += own @ ((1 - sign) / 2) + half[:, 1]
    return wins


def _fit(wins: Array) -> Array:
    """Return maximum-likelihood ratings (n, k) for wins (n, k, k); agent 0 has rating 0."""
    n, k = wins.shape[:2]
    strength = np.zeros((n, k))
    played = wins + wins.transpose(0, 2, 1)
    for _ in range(MOST_STEPS):
        gap = strength[:, :, None] - strength[:, None, :]
        chance = 1 / (1 + np.exp(-gap))
        slope = (wins - played * chance).sum(axis=2)
        curve = played * chance * (1 - chance)
        bend = -curve
        bend[:, range(k), range(k)] += curve.sum(axis=2)
        step = np.zeros((n, k))
        step[:, 1:] = np.linalg.solve(bend[:, 1:, 1:], slope[:, 1:, None])[:, :, 0]
        largest = np.abs(step).max(axis=1, keepdims=True)
        strength += step / np.maximum(largest, 1)  # a long step overshoots
        if largest.max() < 1e-9:
            break
    return SCALE * strength
