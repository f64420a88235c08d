"""How code is compiled, kept and run: the only room that imports numba.

It imports `errors` and `_checks` alone.
"""
