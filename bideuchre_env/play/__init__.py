"""Games between people and agents: interactive, saved after every action, resumable.

The package may import `evaluation` and all packages that `evaluation` may import. `terminal` plays
at a terminal; play in a browser is in the package `web`.
"""
