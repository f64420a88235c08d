"""Review of recorded games: the cost of each decision, mistakes, and bad luck.

    print(analysis.review(record))

`review` returns a `Review`, which has a `HandReview` for each hand with its `Decision`s, and the
totals of each `Player`. Decisions are judged by the advice of an agent (`agents/advice`), from what
the player could see. "All hands open" marks exact values if all four seats saw all cards and played
their best.
"""

from bideuchre_env.analysis.review import Decision, HandReview, Player, Review
from bideuchre_env.analysis.reviewing import review

__all__ = ["Decision", "HandReview", "Player", "Review", "review"]
