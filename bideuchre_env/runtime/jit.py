"""Decorators that compile kernels, or run them as plain Python if `NUMBA_DISABLE_JIT` is set.

Compiled code is cached between runs (`cache.py`). The second target, a GPU, is in `device.py`.
"""

from __future__ import annotations

import logging
import os
import re
import sys
from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar, cast

import numba
import numpy as np
import numpy.typing as npt
from numba import config as _numba_config

from bideuchre_env.runtime.cache import cache_folder
from bideuchre_env.runtime.compiling import Compiling
from bideuchre_env.runtime.plain import plain_kernel, plain_rows

F = TypeVar("F", bound=Callable[..., Any])
Row: TypeAlias = Any  # one record of a structured array, inside a kernel
Word: TypeAlias = Any  # a uint64, inside a kernel
Array: TypeAlias = npt.NDArray[Any]

config: Any = _numba_config  # its settings are set at run time, unseen by type checkers
JIT = not config.DISABLE_JIT
TESTED = ((0, 60), (0, 68))
"""First and last minor version of numba that `numba_private.py` was tested with; `.ci/versions`
tests them all, and pyproject.toml allows no other."""
_VERSION = tuple(int(part) for part in re.findall(r"\d+", numba.__version__)[:2])
private: Any = None
"""`numba_private` if kernels are compiled and numba is a tested version, else None."""
if JIT and TESTED[0] <= _VERSION <= TESTED[1]:
    from bideuchre_env.runtime import numba_private

    private = numba_private
_SETTINGS = (numba.__version__, np.__version__, sys.version, config.BOUNDSCHECK, config.OPT)
CACHE_FOLDER = cache_folder(_SETTINGS) if JIT else ""
_OPTIONS: dict[str, Any] = {"error_model": "numpy", "nogil": True}
KERNELS: list[Any] = []
"""All kernels of the modules imported so far."""
ENTRIES: list[Any] = []
"""The kernels among them that Python calls."""


def kernel(function: F) -> F:
    """Decorate a kernel that other kernels call; it is compiled on first use.

    A kernel has no allocation, no exceptions and no Python objects: parameters and results are only
    numbers, rows, arrays and tuples of these; small integers are passed as int64. Kernels must
    not be mutually recursive, and Python must not call them (see `entry_kernel`): both raise
    `TypeError` with a tested version of numba. There, a kernel is translated to machine code only
    as a part of the entry kernels that call it.
    """
    return _compile(function)


def inline_kernel(function: F) -> F:
    """Decorate a kernel that is inlined into its callers: a short one that is called often.

    Python itself must not call it, as for `kernel`.
    """
    return _compile(function, inline=True)


def entry_kernel(function: F) -> F:
    """Decorate a kernel that Python calls; other kernels may call it, too."""
    compiled = _compile(function, entry=True)
    if JIT:
        ENTRIES.append(compiled)
    return compiled


def _compile(function: F, *, entry: bool = False, inline: bool = False) -> F:
    """Return the dispatcher of a kernel; without JIT, the function for plain Python."""
    if not JIT:
        return cast(F, plain_kernel(function))
    # numba caches code by the path of its source: resolve links to one path
    path = os.path.realpath(function.__code__.co_filename)
    function.__code__ = function.__code__.replace(co_filename=path)
    if private is not None:
        compiled = private.compile_kernel(
            function, CACHE_FOLDER, _OPTIONS, entry=entry, inline=inline
        )
    else:
        compiled = _compile_publicly(function)
    KERNELS.append(compiled)
    return cast(F, compiled)


def _compile_publicly(function: Any, *signature: Any) -> Any:
    """Compile with numba's documented interface only, for versions that are not tested.

    Without a `signature`, code is compiled at the first call for its types.
    """
    njit: Any = numba.njit
    before, config.CACHE_DIR = config.CACHE_DIR, CACHE_FOLDER
    try:
        return njit(*signature, cache=bool(CACHE_FOLDER), **_OPTIONS)(function)
    finally:
        config.CACHE_DIR = before


compiling = Compiling(KERNELS, bool(CACHE_FOLDER))
if private is not None:
    private.watch_compiling(compiling.begin, compiling.end)
elif JIT:
    logging.getLogger("bideuchre_env").warning(
        "bideuchre_env: numba %s is not a tested version (%s): kernels compile and run more slowly",
        numba.__version__,
        " to ".join(f"{major}.{minor}" for major, minor in TESTED),
    )


def direct(function: F, *like: Any) -> F:
    """Return an entry kernel's machine code for the types of `like`; calls skip type checks.

    That saves 0.4 us per call with six arguments. All calls must pass numbers of the same type and
    arrays of the same dtype, number of axes, layout and writability as `like`; nothing checks this.
    Without JIT, the function itself is returned.
    """
    if not JIT:
        return function
    compiled: Any = function
    arguments = tuple(map(numba.typeof, like))
    if private is None:
        return cast(F, _compile_publicly(compiled.py_func, arguments))
    return cast(F, private.machine_code(compiled, arguments))


def new_rows(dtype: np.dtype[Any], n: int) -> Array:
    """Return a zeroed structured array (n,) whose rows kernels accept, compiled or not."""
    return as_rows(np.zeros(n, dtype))


def as_rows(array: Array) -> Array:
    """Return a view of a structured array whose rows kernels accept, compiled or not."""
    return array if JIT else plain_rows(array)
