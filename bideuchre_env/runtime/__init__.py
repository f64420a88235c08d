"""How code is compiled, kept and run: the only room that imports numba.

It imports `errors`, `_checks` and `_files` alone.
"""
