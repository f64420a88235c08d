"""Agents trained by self-play: networks that are evaluated in kernels, from files of weights.

The scripts in `experiments/` train the weights; the files are in `agents/data/`.
"""
