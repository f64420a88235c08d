"""Kernels for the reward of a finished hand, and for the end of an episode."""

from __future__ import annotations

from bideuchre_env.core.records import State
from bideuchre_env.core.state import OVER, TRUNCATED, WON
from bideuchre_env.runtime.jit import inline_kernel

GOES_ON, TERMINATED, TRUNCATED_THERE = range(3)


@inline_kernel
def side_0_reward(s: State, by_points: bool) -> float:
    """Side 0's reward for a finished hand; side 1's is its negative.

    With `by_points`: side 0's points of the hand minus side 1's. Otherwise 1 or -1 at the end of a
    won game, and 0 after any other hand.
    """
    if by_points:
        return float(s.points[0] - s.points[1])
    if s.phase == OVER and s.outcome == WON:
        return float(1 - 2 * s.winner)
    return 0.0


@inline_kernel
def ending(s: State, by_hand: bool) -> int:
    """Return whether an episode ends with a hand: `GOES_ON`, `TERMINATED` or `TRUNCATED_THERE`.

    A game that reaches the limit of hands is truncated. An episode of one hand is always
    terminated, also by the last hand of a truncated game.
    """
    over = s.phase == OVER
    if over and s.outcome == TRUNCATED and not by_hand:
        return TRUNCATED_THERE
    return TERMINATED if over or by_hand else GOES_ON
