"""Tools for learning by self-play: features, sampling, returns, paired differences, networks.

The package needs only numpy and numba, and may import `errors`, `_checks`, `_columns`, `_files`,
`_inputs`, `rules`, `runtime` and `core`.
"""
