"""The game itself, as kernels over state rows: tables, phases, observations, rows.

The package imports only `rules` and `runtime`. In the repository, `core/README.md` explains a step:
tables (where the left bower becomes a trump), the phases of a hand, observations, autoreset.
"""
