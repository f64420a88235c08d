"""Decorators that compile kernels, or run them as plain Python if `NUMBA_DISABLE_JIT` is set.

Compiled code is cached between runs (`cache.py`, `stamps.py`). The second target, a GPU, is in
`device.py`.
"""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from typing import Any, TypeAlias, TypeVar, cast

import llvmlite
import numba
import numpy as np
import numpy.typing as npt
from numba import config as _numba_config

from bideuchre_env.runtime.cache import KernelFiles, cache_bases
from bideuchre_env.runtime.compiling import Compiling
from bideuchre_env.runtime.plain import plain_kernel, plain_rows
from bideuchre_env.runtime.stamps import describe

F = TypeVar("F", bound=Callable[..., Any])
Row: TypeAlias = Any  # one record of a structured array, inside a kernel
Word: TypeAlias = Any  # a uint64, inside a kernel
Array: TypeAlias = npt.NDArray[Any]

config: Any = _numba_config  # its settings are set at run time, unseen by type checkers
JIT = not config.DISABLE_JIT
TESTED = ((0, 60), (0, 68))
"""First and last minor version of numba that `numba_private.py` was tested with.

`tox -e versions` tests them all, and pyproject.toml allows no other."""
_VERSION = tuple(int(part) for part in re.findall(r"\d+", numba.__version__)[:2])
private: Any = None
"""`numba_private` if kernels are compiled and numba is a tested version, else None."""
if JIT and TESTED[0] <= _VERSION <= TESTED[1]:
    from bideuchre_env.runtime import numba_private

    private = numba_private
FILES = KernelFiles(cache_bases if private else list)
"""The cache of compiled kernels; it has no folders if kernels are not compiled or not cached."""
_SETTINGS = (
    *("BOUNDSCHECK", "OPT", "LOOP_VECTORIZE", "SLP_VECTORIZE", "USING_SVML", "DEBUGINFO_DEFAULT"),
    *("LLVM_REFPRUNE_PASS", "LLVM_REFPRUNE_FLAGS", "EXTEND_VARIABLE_LIFETIMES"),
)
"""Settings of numba that change compiled code; those of the processor are in each file's name."""
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
    if private is not None:
        compiled = private.compile_kernel(function, _OPTIONS, entry=entry, inline=inline)
        private.use_files(compiled, FILES, cache_base)
    else:
        compiled = _compile_publicly(function)
    KERNELS.append(compiled)
    return cast(F, compiled)


def _compile_publicly(function: Any, *signature: Any) -> Any:
    """Compile with numba's documented interface only, for versions that are not tested.

    Without a `signature`, code is compiled at the first call for its types. It is not cached:
    numba's own cache does not notice an edit of a kernel that another kernel calls.
    """
    njit: Any = numba.njit
    return njit(*signature, **_OPTIONS)(function)


@cache
def cache_base() -> str:
    """Return a hash of all that the code of every kernel depends on: versions, settings, compiler.

    `private` is required.
    """
    versions = (*(each.__version__ for each in (numba, llvmlite, np)), sys.version)
    settings = [getattr(config, name, None) for name in _SETTINGS]
    return sha256(repr((versions, settings, describe(private.compile_kernel))).encode()).hexdigest()


compiling = Compiling(KERNELS, lambda: FILES.writable is not None)
if private is not None:
    private.watch_compiling(compiling.begin, compiling.end)
elif JIT:
    logging.getLogger("bideuchre_env").warning(
        "bideuchre_env: numba %s is not a tested version (%s): "
        "kernels run more slowly and are compiled in every process",
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
