"""The game itself, as kernels over state rows: tables, phases, observations, rows.

It imports `rules` and `runtime`. In the repository, `core/README.md` explains how a step flows:
tables (where the left bower becomes a trump), the phases of a hand, observations, autoreset.
"""
