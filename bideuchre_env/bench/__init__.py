"""Speed measurement: the method, and the measured tasks.

It imports `evaluation` and the folders before it.
"""
