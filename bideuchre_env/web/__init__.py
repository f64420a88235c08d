"""A game between people and agents in a browser: a small server on this machine.

It needs the extra `web`. It imports `play` and the folders before it.
"""
