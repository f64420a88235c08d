"""Game records: replayed, on disk and on screen; `README.md` describes their format.

It imports `core` and the folders before it.
"""
