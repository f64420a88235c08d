"""A game between people and agents in a browser: a small server on this machine.

The package needs the extra `web`. It may import `play` and all packages that `play` may import.
"""
