"""The rules of play, a module for each phase of a hand: a `legal_*` and `apply_*` pair of kernels.

`deal`, `auction` (and the naming of the strain), `exchange`, `play`, `scoring` (and the end of the
game); `core/step.py` calls them. The ranking of cards in a strain is in `core/tables.py`.
"""
