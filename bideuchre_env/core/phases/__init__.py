"""The law, a module for each phase of a hand: a `legal_*` and `apply_*` pair of kernels.

`deal`, `auction` (and the naming of the strain), `exchange`, `play`, `scoring` (and the end of the
game); `core/step.py` joins them. How the cards rank in a strain stands in `core/tables.py`.
"""
