"""Kernels on a GPU, the second target besides the CPU: one thread for each row.

Both targets share their source: a kernel's Python function is compiled again, with every kernel
that it calls replaced by its device function. Intrinsics that a GPU lacks have a replacement in
`_INSTEAD`. In numba's simulator (`NUMBA_ENABLE_CUDASIM`) the functions run as plain Python, see
`plain.py`.

This module is imported only when a GPU is requested, see `devices.py`.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Iterable
from types import FunctionType
from typing import Any, ClassVar, cast

import numpy as np
import numpy.typing as npt
from numba import NumbaPerformanceWarning
from numba import cuda as _cuda

from bideuchre_env.runtime.intrinsics import PLAIN_TWINS, _plain_nth_bit, lower_cell, nth_bit
from bideuchre_env.runtime.jit import JIT, Array, as_rows, config, private
from bideuchre_env.runtime.plain import plain_kernel, plain_rows

cuda: Any = _cuda
SIMULATED = bool(config.ENABLE_CUDASIM)
"""Whether this is numba's simulator, which runs everything as Python: for tests."""
DeviceArray = Any
"""An array on the device: numba's, with `__cuda_array_interface__` and `copy_to_host`."""
BLOCK = 128  # threads per block
_PYTHON = "py_func" if JIT else "__wrapped__"  # the attribute with a kernel's Python function
_FORMS: dict[Any, Any] = {}
_log = logging.getLogger("bideuchre_env")

# Few rows, and so a small grid, are legitimate.
warnings.filterwarnings("ignore", "Grid size", NumbaPerformanceWarning)


def _lower_cell(cells: Array, i: int, value: int) -> None:
    """Lower `cells[i]` to a value, atomically: `lower_cell` for a GPU."""
    cuda.atomic.min(cells, i, value)


_TWINS = PLAIN_TWINS if SIMULATED and JIT else [(nth_bit, _plain_nth_bit)]
_INSTEAD = {id(each): twin for each, twin in [*_TWINS, (lower_cell, _lower_cell)]}


def _python_of(value: Any) -> Any:
    """Return a value's replacement in `_INSTEAD`, else a kernel's Python function, else None."""
    return _INSTEAD.get(id(value)) or getattr(value, _PYTHON, None)


def device_form(kernel: Any) -> Any:
    """Return the device function of a kernel, from a cache; in the simulator it is plain Python."""
    if kernel not in _FORMS:
        form: Any = _rebound(_python_of(kernel))
        if not SIMULATED:
            form = cuda.jit(device=True)(form)
            if private is not None:
                private.widen_arguments(form)
        _FORMS[kernel] = form
    return _FORMS[kernel]


def _rebound(function: Any) -> FunctionType:
    """Return a copy of a function whose global kernels are replaced by those of the device."""
    names = function.__globals__
    called = [name for name in function.__code__.co_names if _python_of(names.get(name))]
    if not called:  # such as `_lower_cell`: the simulator replaces its global `cuda`
        return cast(FunctionType, function)
    names = names | {name: device_form(names[name]) for name in called}
    rebound = FunctionType(
        function.__code__, names, function.__name__, function.__defaults__, function.__closure__
    )
    rebound.__qualname__ = function.__qualname__
    return rebound


