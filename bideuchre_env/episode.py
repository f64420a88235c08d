"""What an episode is and pays a learner: the words for it, its rewards, and whether it is over."""

from __future__ import annotations

from typing import Any

from bideuchre_env._jit import Row, inline_kernel
from bideuchre_env.errors import OptionError, shown
from bideuchre_env.state import OVER, TRUNCATED, WON

EPISODES = ("game", "hand")
REWARDS = ("win", "points")
VIEWS = ("all", "actor", 0, 1, 2, 3)
GOES_ON, TERMINATED, TRUNCATED_THERE = range(3)


def check_choice(name: str, given: Any, words: tuple[Any, ...]) -> None:
    """Raise `OptionError` unless an option is one of these words."""
    if type(given) not in (str, int, type(None)) or given not in words:
        raise OptionError(f"{name}={shown(given)}: one of {', '.join(map(repr, words))}")


def check_episode(episode: Any, reward: Any) -> tuple[str, str]:
    """What an episode is and how it is rewarded; without a reward, games by wins, hands by points.

    Raises `OptionError` for a word that is none of `EPISODES` or `REWARDS`.
    """
    check_choice("episode", episode, EPISODES)
    if reward is None:
        reward = "win" if episode == "game" else "points"
    check_choice("reward", reward, REWARDS)
    return episode, reward


@inline_kernel
def side_0_reward(s: Row, by_points: bool) -> float:
    """Side 0's reward for the hand that is over (side 1's is the opposite).

    By points: its points of the hand minus the other side's. Else, by wins: 1 or -1 at the end of
    a won game, 0 otherwise.
    """
    if by_points:
        return float(int(s.points[0]) - int(s.points[1]))
    if int(s.phase) == OVER and int(s.outcome) == WON:
        return float(1 - 2 * int(s.winner))
    return 0.0


@inline_kernel
def ending(s: Row, by_hand: bool) -> int:
    """How the hand that is over leaves the episode, which is one hand or a whole game.

    A game cut short is truncated; a hand played to its end is not, whatever becomes of the game.
    """
    over = int(s.phase) == OVER
    if over and int(s.outcome) == TRUNCATED and not by_hand:
        return TRUNCATED_THERE
    return TERMINATED if over or by_hand else GOES_ON
