"""Pages: the view of a seat as plain data, and a recorded game as one HTML file.

It imports `core` and the folders before it, and of `records` the modules that draw the table.
"""
