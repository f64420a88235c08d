"""Compilation, cache and execution of kernels: the only folder that imports numba.

It imports only `errors`, `_checks` and `_files`.
"""
