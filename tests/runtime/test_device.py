"""What a GPU lacks, said in one sentence each; kernels as the device has them."""

import importlib.util
import sys
from types import ModuleType

import pytest

from bideuchre_env.errors import OptionError
from bideuchre_env.runtime import devices, jit
from bideuchre_env.runtime.devices import check_device


def test_this_machine():
    """It has a GPU that can be used, or one of these is missing: nothing else is raised."""
    try:
        check_device("cuda")
    except OptionError as error:
        told = str(error)
        assert told.startswith("device='cuda' cannot be used: ")
        installed = importlib.util.find_spec("numba_cuda") is not None
        assert ("pip install 'bideuchre_env[cuda]'" in told) is not installed or "NVVM" in told
        assert "\n" not in told


class DriverError(Exception):
    """As numba-cuda's."""


class SupportError(ImportError):
    """As numba-cuda's."""


def gpus(count, error=None):
    """A stand-in for `cuda.gpus`."""

    class Gpus:
        def __len__(self):
            if error is not None:
                raise error
            return count

    return Gpus()


NOT_FOUND = "Error at driver init: \n\nCUDA driver library cannot be found.\nEnsure that ...:\n"


@pytest.mark.parametrize(
    ("found", "compiler", "told"),
    [
        (gpus(0, SupportError(NOT_FOUND)), True, "no NVIDIA driver is found on this machine"),
        (gpus(0, SupportError("Error at\ndriver init")), True, r"\(Error at driver init\)"),
        (gpus(0, DriverError("[999] unknown")), True, r"driver cannot be used \(\[999\] unknown\)"),
        (gpus(0), True, "no GPU is found on this machine"),
        (
            gpus(1),
            False,
            r"its compiler NVVM is not installed: pip install 'bideuchre_env\[cuda\]'",
        ),
        (gpus(1), True, None),
    ],
)
def test_what_is_missing(monkeypatch, found, compiler, told):
    """Package, driver, GPU, compiler: the first that is not there."""
    cuda = ModuleType("numba.cuda")
    cuda.gpus, cuda.is_available = found, lambda: compiler
    monkeypatch.setitem(sys.modules, "numba.cuda", cuda)
    monkeypatch.setattr("numba.cuda", cuda, raising=False)
    monkeypatch.setattr(devices, "find_spec", lambda name: name)
    if told is None:
        check_device("cuda")
    else:
        with pytest.raises(OptionError, match=told):
            check_device("cuda")


def test_a_package_that_is_missing_or_broken(monkeypatch):
    """Not installed, or not to be imported beside what else is."""
    monkeypatch.setattr(devices, "find_spec", lambda name: None)
    with pytest.raises(OptionError, match="numba-cuda is not installed: pip install"):
        check_device("cuda")
    monkeypatch.setattr(devices, "find_spec", lambda name: name)
    monkeypatch.delattr("numba.cuda", raising=False)
    monkeypatch.setitem(sys.modules, "numba.cuda", None)
    with pytest.raises(OptionError, match=r"numba-cuda cannot be imported \(.*halted"):
        check_device("cuda")
    monkeypatch.setattr(jit, "JIT", False)
    with pytest.raises(OptionError, match="NUMBA_DISABLE_JIT is set"):
        check_device("cuda")
