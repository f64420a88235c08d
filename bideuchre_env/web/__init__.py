"""A game between people and agents in a browser: a small server on this machine.

It needs the extra `web`. It may import every room before `play`, and `play`.
"""
