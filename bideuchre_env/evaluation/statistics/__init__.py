"""Statistics of finished boards: intervals, scores, the sequential test and ratings.

Of `evaluation`, the package imports only `boards`, whose rows it reads.
"""
