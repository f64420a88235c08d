"""Comparison of agents with confidence intervals: boards, matches, reports.

The package may import `envs` and all packages that `envs` may import, such as `agents`. In the
repository, `evaluation/README.md` explains the statistics of a match.
"""
