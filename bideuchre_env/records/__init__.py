"""Game records: replayed, on disk and on screen.

It imports `core` and the rooms before it.
"""
