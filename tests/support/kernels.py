"""Kernels for tests: called from Python, bounds checked, simulated, or compiled for a GPU."""

import re
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from types import FunctionType, SimpleNamespace

import numpy as np
import pytest
from support.commands import TESTS, python

import bideuchre_env
from bideuchre_env.evaluation import kernel_parts
from bideuchre_env.runtime import jit
from bideuchre_env.runtime.cache import KernelFiles
from bideuchre_env.runtime.jit import JIT, config, entry_kernel

PACKAGE = Path(bideuchre_env.__file__).parent
BOUNDS_CHECKED = {"NUMBA_BOUNDSCHECK": "1", "NUMBA_OPT": "1"}  # compiles in two thirds of the time
ARCHITECTURES = ((8, 0), (9, 0))
STANDING_IN = {  # methods of `DeviceMemory` that work on host arrays
    "put": lambda self, value: value,
    "empty": lambda self, shape, dtype: np.full(shape, 100, dtype),
    "to_host": lambda self, value: value,
    "write": lambda self, array, values: None,
    "copy": lambda self, array: np.array(array),
    "view": lambda self, array: array.view(),
    "foreign": lambda self, value: value if isinstance(value, np.ndarray) else None,
}
in_simulator = pytest.mark.skipif(not config.ENABLE_CUDASIM, reason="`simulated` runs this test")
_DONE = {}  # code by (program, types, architecture)


def callable_from_python(kernel):
    """Copy of a kernel that Python can call."""
    if not JIT:
        return kernel
    inner = kernel.py_func
    copy = FunctionType(inner.__code__, inner.__globals__, inner.__name__, inner.__defaults__)
    copy.__module__, copy.__qualname__ = inner.__module__, f"{inner.__qualname__}_from_python"
    return entry_kernel(copy)


def import_kernels():
    """Import every module of the package that has kernels."""
    for folder in (PACKAGE, PACKAGE / "agents"):  # which may be a link
        for path in folder.rglob("*.py"):
            if re.search(r"^@\w*kernel\b", path.read_text(encoding="utf-8"), re.M):
                parts = path.relative_to(PACKAGE).with_suffix("").parts
                import_module(".".join(("bideuchre_env", *parts)))


def empty_cache(monkeypatch, *bases):
    """Use a new cache in these folders, as a process that has called no kernel yet."""
    monkeypatch.setattr(jit, "FILES", KernelFiles(lambda: bases))
    monkeypatch.setattr(jit, "ENTRIES", [])
    monkeypatch.setattr(kernel_parts, "_in_process", set())
    kernel_parts._stamps.cache_clear()


def simulated(file):
    """Run a file's `test_simulated_...` in numba's simulator; return pytest's last line."""
    program = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "", "-k", "test_simulated")
    done = python(*program, file, where=TESTS, numba={"NUMBA_ENABLE_CUDASIM": "1"})
    return done.stdout.splitlines()[-1]


@contextmanager
def compile_only(monkeypatch, stack=0):
    """Compile GPU programs for two architectures when they are called, instead of starting them.

    Yield a dict of the code by program, types and architecture. A program that needs more than
    `stack` bytes of local memory fails. The test is skipped if numba-cuda is not installed.
    """
    pytest.importorskip("numba_cuda", reason="needs the extra cuda")
    from numba.cuda import dispatcher

    from bideuchre_env.runtime import devices
    from bideuchre_env.runtime.device import DeviceMemory, Program

    compiled = {}

    def store_code(program, n, *arguments):
        compiled.update(machine_code(program, arguments, stack))

    monkeypatch.setattr(devices, "_missing", lambda: "")
    monkeypatch.setattr(Program, "__call__", store_code)
    here = SimpleNamespace(compute_capability=ARCHITECTURES[0])
    monkeypatch.setattr(dispatcher, "get_current_device", lambda: here)
    for name, double in STANDING_IN.items():
        monkeypatch.setattr(DeviceMemory, name, double)
    yield compiled


def machine_code(program, arguments, stack):
    """Compile a program for `ARCHITECTURES`; return a dict of its PTX codes.

    The keys are (program, types, architecture). Fail if a code needs more than `stack` bytes of
    local memory.
    """
    import numba
    from numba import cuda
    from numba.cuda.cudadrv.devicearray import DeviceNDArray
    from numba.cuda.typing.typeof import typeof

    from bideuchre_env.runtime.device import moved

    def as_there(array):
        like = np.empty([max(1, n) for n in array.shape], array.dtype)
        return DeviceNDArray(like.shape, like.strides, like.dtype, gpu_data=like)

    types = typeof(moved(arguments, as_there))
    for architecture in ARCHITECTURES:
        key = program, types, architecture
        if key not in _DONE:
            code, _ = cuda.compile_ptx(
                program.function, numba.void(numba.int64, types), cc=architecture
            )
            assert f".target sm_{architecture[0]}{architecture[1]}" in code
            local = sum(map(int, re.findall(r"__local_depot\d+\[(\d+)\]", code)))
            assert local <= stack, (program.function, local)
            _DONE[key] = code
    return {key: code for key, code in _DONE.items() if key[:2] == (program, types)}
