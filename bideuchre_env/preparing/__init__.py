"""What fits the agents to a game: their calls and their cards, learned from pairs of lines.

The scripts that make the package's own numbers use it, and `prepare` for rules of one's own.
"""
