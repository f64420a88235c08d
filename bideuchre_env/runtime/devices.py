"""Which devices there are to play on, and what a GPU lacks here."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

from bideuchre_env._checks import shown
from bideuchre_env.errors import OptionError

DEVICES = ("cpu", "cuda")


def check_device(device: Any) -> None:
    """Raise `OptionError` unless the device is there: one sentence that says what is missing."""
    if not isinstance(device, str) or device not in DEVICES:
        raise OptionError(f"device={shown(device)}: one of {', '.join(map(repr, DEVICES))}")
    if device == "cuda" and (missing := _missing()):
        raise OptionError(f"device='cuda' cannot be used: {missing}")


def _missing() -> str:
    """What a GPU lacks on this machine; "" if nothing does, or it is numba's simulator."""
    from bideuchre_env.runtime.jit import JIT, config

    if config.ENABLE_CUDASIM:
        return ""
    if not JIT:
        return "NUMBA_DISABLE_JIT is set, and a GPU runs compiled kernels alone"
    if find_spec("numba_cuda") is None:
        return "numba-cuda is not installed: pip install 'bideuchre_env[cuda]'"
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
        return "its compiler NVVM is not installed: pip install 'bideuchre_env[cuda]'"
    return ""
