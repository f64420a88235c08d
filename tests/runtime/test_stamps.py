"""Stamps of kernels: what changes them, and that they describe all that numba sees."""

import builtins
import dis
import sys
import threading

import numba
import numpy as np
import pytest
from numba.core import compiler, ir
from support.kernels import import_kernels
from support.small_package import EDITS_THAT_MATTER, OTHER_EDITS, Tiny

from bideuchre_env.runtime import jit, stamps
from bideuchre_env.runtime.stamps import Stamps, Unstampable

pytestmark = pytest.mark.skipif(not jit.private, reason="kernels are not cached")


@pytest.fixture
def tiny(tmp_path):
    return Tiny(tmp_path)


def test_an_edit_that_matters_changes_the_stamps_of_all_that_it_reaches(tiny, monkeypatch):
    before = tiny.stamps(monkeypatch)
    for name, (*edit, expected) in EDITS_THAT_MATTER.items():
        with tiny.edited(*edit):
            after = tiny.stamps(monkeypatch)
        changed = {kernel for kernel in after if after[kernel] != before.get(kernel)}
        assert changed == expected, name
    assert tiny.stamps(monkeypatch) == before


def test_edits_that_cannot_matter_change_no_stamp(tiny, monkeypatch):
    before = tiny.stamps(monkeypatch)
    for name, edit in OTHER_EDITS.items():
        with tiny.edited(*edit):
            after = tiny.stamps(monkeypatch)
        after.pop("new", None)
        assert after == before, name


def sample():
    """Docstring."""
    return (1.5, 2)


FLAG = 0x4000000  # of code with a docstring, from Python 3.13 on
FIRST = ("Docstring.", (1.5, 2))  # constants
LOAD_0, LOAD_1 = bytes([dis.opmap["LOAD_CONST"], 0]), bytes([dis.opmap["LOAD_CONST"], 1])


@pytest.mark.parametrize(
    ("constants", "loaded", "flag", "same"),
    [
        (FIRST, LOAD_1, 0, True),  # to Python 3.12
        ((None, (1.5, 2)), LOAD_1, 0, True),  # without docstring
        (FIRST, LOAD_1, FLAG, True),  # from Python 3.13 on
        (((1.5, 2),), LOAD_0, 0, True),  # without docstring
        (("Docstring.", (1.5, 3)), LOAD_1, 0, False),
        (("Docstring.", (1.5, 2.0)), LOAD_1, FLAG, False),
        (FIRST, LOAD_0, FLAG, False),  # the docstring is used
    ],
)
def test_docstrings_of_every_version_of_python(constants, loaded, flag, same):
    """The code of other versions is simulated: place and flag of the docstring differ."""

    def text(constants, loaded, flag):
        code = bytes([dis.opmap["RESUME"], 0]) + loaded + bytes([dis.opmap["RETURN_VALUE"], 0])
        flags = sample.__code__.co_flags | flag
        changed = sample.__code__.replace(co_consts=constants, co_code=code, co_flags=flags)
        return stamps._code(changed).text

    assert (text(constants, loaded, flag) == text(FIRST, LOAD_1, 0)) is same


VALUE = 5


def reader():
    return VALUE


@pytest.mark.parametrize("value", [threading.Lock(), np.array([None]), sample.__get__(5)])
def test_values_of_unknown_kinds_have_no_stamp(value, monkeypatch):
    monkeypatch.setitem(globals(), "VALUE", value)
    with pytest.raises(Unstampable):
        Stamps()(numba.njit(reader))


def test_a_global_that_changes_after_the_first_stamp_is_refused(monkeypatch):
    """Other kernels may have been linked with code that has the former value."""
    kernel, other = numba.njit(reader), numba.njit(reader)
    first, made = Stamps(), Stamps()(kernel)
    assert first(kernel) == made
    monkeypatch.setitem(globals(), "VALUE", 6)
    assert first(kernel) == made
    with pytest.raises(Unstampable, match="reader reads was changed"):
        Stamps()(kernel)
    assert Stamps()(other) != made


def test_mutually_recursive_kernels_have_no_stamp():
    @numba.njit
    def even(n):
        return n == 0 or odd(n - 1)

    @numba.njit
    def odd(n):
        return n != 0 and even(n - 1)

    made = Stamps()
    for each in (even, odd, even):
        with pytest.raises(Unstampable, match="call each other"):
            made(each)


PACKAGE = "bideuchre_env."


def kernels_of_the_package():
    import_kernels()
    own = {name: vars(module) for name, module in sys.modules.items() if name.startswith(PACKAGE)}
    return [  # no kernels of copies that other tests have made
        each
        for each in jit.KERNELS
        if own.get(each.py_func.__module__, {}).get(each.py_func.__name__) is each
    ]


def test_every_kernel_of_the_package_has_a_stamp_of_its_own():
    kernels = kernels_of_the_package()
    assert len({*map(Stamps(), kernels)}) == len(kernels) > 500


@pytest.mark.long
def test_stamps_describe_every_global_that_numba_sees():
    """numba's own translation of each kernel of the package has no further globals or kernels."""
    n_kernels = 0
    for kernel in kernels_of_the_package():
        described = []
        stamps.describe_kernel(kernel, lambda inner, add=described.append: add(inner) or "")
        read = stamps._code(kernel.py_func.__code__).read
        blocks = compiler.run_frontend(kernel.py_func, inline_closures=True).blocks.values()
        values = [each.value for block in blocks for each in block.find_insts(ir.Assign)]
        for value in (each for each in values if isinstance(each, (ir.Global, ir.FreeVar))):
            is_builtin = value.value is getattr(builtins, value.name, None)  # added by numba
            assert isinstance(value, ir.FreeVar) or is_builtin or value.name in read
            if hasattr(value.value, "py_func") and value.value is not kernel:
                assert any(value.value is each for each in described)
                n_kernels += 1
    assert n_kernels > 1000
