"""The rule player: maxims of good players, as kernels over observation rows.

It imports `core` and the rooms before it.
"""
