"""Cache files of kernels: reuse, damage, unusable folders; progress of compilation."""

import errno
import logging
import runpy
import shutil
from types import SimpleNamespace

import numba
import pytest

from bideuchre_env.runtime import jit, numba_private
from bideuchre_env.runtime.compiling import Compiling

SOURCE = "def double(x):\n    return 2 * x\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "small_kernel.py").write_text(SOURCE)
    monkeypatch.setattr(numba_private.KernelCache, "warned", False)
    return tmp_path / "cache"


def fresh(folder):
    """Return the kernel as a new process has it: not compiled, with the cache in `folder`."""
    function = runpy.run_path(str(folder.parent / "small_kernel.py"))["double"]
    compiled = numba.njit(function)
    compiled._cache = numba_private.kernel_cache(function, str(folder))
    return compiled


def loads(folder):
    """Call the kernel as in a new process; return whether it was loaded from the cache."""
    compiled = fresh(folder)
    assert compiled(21) == 42
    return bool(sum(compiled.stats.cache_hits.values()))


def test_a_compiled_kernel_is_loaded_by_the_next_process(folder, caplog):
    assert [loads(folder), loads(folder)] == [False, True]
    assert caplog.text == ""


@pytest.mark.parametrize("suffix", ["nbi", "nbc"])
@pytest.mark.parametrize("content", [b"", b"garbage\n" * 100, None])
def test_a_damaged_file_is_deleted_and_the_kernel_recompiled(content, suffix, folder):
    loads(folder)
    for path in folder.rglob(f"*.{suffix}"):
        path.write_bytes(path.read_bytes()[:-40] if content is None else content)
    assert [loads(folder), loads(folder)] == [False, True]


def test_a_full_disk_costs_one_warning_and_no_result(folder, caplog, monkeypatch):
    def full(self, path):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(numba_private._KernelFiles, "_open_for_write", full)
    assert [loads(folder), loads(folder)] == [False, False]
    assert [record.levelno for record in caplog.records] == [logging.WARNING]
    assert "cannot be saved: No space left on device" in caplog.text


def test_an_unusable_folder_costs_one_warning_and_no_result(folder, caplog):
    compiled = fresh(folder)
    shutil.rmtree(folder)
    folder.write_text("a file in place of the folder")
    assert compiled(21) == 42
    assert not loads(folder)
    assert len(caplog.records) == 1
    assert not list(folder.parent.rglob("*.nbi"))


def test_a_kernel_that_only_kernels_call_refuses_python():
    @jit.kernel
    def one():
        return 1

    @jit.entry_kernel
    def two():
        return one() + 1

    assert two() == 2
    with pytest.raises(TypeError, match="one is called by kernels alone: make it an entry_kernel"):
        one()


def test_a_cached_inner_kernel_is_linked_into_a_new_entry_kernel(folder):
    """An inner kernel has no machine code; an entry kernel exports nothing of it."""
    source = folder.parent / "small_kernel.py"
    callers = "def plus(x):\n    return double(x) + 1\ndef twice(x):\n    return 2 * double(x)\n"
    source.write_text(SOURCE + callers)

    def compiled(function, entry):
        return numba_private.compile_kernel(function, str(folder), {}, entry=entry, inline=False)

    for name, result, loaded in (("plus", 21, 0), ("twice", 40, 1)):
        functions = runpy.run_path(str(source))
        inner = functions[name].__globals__["double"] = compiled(functions["double"], False)
        entry = compiled(functions[name], True)
        assert entry(10) == result
        assert sum(inner.stats.cache_hits.values()) == loaded
        (of_inner,), (of_entry,) = inner.overloads.values(), entry.overloads.values()
        assert of_inner.library.get_pointer_to_function(of_inner.fndesc.mangled_name) == 0
        linkages = {each.linkage.name for each in of_entry.library.get_defined_functions()}
        assert linkages <= {"external", "internal"}


def test_mutually_recursive_kernels_are_an_error():
    @jit.kernel
    def even(n):
        return n == 0 or odd(n - 1)

    @jit.kernel
    def odd(n):
        return n != 0 and even(n - 1)

    @jit.entry_kernel
    def entry(n):
        return even(n)

    with pytest.raises(TypeError, match="expected kernels without mutual recursion"):
        entry(4)


def test_code_for_another_type_does_not_replace_that_of_the_first(folder, monkeypatch):
    """Both codes are saved, even if both processes start without an index of the cache."""
    with monkeypatch.context() as patch:
        patch.setattr(numba_private._KernelFiles, "_load_index", lambda files: {})
        assert fresh(folder)(21) == 42
        assert fresh(folder)(0.5) == 1.0
    assert len(list(folder.rglob("*.nbc"))) == 2
    assert fresh(folder)(21) == 42
    assert fresh(folder)(0.5) == 1.0


def test_a_deleted_folder_is_made_again(folder, caplog):
    compiled = fresh(folder)
    shutil.rmtree(folder)
    assert compiled(21) == 42
    assert loads(folder)
    assert caplog.text == ""


OWN, OTHER, FOREIGN = (SimpleNamespace(name=name) for name in ("own", "other", "foreign"))


def test_progress_counts_own_kernels_until_the_outermost_is_compiled():
    compiling, texts = Compiling([OWN, OTHER], saved=True), []
    compiling.show = lambda text: None
    with compiling.shown_by(texts.append):
        compiling.begin(OWN)
        compiling.begin(FOREIGN)
        compiling.begin(OTHER)
        compiling.end(OTHER)
        compiling.end(FOREIGN)
        compiling.end(OWN)
    compiling.begin(OWN)
    compiling.end(OWN)
    zero, one = (f"compiling kernels, {done} done" for done in (0, 1))
    assert texts == [zero, zero, one, ""]
    assert compiling.count == 3


def test_one_warning_is_logged_in_a_process(caplog):
    for saved in (True, False):
        compiling = Compiling([OWN], saved)
        for _ in range(2):
            compiling.begin(OWN)
            compiling.end(OWN)
    assert [record.levelno for record in caplog.records] == [logging.WARNING] * 2
    first, second = (record.message for record in caplog.records)
    assert "compiling kernels" in first
    assert "saved for the next run" in first
    assert "not saved" in second
