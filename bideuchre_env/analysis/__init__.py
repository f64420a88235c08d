"""Games gone over: what each decision gave away by what its player knew, and what was bad luck.

    print(analysis.review(record))

It imports `agents`, whose advice it goes by, and the rooms before them.
"""

from bideuchre_env.analysis.review import Decision, HandReview, Player, Review
from bideuchre_env.analysis.reviewing import review

__all__ = ["Decision", "HandReview", "Player", "Review", "review"]
