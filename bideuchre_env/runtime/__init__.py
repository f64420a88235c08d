"""Compilation, cache and execution of kernels: the only folder that imports numba.

The package imports only `errors`, `_checks` and `_files`.
"""
