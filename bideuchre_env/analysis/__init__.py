"""Review of finished games: the cost of each decision, and bad luck.

    print(analysis.review(record))

It imports `agents`, whose advice it uses, and the folders before them.
"""

from bideuchre_env.analysis.review import Decision, HandReview, Player, Review
from bideuchre_env.analysis.reviewing import review

__all__ = ["Decision", "HandReview", "Player", "Review", "review"]
