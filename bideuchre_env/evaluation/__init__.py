"""Comparison of agents with confidence intervals: boards, matches, self-play, reports.

It imports `envs` and the folders before it. In the repository, `evaluation/README.md` explains the
statistics of a match.
"""
