"""Game records: replayed, on disk and on screen.

It imports `core` and the folders before it.
"""
