"""Run a module on a simulated future numba: `python -m support.future_numba MODULE ARGUMENTS`.

Its version is newer than every supported one, and undocumented parts are unavailable: the modules
of `numba.core`, other options of `njit`, and attributes set on a compiled function.
"""

import builtins
import runpy
import sys

import numba

DOCUMENTED = {"cache", "error_model", "nogil"}
_import, _njit = builtins.__import__, numba.njit


def documented_import(name, globals=None, locals=None, fromlist=(), level=0):
    """Import as usual, but raise `ImportError` if the package imports internal modules of numba."""
    importer = (globals or {}).get("__name__", "")
    if importer.startswith("bideuchre_env") and name.startswith("numba.core"):
        raise ImportError(f"{importer} imports {name}, which is gone")
    return _import(name, globals, locals, fromlist, level)


def documented_njit(*functions, **options):
    """Compile by `numba.njit`, but raise `TypeError` for undocumented options from the package."""
    caller = sys._getframe(1).f_globals["__name__"]
    if caller.startswith("bideuchre_env") and not options.keys() <= DOCUMENTED:
        raise TypeError(f"{caller} compiles with {options.keys() - DOCUMENTED}, which are gone")
    return _njit(*functions, **options)


def private_attributes():
    """Attributes that the package, and not numba, has set on its kernels."""
    from bideuchre_env.runtime import jit

    usual = vars(_njit(lambda: 0)).keys()
    return {name for kernel in jit.KERNELS for name in vars(kernel).keys() - usual}


if __name__ == "__main__":
    numba.__version__ = "0.99.0"
    builtins.__import__, numba.njit = documented_import, documented_njit
    sys.argv = sys.argv[1:]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
    assert not private_attributes(), private_attributes()
