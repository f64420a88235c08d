"""The game itself, as kernels over state rows: tables, phases, observations, rows.

The package imports only `rules` and `runtime`. In the repository, `core/README.md` explains a step:
tables (where the left bower becomes a trump), the phases of a hand, observations, autoreset.

In all kernels, `s` is a state row (`STATE`), `t` the tables of its rules (`TABLES`), and `o` the
offsets of the blocks of an observation (`OFFSETS`). A kind is the number of a card, without its
copy.
"""
