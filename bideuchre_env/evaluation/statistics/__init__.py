"""Statistics: intervals, scores, the sequential test and ratings.

It imports `boards`, whose rows scores are read off, and the folders before `evaluation`.
"""
