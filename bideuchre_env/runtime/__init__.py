"""Compilation, cache and execution of kernels: the only folder that imports numba.

It imports `errors`, `_checks` and `_files` alone.
"""
