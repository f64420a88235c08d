"""Agents `net` and `ppo`, trained by self-play: networks from files of weights, run in kernels."""
