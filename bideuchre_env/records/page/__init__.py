"""The table on a page: what a seat sees as plain data, and a game on record as one HTML file.

It imports `core` and the rooms before it, and of `records` what draws the table.
"""
