"""Agents trained by self-play: networks from files of weights, evaluated in kernels."""
