"""The rules of play, a module for each phase of a hand.

The modules are `deal`, `auction` (and the naming of the strain), `exchange`, `play` and `scoring`
(and the end of the game). `auction`, `exchange` and `play` have a pair of kernels `legal_*` and
`apply_*` for each kind of action, which `core/step.py` calls. The ranking of cards in a strain is
in `core/tables.py`.
"""
