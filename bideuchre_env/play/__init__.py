"""Games between people and agents: played by hand, saved at every card, gone on with later.

It may import every room before `evaluation`, and `evaluation`; what a page needs is in `web`.
"""
