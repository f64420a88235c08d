"""Web pages: the view of a seat as JSON values, and a recorded game as one HTML file.

The package imports `core`, the packages that `core` may import, and the modules of `records` that
draw the table.
"""
