"""Tools for learning by self-play: features, sampling, returns, paired differences, networks.

numpy and numba alone; it may import `errors`, `_checks`, `_columns`, `_files`,
`rules`, `runtime` and `core`.
"""
