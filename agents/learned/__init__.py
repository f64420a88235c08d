"""Agents that have learned by self-play: networks that kernels play, from files of weights.

Their weights are made by `experiments/`; files of them lie in `agents/data/`.
"""
