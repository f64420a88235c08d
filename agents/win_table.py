"""The chance to win the game from every score, by value iteration."""

from __future__ import annotations

from bideuchre_env._jit import Array, Row, kernel
from bideuchre_env.agents.equity import worth


@kernel
def chance_to_win(
    v: Row, t: Row, wins: Array, ours: int, theirs: int, us_declare: bool, made: bool
) -> float:
    """The chance to win the game after a hand of `ours` and `theirs` points."""
    return worth(v, t, float(ours), float(theirs), us_declare, made)
