"""The game itself, as kernels over state rows: tables, phases, observations, rows.

It imports `rules` and `runtime`. In the repository, `core/README.md` tells how a step flows: tables
(where the left bower becomes a trump), the phases of a hand, what a seat sees, rows, autoreset.
"""
