"""Games between people and agents: interactive, saved after every action, resumable.

It may import every folder before `evaluation`, and `evaluation`; pages are in `web`.
"""
