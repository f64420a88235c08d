"""Reinforcement-learning environments for the Bid Euchre family of card games."""
