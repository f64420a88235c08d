"""An episode for a learner: its rewards, and whether it is over."""

from __future__ import annotations

from bideuchre_env.core.state import OVER, TRUNCATED, WON
from bideuchre_env.runtime.jit import Row, inline_kernel

GOES_ON, TERMINATED, TRUNCATED_THERE = range(3)


@inline_kernel
def side_0_reward(s: Row, by_points: bool) -> float:
    """Side 0's reward for the hand that is over (side 1's is the opposite).

    By points: its points of the hand minus the other side's. Else, by wins: 1 or -1 at the end of
    a won game, 0 otherwise.
    """
    if by_points:
        return float(s.points[0] - s.points[1])
    if s.phase == OVER and s.outcome == WON:
        return float(1 - 2 * s.winner)
    return 0.0


@inline_kernel
def ending(s: Row, by_hand: bool) -> int:
    """How the hand that is over leaves the episode, which is one hand or a whole game.

    A game cut short is truncated; a hand played to its end is not, whatever becomes of the game.
    """
    over = s.phase == OVER
    if over and s.outcome == TRUNCATED and not by_hand:
        return TRUNCATED_THERE
    return TERMINATED if over or by_hand else GOES_ON
