"""Wrappers for kernels that otherwise only kernels can call."""

from types import FunctionType

from bideuchre_env.runtime.jit import JIT, entry_kernel


def callable_from_python(kernel):
    """Copy of a kernel that Python can call."""
    if not JIT:
        return kernel
    inner = kernel.py_func
    copy = FunctionType(inner.__code__, inner.__globals__, inner.__name__, inner.__defaults__)
    copy.__module__, copy.__qualname__ = inner.__module__, f"{inner.__qualname__}_from_python"
    return entry_kernel(copy)
