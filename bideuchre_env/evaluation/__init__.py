"""Who is better, and how sure: boards, matches, self-play, reports.

It imports `envs` and the rooms before it. In the repository, `evaluation/README.md` says what a
match computes.
"""
