"""How a kernel is compiled, or run as plain Python where `NUMBA_DISABLE_JIT` is set.

What is compiled is kept between runs (`cache.py`). The other target is in `device.py`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar, cast

import numba
import numpy as np
import numpy.typing as npt
from numba.core import config as _numba_config
from numba.core import event as _numba_event
from numba.core import types as _types

from bideuchre_env.runtime.cache import cache_folder
from bideuchre_env.runtime.compiling import Compiling
from bideuchre_env.runtime.kernel_files import kernel_cache
from bideuchre_env.runtime.plain import plain_kernel, plain_rows

F = TypeVar("F", bound=Callable[..., Any])
Row: TypeAlias = Any  # one record of a structured array, inside a kernel
Word: TypeAlias = Any  # a uint64, inside a kernel
Array: TypeAlias = npt.NDArray[Any]

types: Any = _types
config: Any = _numba_config  # its settings are set at run time, unseen by type checkers
_event: Any = _numba_event
JIT = not config.DISABLE_JIT
_SETTINGS = (numba.__version__, np.__version__, sys.version, config.BOUNDSCHECK, config.OPT)
CACHE_FOLDER = cache_folder(_SETTINGS) if JIT else ""
_OPTIONS: dict[str, Any] = {
    "error_model": "numpy",
    "nogil": True,
    "_nrt": bool(config.BOUNDSCHECK),  # no reference counts; views of rows need them, see `row_of`
    "no_cfunc_wrapper": True,
}
KERNELS: list[Any] = []
"""All kernels, as far as they are imported, and `ENTRIES` those that Python calls."""
ENTRIES: list[Any] = []


# Errors of bounds need numba's own code; `linking` was tried with these versions of numba.
_CAN_LINK = not config.BOUNDSCHECK and (0, 60) <= numba.version_info.short <= (0, 68)


def kernel(function: F) -> F:
    """Compile a function that other kernels call: no allocation, no exceptions, no Python objects.

    Nothing but numbers, rows and arrays goes in and out; a small whole number is an int64 wherever
    it is handed over. Python itself cannot call it, see `entry_kernel`.
    """
    if not JIT:
        return cast(F, plain_kernel(function))
    return _for_kernels_alone(_compile(function, no_cpython_wrapper=True))


def inline_kernel(function: F) -> F:
    """A kernel that is built into each of its callers: for the short and the often called."""
    if not JIT:
        return kernel(function)
    return _for_kernels_alone(_compile(function, forceinline=True, no_cpython_wrapper=True))


def entry_kernel(function: F) -> F:
    """A kernel that Python calls; kernels may, too."""
    if not JIT:
        return kernel(function)
    compiled = _compile(function)
    ENTRIES.append(compiled)
    return compiled


def _compile(function: F, **options: Any) -> F:
    # numba keeps code by the path of its source: one name for it, whichever link it is read by
    path = os.path.realpath(function.__code__.co_filename)
    function.__code__ = function.__code__.replace(co_filename=path)
    form = None
    if _CAN_LINK and "no_cpython_wrapper" in options:
        from bideuchre_env.runtime.linking import LinkedFiles, LinkedPipeline

        options["pipeline_class"], form = LinkedPipeline, LinkedFiles
    compiled: Any = numba.njit(**_OPTIONS, **options)(function)
    if CACHE_FOLDER:
        compiled._cache = kernel_cache(function, CACHE_FOLDER, form)
    widen_arguments(compiled)
    KERNELS.append(compiled)
    return cast(F, compiled)


def widen_arguments(compiled: Any) -> None:
    """Let all callers share what is compiled for int64: those with constants, or with small ints.

    numba would compile a kernel once more for each constant that stands in a call of it, and for
    each width of a whole number; LLVM makes use of either where it builds the kernel in.
    """
    template = compiled.get_call_template

    def widened(argument: Any) -> Any:
        plain = types.unliteral(argument)
        small = isinstance(plain, types.Integer) and plain.signed and plain.bitwidth < 64
        return types.int64 if small else plain

    def get_call_template(args: Any, kws: Any) -> Any:
        return template(tuple(map(widened, args)), {name: widened(kws[name]) for name in kws})

    compiled.get_call_template = get_call_template


def _for_kernels_alone(function: F) -> F:
    """Make a call from Python an error; without a wrapper it would be a call of nothing."""
    compiled: Any = function

    def refuse(*args: Any, **kws: Any) -> None:
        name = compiled.py_func.__qualname__
        raise TypeError(f"{name} is called by kernels alone: make it an entry_kernel")

    compiled._insert = lambda *args, **kws: None  # so that no call finds what is compiled
    compiled._compile_for_args = refuse
    return function


compiling = Compiling(KERNELS, bool(CACHE_FOLDER))
if JIT:
    _event.register("numba:compile", compiling)


def direct(function: F, *like: Any) -> F:
    """The machine code of an entry kernel for arguments of the types of `like`, called unchecked.

    A call saves the time in which numba makes sure of six such types, 0.4 us. It is for arrays of
    the caller's own, alike in dtype, layout and writability every time.
    """
    if not JIT:
        return function
    code: F = cast(Any, function).compile(tuple(map(numba.typeof, like)))
    return code


def new_rows(dtype: np.dtype[Any], n: int) -> Array:
    """A zeroed structured array whose rows kernels take, compiled or not."""
    return as_rows(np.zeros(n, dtype))


def as_rows(array: Array) -> Array:
    """A structured array as one whose rows kernels take, compiled or not; a view."""
    return array if JIT else plain_rows(array)
