"""Memory of the rows, on the host or on a GPU; the kernels run on its processor.

Kernels for both take `start` and `stop` as last parameters: they work on rows `start` to
`stop` - 1.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
import numpy.typing as npt

from bideuchre_env._checks import brief
from bideuchre_env._install import how_to_install
from bideuchre_env.errors import OptionError

DEVICES = ("cpu", "cuda")
Array = npt.NDArray[Any]


class HostMemory:
    """Host memory; kernels run on the CPU. `device.DeviceMemory` has the same methods."""

    name = "cpu"

    def empty(self, shape: tuple[int, ...], dtype: npt.DTypeLike) -> Array:
        """Return a new uninitialized array."""
        return np.empty(shape, dtype)

    def put(self, value: Any) -> Any:
        """Return the value itself: arrays are in this memory already."""
        return value

    def to_host(self, value: Any) -> Any:
        """Return the value itself: its arrays are numpy arrays already."""
        return value

    def write(self, array: Any, values: Any) -> None:
        """Overwrite an array with a numpy array of the same shape and dtype."""
        array[...] = values

    copy: Callable[[Any], Array] = staticmethod(np.ndarray.copy)
    """Copy an array within this memory."""
    fill: Any = staticmethod(np.ndarray.fill)
    """Overwrite an array with one value."""
    view: Callable[[Any], Array] = staticmethod(np.ndarray.view)
    """Return a view, so that a caller who reshapes it does not reshape the kernels' array."""

    def flags(self, array: Any) -> Any:
        """Return a new bool array that is true where `array`, int8, is not 0."""
        return array != 0

    def foreign(self, value: Any) -> Any:
        """Return None: no array of another library is on a device of this memory."""
        return None

    def finish(self) -> None:
        """Do nothing: on the CPU, kernels are done when their call returns."""

    def run(self, kernel: Callable[..., Any], n: int, *arguments: Any) -> None:
        """Call `kernel(*arguments, 0, n)`, which works on n rows."""
        kernel(*arguments, 0, n)

    def prepare(self, kernel: Callable[..., Any], n: int, *like: Any) -> Callable[..., None]:
        """Return a function of `(*arguments, 0, n)`, which runs a kernel without type checks.

        `like` are examples of the arguments, which must always have the same types.
        """
        from bideuchre_env.runtime.jit import direct

        return direct(kernel, *like, 0, n)


def memory_of(device: str) -> HostMemory:
    """Return the memory of a device, "cpu" or "cuda"; call `check_device` before."""
    if device == "cpu":
        return HostMemory()
    from bideuchre_env.runtime.device import DeviceMemory

    memory: Any = DeviceMemory()  # with the same methods
    return memory  # type: ignore[no-any-return]


def check_device(device: Any) -> None:
    """Raise `OptionError` unless the device is available; the message names the missing part."""
    if not isinstance(device, str) or device not in DEVICES:
        raise OptionError(
            f"device={brief(device)}: expected one of {', '.join(map(repr, DEVICES))}"
        )
    if device == "cuda" and (missing := _missing()):
        raise OptionError(f"device='cuda' cannot be used: {missing}")


def _missing() -> str:
    """Return the reason why no GPU can be used here; "" if one can, or in numba's simulator."""
    from bideuchre_env.runtime.jit import JIT, config

    if config.ENABLE_CUDASIM:
        return ""
    if not JIT:
        return "NUMBA_DISABLE_JIT is set, and a GPU runs compiled kernels alone"
    if find_spec("numba_cuda") is None:
        return f"numba-cuda is not installed: {how_to_install('cuda')}"
    try:
        from numba import cuda as numba_cuda
    except ImportError as error:
        return f"numba-cuda cannot be imported ({error})"
    cuda: Any = numba_cuda
    try:
        gpus = len(cuda.gpus)
    except Exception as error:  # of the driver, or of the library that looks for it
        reason = " ".join(str(error).split())
        if "library cannot be found" in reason:
            return "no NVIDIA driver is found on this machine"
        return f"its driver cannot be used ({reason})"
    if not gpus:
        return "no GPU is found on this machine"
    if not cuda.is_available():
        return f"its compiler NVVM is not installed: {how_to_install('cuda')}"
    return ""
