"""The rule player: what good players say, as kernels over observation rows.

It imports `core` and the rooms before it.
"""
