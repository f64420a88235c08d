"""Errors if `device="cuda"` cannot be used."""

import re
import sys
from types import ModuleType

import pytest

from bideuchre_env._install import how_to_install
from bideuchre_env.errors import OptionError
from bideuchre_env.runtime import devices, jit
from bideuchre_env.runtime.devices import check_device


class DriverError(Exception):
    """A stand-in for numba-cuda's class."""


class SupportError(ImportError):
    """A stand-in for numba-cuda's class."""


def gpus(count, error=None):
    """A stand-in for `cuda.gpus`."""

    class Gpus:
        def __len__(self):
            if error is not None:
                raise error
            return count

    return Gpus()


NOT_FOUND = "Error at driver init: \n\nCUDA driver library cannot be found.\nEnsure that ...:\n"
NO_NVVM = re.escape(f"its compiler NVVM is not installed: {how_to_install('cuda')}")


@pytest.mark.parametrize(
    ("devices_found", "compiler", "message"),
    [
        (gpus(0, SupportError(NOT_FOUND)), True, "no NVIDIA driver is found on this machine"),
        (gpus(0, DriverError("[999] unknown")), True, r"driver cannot be used \(\[999\] unknown\)"),
        (gpus(0), True, "no GPU is found on this machine"),
        (gpus(1), False, NO_NVVM),
        (gpus(1), True, None),
    ],
)
def test_the_first_missing_part_is_named(monkeypatch, devices_found, compiler, message):
    cuda = ModuleType("numba.cuda")
    cuda.gpus, cuda.is_available = devices_found, lambda: compiler
    monkeypatch.setitem(sys.modules, "numba.cuda", cuda)
    monkeypatch.setattr("numba.cuda", cuda, raising=False)
    monkeypatch.setattr(devices, "find_spec", lambda name: name)
    if message is None:
        check_device("cuda")
    else:
        with pytest.raises(OptionError, match=message):
            check_device("cuda")


def test_a_missing_or_broken_package_is_named(monkeypatch):
    monkeypatch.setattr(devices, "find_spec", lambda name: None)
    with pytest.raises(OptionError, match=r"numba-cuda is not installed: pip install .*\[cuda\]"):
        check_device("cuda")
    monkeypatch.setattr(devices, "find_spec", lambda name: name)
    monkeypatch.delattr("numba.cuda", raising=False)
    monkeypatch.setitem(sys.modules, "numba.cuda", None)
    with pytest.raises(OptionError, match=r"numba-cuda cannot be imported \(.*halted"):
        check_device("cuda")
    monkeypatch.setattr(jit, "JIT", False)
    with pytest.raises(OptionError, match="NUMBA_DISABLE_JIT is set"):
        check_device("cuda")