class Program:
    """A kernel for a device, where each thread i below n calls it with `(*arguments, i, i + 1)`.

    Arguments are numbers, arrays on the device and NamedTuples of these.
    """

    def __init__(self, kernel: Any) -> None:
        self._name = _python_of(kernel).__name__
        body = plain_kernel(device_form(kernel)) if SIMULATED else device_form(kernel)

        def run(n: int, arguments: tuple[Any, ...]) -> None:
            i = cuda.grid(1)
            if i < n:
                body(*arguments, i, i + 1)

        self.function = run
        self._started: Any = None

    def __call__(self, n: int, *arguments: Any) -> None:
        """Start n threads, without waiting; the next copy from the device waits for them.

        The first call compiles the kernel.
        """
        if self._started is None:
            self._started = cuda.jit(self.function)
            if not SIMULATED:
                _log.warning("bideuchre_env: compiling %s for the GPU", self._name)
        if SIMULATED:  # blocks of one thread, which run one after another
            self._started[n, 1](n, _simulated(arguments))
        else:
            self._started[-(-n // BLOCK), BLOCK](n, arguments)


def _simulated(value: Any) -> Any:
    """Convert the simulator's arrays, also in tuples, to arrays that plain kernels take."""
    if isinstance(value, tuple):
        return _tuple_like(value, map(_simulated, value))
    array = getattr(value, "_ary", value)
    if isinstance(array, np.ndarray) and array.dtype.names:
        return plain_rows(array)
    return array


def name_of_device() -> str:
    """Return the name of the GPU, or of the simulator."""
    if SIMULATED:
        return "numba's simulator"
    name = cuda.get_current_device().name
    return name.decode() if isinstance(name, bytes) else str(name)


def _tuple_like(value: tuple[Any, ...], items: Iterable[Any]) -> Any:
    """Return the items as a tuple of the same type as `value`, also for a NamedTuple."""
    return getattr(type(value), "_make", tuple)(items)


def moved(value: Any, move: Callable[[Any], Any]) -> Any:
    """Return an array after `move`, or a nested tuple with every array after `move`.

    Numbers and arrays without axes are returned unchanged.
    """
    if isinstance(value, tuple):
        return _tuple_like(value, (moved(each, move) for each in value))
    return move(value) if getattr(value, "shape", ()) else value


class DeviceMemory:
    """The memory of a GPU, which runs one thread per row; see `HostMemory` for the CPU."""

    name = "cuda"
    _programs: ClassVar[dict[Any, Program]] = {}

    def empty(self, shape: tuple[int, ...], dtype: npt.DTypeLike) -> DeviceArray:
        """Return a new uninitialized array."""
        return cuda.device_array(shape, np.dtype(dtype))

    def put(self, value: Any) -> Any:
        """Return an array, or a tuple of arrays and numbers, in this memory, copied if needed."""
        return moved(value, _to_device)

    def to_host(self, value: Any) -> Any:
        """Return an array or nested tuple with numpy arrays, copied once all kernels are done."""
        return moved(value, _to_host)

    def write(self, array: DeviceArray, values: Array) -> None:
        """Overwrite a device array with a numpy array of the same shape and dtype."""
        array.copy_to_device(values)

    def copy(self, array: DeviceArray) -> DeviceArray:
        """Return a copy of an array in this memory."""
        copy = cuda.device_array(array.shape, array.dtype)
        copy.copy_to_device(array)
        return copy

    def flags(self, array: DeviceArray) -> DeviceArray:
        """Return a new bool array that is true where `array`, int8 of 0 and 1, is 1."""
        return self.copy(array).view(np.dtype(bool))

    def fill(self, array: DeviceArray, value: Any) -> None:
        """Overwrite an array with one value."""
        array[:] = value

    def view(self, array: DeviceArray) -> DeviceArray:
        """Return a view, so that a caller who reshapes it does not reshape the kernels' array."""
        return array.view(array.dtype)

    def foreign(self, value: Any) -> DeviceArray | None:
        """Return a view of another library's array on the GPU; None if the array is on the CPU."""
        if SIMULATED:
            return value if hasattr(value, "copy_to_host") else None
        return cuda.as_cuda_array(value) if hasattr(value, "__cuda_array_interface__") else None

    def finish(self) -> None:
        """Wait until all started kernels are done."""
        cuda.synchronize()

    def run(self, kernel: Any, n: int, *arguments: Any) -> None:
        """Start a thread with `kernel(*arguments, i, i + 1)` for each of n rows; do not wait."""
        if kernel not in self._programs:
            self._programs[kernel] = Program(kernel)
        self._programs[kernel](n, *arguments)

    def prepare(self, kernel: Any, n: int, *like: Any) -> Callable[..., None]:
        """Return a function of `(*arguments, 0, n)` that runs a kernel on n rows.

        `like` are examples of the arguments. If an example is a uint64, the argument in its place
        is converted to uint64.
        """
        words = [isinstance(each, np.uint64) for each in like]

        def start(*arguments: Any) -> None:
            pairs = zip(arguments, words, strict=False)  # without 0 and n
            self.run(kernel, n, *(np.uint64(each) if word else each for each, word in pairs))

        return start


def _to_device(array: Any) -> DeviceArray:
    """Copy a numpy array to the device; a device array is returned unchanged."""
    return cuda.to_device(np.array(array, order="C")) if isinstance(array, np.ndarray) else array


def _to_host(array: Any) -> Array:
    """Copy a device array to a numpy array; a numpy array is returned unchanged."""
    if isinstance(array, np.ndarray):
        return array
    copy: Array = array.copy_to_host()
    return as_rows(copy) if copy.dtype.names else copy
